"""Chapter 2 of the thesis, one module per figure."""
