"""Tasks: tables and files encoded as integers, with states shared by all tasks."""

from bnmtl.tasks.discretization import Edges, discretize
from bnmtl.tasks.encoding import encode, split
from bnmtl.tasks.files import read
from bnmtl.tasks.task import Task, Tasks

__all__ = ["Edges", "Task", "Tasks", "discretize", "encode", "read", "split"]
