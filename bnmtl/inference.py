"""The old import path of `bnmtl.networks.inference`."""

import sys

from bnmtl.networks import inference

sys.modules[__name__] = inference
