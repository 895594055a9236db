"""HTML pages about what was found, a module a page."""
