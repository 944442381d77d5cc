"""What experience knows of table designs: one rule a file."""

from rowkey.kinds import gather
from rowkey.lint.contract import Rule

KINDS = gather(Rule, __name__, __path__)
