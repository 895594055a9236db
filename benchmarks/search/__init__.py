"""Studies of how close searches come to the best score, for one task and for several."""
