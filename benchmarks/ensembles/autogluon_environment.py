"""Make the environment of AutoGluon, whose versions of other packages are older than ours.

Run `python -m benchmarks.ensembles.autogluon_environment` (a minute, 700 MB). The folder is
`.venv-autogluon`, or another one: `--folder DIR` here, BNMTL_AUTOGLUON for the study.
"""

import argparse
import os
import subprocess
import venv
from pathlib import Path

# The smallest package that has greedy selection.
PACKAGE = "autogluon.core==1.6.3"
VARIABLE = "BNMTL_AUTOGLUON"
ROOT = Path(__file__).parent.parent.parent


def folder_of_environment():
    """The folder that the environment variable names, or the default."""
    return Path(os.environ.get(VARIABLE) or ROOT / ".venv-autogluon")


def python_of(folder):
    """The interpreter of an environment."""
    return Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def main(arguments=None):
    """Make the environment and install AutoGluon into it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=folder_of_environment())
    folder = parser.parse_args(arguments).folder
    venv.create(folder, with_pip=True)
    subprocess.run([python_of(folder), "-m", "pip", "install", "-q", PACKAGE], check=True)


if __name__ == "__main__":
    main()
