"""All words of one design file, bound: the object everyone passes on."""

from rowkey.design.cutting import Cut, prefixes_of
from rowkey.design.design import Design
from rowkey.design.json_schema import json_schema

__all__ = ["Cut", "Design", "json_schema", "prefixes_of"]
