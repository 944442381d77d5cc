"""Other clients of HBase, each a subject of the same five tasks."""

import sys
from pathlib import Path

# The cluster and the way to HBase's jars are those of the tests.
sys.path.append(str(Path(__file__).parents[3] / "tests"))
