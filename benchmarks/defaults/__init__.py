"""What decides the defaults, on known networks and on real data."""
