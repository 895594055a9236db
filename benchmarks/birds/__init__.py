"""Regions of FeederWatch as tasks (thesis, section 2.5)."""
