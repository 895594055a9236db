"""Compression of ensembles: samplers of pseudo-cases, and models that mimic others."""
