"""HTML pages about results, each from a template."""
