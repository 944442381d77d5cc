"""The script that draws heat maps: the files of `browser/map`, one concept each, as one program."""

from __future__ import annotations

from functools import cache

from rowkey.render.page.markup import read_asset

MAP_FILES = (
    "elements",
    "colours",
    "counts",
    "loads",
    "formats",
    "cells",
    "axes",
    "causes",
    "unknown",
    "descriptions",
    "pins",
    "table",
    "tools",
    "control",
    "gestures",
    "heat_map",
    "small_map",
    "legend",
    "page",
)
"""The files in the order in which they are joined; the last one starts the program."""


REQUESTING_FILE = "sources"
"""Reads views from a server; only a page that may make requests has it."""


@cache
def read_map_script(*, makes_requests: bool = False) -> str:
    """Return the program as a classic script without names of its own on the page.

    Args:
        makes_requests: whether views may have a `source`, from which the browser reads them.
    """
    names = [REQUESTING_FILE, *MAP_FILES] if makes_requests else MAP_FILES
    files = [read_asset(f"browser/map/{name}.js") for name in names]
    return '"use strict";\n(() => {\n' + "".join(files) + "})();\n"
