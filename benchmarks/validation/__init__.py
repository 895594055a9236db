"""What limits learned networks: bias, variance and noise."""
