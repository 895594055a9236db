"""Select by AutoGluon, in its environment: requests come as lines of JSON, results go back so.

`autogluon_peer.py` starts it with a folder that holds predictions.npy and y.npy.
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from autogluon.core import metrics
from autogluon.core.models.greedy_ensemble.ensemble_selection import EnsembleSelection

from benchmarks.timing import timed

NAMES = {"cross_entropy": "log_loss", "roc_area": "roc_auc", "accuracy": "accuracy"}


def main(folder):
    """Answer requests until the input ends."""
    predictions = list(np.load(folder / "predictions.npy").astype(float))
    y = np.load(folder / "y.npy")
    try:
        release = version("autogluon.core")
    except PackageNotFoundError:
        release = None
    for line in sys.stdin:
        request = json.loads(line)
        metric = getattr(metrics, NAMES[request["metric"]])
        selection = EnsembleSelection(request["n_steps"], "binary", metric)
        _, seconds = timed(selection.fit, predictions, y)
        found = {"seconds": seconds, "error": float(selection.train_score_), "version": release}
        found["weights"] = [float(weight) for weight in selection.weights_]
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
