"""The command `bnmtl`: a module a command, and what the commands share."""
