"""Heat maps of stored reports: a compressed file for each view, which browsers read on their own.

A page without its maps is small, and a map is compressed once for all who look at it. Its response
repeats nothing of the request, so its length tells nobody what is in it (BREACH).
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

from rowkey.durable_files import read_regular_file
from rowkey.portal.links import build_path

_NAME = re.compile(r"[a-z0-9]{1,20}")
COMPRESSION_LEVEL = 5
"""Of gzip. The counts are compressed already, but in base 64; names of rows are repeated."""
_MAX_VIEW_BYTES = 1 << 28


def store_map_views(report: dict[str, Any], folder: Path) -> None:
    """Write the views of all maps of a report to files, and leave their numbers of rows in it.

    Args:
        report: the result of `build_report_document`, which is changed.
        folder: where the files are written.
    """
    for design in report["designs"]:
        views = {} if design["map"] is None else design["map"]["views"]
        for kind, view in views.items():
            text = json.dumps(view, ensure_ascii=False, separators=(",", ":"))
            packed = gzip.compress(text.encode("utf-8", "backslashreplace"), COMPRESSION_LEVEL)
            (folder / _build_name(design["id"], kind)).write_bytes(packed)
            views[kind] = {"row_count": len(view["rows"])}


def link_map_views(report: dict[str, Any], simulation_id: str) -> None:
    """Give each view of the maps of a stored report the path under which a browser reads it."""
    for design in report["designs"]:
        views = {} if design["map"] is None else design["map"]["views"]
        for kind, view in views.items():
            view["source"] = build_path("simulations", simulation_id, "maps", design["id"], kind)


def read_map_view(folder: Path, design_id: str, kind: str) -> bytes | None:
    """Return a view as gzip-compressed JSON; None if there is none of this name."""
    if not (_NAME.fullmatch(design_id) and _NAME.fullmatch(kind)):
        return None
    try:
        return read_regular_file(folder / _build_name(design_id, kind), _MAX_VIEW_BYTES)
    except OSError:
        return None


def _build_name(design_id: str, kind: str) -> str:
    return f"map-{design_id}-{kind}.json.gz"
