"""How fast searches are beside other packages, and how time and memory grow."""
