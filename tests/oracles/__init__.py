"""HBase's Java classes as oracles, whose answers define the byte formats.

A test takes the fixture `hbase_oracle` and asks; the questions are listed in `java.py`.
"""

from __future__ import annotations

from oracles.java import (
    Argument,
    JavaOracle,
    OracleError,
    format_argument,
    parse_bytes,
    parse_keys,
    parse_text,
)

__all__ = [
    "Argument",
    "JavaOracle",
    "OracleError",
    "format_argument",
    "parse_bytes",
    "parse_keys",
    "parse_text",
]
