"""The benchmarks are a package of the checkout, not of the installation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
