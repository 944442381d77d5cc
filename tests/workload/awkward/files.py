"""Reads awkward files: either right, or after the option that their refusal names."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.workload import open_sample

Rows = list[tuple[Any, ...]]


def read_rows(path: Path, fields: Mapping[str, Any], options: Any = None) -> Rows:
    """Return the rows of a sample, with times as ISO 8601 without a zone."""
    design = Design("t", f"[{next(iter(fields))}]", fields=fields)
    sample = open_sample(path, design.fields, None, options)
    rows: Rows = []
    for events in sample.read_events():
        columns = [column.to_pylist() for column in events.rows.columns]
        rows += zip(*(list(map(simplify_value, column)) for column in columns), strict=True)
    return rows


def simplify_value(value: Any) -> Any:
    """Return a value as the tables of expected rows write it."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    return value.isoformat() if isinstance(value, date) else value


def get_refusal(path: Path, fields: Mapping[str, Any], options: Any = None) -> str:
    """Return the message with which a file is refused."""
    with pytest.raises(SampleError) as caught:
        read_rows(path, fields, options)
    return str(caught.value)


def find_options(message: str) -> list[dict[str, Any]]:
    """Return the values of all options --sample-format that a message names."""
    texts = re.findall(r"--sample-format '\{.*?\}'(?=[.,:]|$)", message)
    return [tomllib.loads(f"format = {shlex.split(text)[1]}")["format"] for text in texts]
