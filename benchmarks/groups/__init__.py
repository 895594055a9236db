"""Studies of groups of tasks that learn from each other."""
