"""How near searches come to the best score, for one task and for several."""
