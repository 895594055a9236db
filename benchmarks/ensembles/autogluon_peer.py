"""AutoGluon's greedy selection in a process of its environment, which stays for several calls."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.ensembles.autogluon_environment import ROOT, folder_of_environment, python_of

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def require():
    """Raise ValueError unless there is an environment of AutoGluon."""
    if not python_of(folder_of_environment()).exists():
        command = "python -m benchmarks.ensembles.autogluon_environment"
        raise ValueError(f"AutoGluon is needed for this; `{command}` installs it.")


class AutoGluon:
    """Its selection from one library, with one thread.

    Parameters
    ----------
    predictions : float array of shape (n_models, n_cases)
    y : int array of shape (n_cases,)
    python : path, default=None
        Interpreter with AutoGluon; None is that of the environment.
    """

    def __init__(self, predictions, y, python=None):
        self._arrays = {"predictions": predictions, "y": y}
        self._python = python or python_of(folder_of_environment())

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        for name, array in self._arrays.items():
            np.save(Path(self._folder.name) / f"{name}.npy", array)
        command = [self._python, "-m", "benchmarks.ensembles.autogluon_worker", self._folder.name]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | dict.fromkeys(_ONE_THREAD, "1"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *error):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def select(self, metric, n_steps):
        """Seconds, weights by model, the error that it reports, and its version, by name."""
        self._process.stdin.write(json.dumps({"metric": metric, "n_steps": n_steps}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"AutoGluon ended with the code {self._process.wait()}.")
        found = json.loads(line)
        return found | {"weights": np.array(found["weights"])}
