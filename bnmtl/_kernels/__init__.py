"""Compiled inner loops: plain arrays in and out, no checks, no Python objects."""
