"""HTML pages about results, one module per page."""
