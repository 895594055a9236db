"""Studies of ensembles selected from libraries of models."""
