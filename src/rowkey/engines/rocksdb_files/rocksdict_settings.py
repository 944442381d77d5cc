"""The settings file of rocksdict next to a database."""

from __future__ import annotations

import json
from pathlib import Path

from rowkey.durable_files import read_regular_file

SETTINGS_FILE = "rocksdict-config.json"
RAW_SETTINGS = '{"raw_mode":true,"prefix_extractors":{}}'
"""The content of the settings file for a database whose values are bytes."""
_MAX_SETTINGS_BYTES = 1 << 20


def write_settings(directory: Path) -> None:
    """Write rocksdict's settings file, so that values are read as bytes, never unpickled.

    rocksdict empties and rewrites the file at each opening, without a sync: a kill at that moment
    leaves it empty, a power cut leaves zeros. So it is checked before each opening.

    Source: README of rocksdict: values other than bytes are pickled, unless in raw mode.
    """
    path = directory / SETTINGS_FILE
    if not _is_raw_mode(path):
        path.write_text(RAW_SETTINGS, "utf-8")


def _is_raw_mode(path: Path) -> bool:
    """Return whether the settings file says that values are bytes."""
    try:
        return json.loads(read_regular_file(path, _MAX_SETTINGS_BYTES))["raw_mode"] is True
    except (OSError, ValueError, KeyError, TypeError):
        return False
