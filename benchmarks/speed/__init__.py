"""Studies of speed compared with other packages, and of the growth of time and memory."""
