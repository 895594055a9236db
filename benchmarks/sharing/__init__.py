"""Studies of the gains from sharing probability tables."""
