"""Pictures of configurations; matplotlib is loaded when one is drawn."""

from bnmtl.plotting.curves import penalties
from bnmtl.plotting.files import png, svg
from bnmtl.plotting.graphs import dags
from bnmtl.plotting.layout import Layout, arrange
from bnmtl.plotting.table import arcs

__all__ = ["Layout", "arcs", "arrange", "dags", "penalties", "png", "svg"]
