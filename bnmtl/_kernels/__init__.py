"""Compiled inner loops: they take and return plain arrays and check nothing."""
