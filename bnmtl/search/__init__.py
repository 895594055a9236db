"""Searches over graphs of one task and over configurations of graphs of several tasks."""

from bnmtl.search import neighborhood

__all__ = ["neighborhood"]
