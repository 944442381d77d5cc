"""All words of one design file, bound: the object everyone passes on."""

from rowkey.design.cutting import Cut, Regions, cut_regions, prefixes_of
from rowkey.design.design import Design
from rowkey.design.dump import toml_name, toml_value
from rowkey.design.editors import json_schema
from rowkey.design.load import Stretch, Written
from rowkey.design.paths import path_text
from rowkey.design.properties import (
    PartProperties,
    Properties,
    ReadProperties,
    example_values,
    properties_of,
)
from rowkey.design.scanner import Spans, spans_of

__all__ = [
    "Cut",
    "Design",
    "PartProperties",
    "Properties",
    "ReadProperties",
    "Regions",
    "Spans",
    "Stretch",
    "Written",
    "cut_regions",
    "example_values",
    "json_schema",
    "path_text",
    "prefixes_of",
    "properties_of",
    "spans_of",
    "toml_name",
    "toml_value",
]
