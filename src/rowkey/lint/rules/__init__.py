"""What experience knows of table designs: each rule a class."""

from rowkey.lint.contract import Rule
from rowkey.plugins import find_plugins

RULES = find_plugins(Rule, __name__, __path__)
