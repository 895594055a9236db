"""Studies behind the default settings, on known networks and on real data."""
