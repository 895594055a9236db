"""Chapter 3 of the thesis, multi-nets, and how sure arcs are."""
