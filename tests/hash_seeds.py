"""What a program prints in processes whose hashes of texts differ."""

import os
import subprocess
import sys


def printed(program):
    """Different outputs of a program under two hash seeds: one, if it does not depend on them."""
    outputs = set()
    for seed in ("0", "1"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        assert not run.returncode, run.stderr
        assert run.stdout.strip()
        outputs.add(run.stdout)
    return outputs
