"""Regions of FeederWatch as tasks (thesis, sections 2.3.4 and 2.4.3)."""
