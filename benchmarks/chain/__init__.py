"""From tables of several tasks to predictions: networks, ensembles and simple rivals."""
