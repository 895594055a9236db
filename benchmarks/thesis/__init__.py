"""Chapter 2 of the thesis, a module a figure."""
