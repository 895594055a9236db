"""Studies of probability estimation trees."""
