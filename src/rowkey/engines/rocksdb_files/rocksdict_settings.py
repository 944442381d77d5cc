"""The settings file of rocksdict next to a database."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS_FILE = "rocksdict-config.json"
RAW_SETTINGS = '{"raw_mode":true,"prefix_extractors":{}}'
"""What rocksdict keeps of a database whose values are bytes."""


def write_settings(directory: Path) -> None:
    """Write the setting that values are bytes: rocksdict's other mode would run code in them.

    rocksdict empties the file before it writes it again, at each open, and does not force it to the
    disk: a kill just then leaves nothing, a power cut zeros. So it is never believed.

    Source: README of rocksdict: values that are no bytes are pickled, unless in raw mode.
    """
    path = directory / SETTINGS_FILE
    if not _is_raw_mode(path):
        path.write_text(RAW_SETTINGS, "utf-8")


def _is_raw_mode(path: Path) -> bool:
    """Return whether rocksdict's settings say that values are bytes."""
    try:
        return json.loads(path.read_bytes())["raw_mode"] is True
    except (OSError, ValueError, KeyError, TypeError):
        return False
