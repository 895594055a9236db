"""Which tasks belong together: distances between tasks, selection of tasks, clusters of tasks."""

from bnmtl.relatedness.clustering import TaskClusterer
from bnmtl.relatedness.measures import direct, evidence, indirect, shared, true
from bnmtl.relatedness.selection import TaskSelector

__all__ = ["TaskClusterer", "TaskSelector", "direct", "evidence", "indirect", "shared", "true"]
