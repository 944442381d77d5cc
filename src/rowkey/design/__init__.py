"""A whole design file, bound and validated: its fields, key, families, splits, reads and writes."""

from rowkey.design.companions import (
    build_index,
    complete_companion,
    find_companion_obstacle,
    find_serving_companion,
    is_index,
)
from rowkey.design.design import Design
from rowkey.design.design_regions import DesignRegions, compute_regions
from rowkey.design.design_source import DesignSource, SourceMap, TextRange, parse_toml
from rowkey.design.editor_schema import build_json_schema
from rowkey.design.paths import BOM, KeyPath, format_path, format_toml_name
from rowkey.design.properties import (
    DesignProperties,
    PartProperties,
    ReadProperties,
    choose_example_values,
    count_combined_values,
    derive_properties,
    find_ambiguities,
    find_losses,
)
from rowkey.design.splits import BoundSplits, list_key_prefixes
from rowkey.design.toml_dump import format_toml_value
from rowkey.design.toml_scanner import TomlSpans, find_spans

__all__ = [
    "BOM",
    "BoundSplits",
    "Design",
    "DesignProperties",
    "DesignRegions",
    "DesignSource",
    "KeyPath",
    "PartProperties",
    "ReadProperties",
    "SourceMap",
    "TextRange",
    "TomlSpans",
    "build_index",
    "build_json_schema",
    "choose_example_values",
    "complete_companion",
    "compute_regions",
    "count_combined_values",
    "derive_properties",
    "find_ambiguities",
    "find_companion_obstacle",
    "find_losses",
    "find_serving_companion",
    "find_spans",
    "format_path",
    "format_toml_name",
    "format_toml_value",
    "is_index",
    "list_key_prefixes",
    "parse_toml",
]
