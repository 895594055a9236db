"""Studies of ensembles from few cases: Melville's chapters 4 and 5, and Weka beside them."""
