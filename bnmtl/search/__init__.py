"""Searches over graphs of one task and over configurations of graphs of several tasks."""

from bnmtl.search import neighborhood
from bnmtl.search.effort import Memory
from bnmtl.search.options import Exact, HillClimbing, Limits, Orders

__all__ = ["Exact", "HillClimbing", "Limits", "Memory", "Orders", "neighborhood"]
