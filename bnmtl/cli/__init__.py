"""The command `bnmtl`: one module per command, and modules shared by all commands."""
