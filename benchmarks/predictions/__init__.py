"""Studies of predictions: chapter 3 of the thesis, multi-nets, and the confidence of arcs."""
