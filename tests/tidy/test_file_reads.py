"""Small files are read by the one function that refuses pipes, devices and huge files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_CALL = re.compile(r"\.read_(text|bytes)\b")
SOURCES = Path(__file__).parents[2] / "src" / "rowkey"
PACKAGE_FILES = {
    "durable_files.py",
    "portal/page_templates.py",
    "portal/server/stored_responses.py",
    "render/languages/__init__.py",
    "render/page/markup.py",
    "engines/rocksdb_files/high_water_mark.py",
}
"""Modules that read files of the package or of the system."""


def test_no_module_but_one_reads_whole_files() -> None:
    """No other module calls `read_text` or `read_bytes` of a path."""
    calls = []
    for path in SOURCES.rglob("*.py"):
        name, text = str(path.relative_to(SOURCES)), path.read_text("utf-8")
        if name in PACKAGE_FILES or not _CALL.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and node.attr in ("read_text", "read_bytes"):
                is_own = isinstance(node.value, ast.Name) and node.value.id in ("reader", "self")
                calls += [] if is_own else [f"{name}:{node.lineno}"]
    assert not calls
