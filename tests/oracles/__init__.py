"""The real Java classes as oracles for bytes: their answers define the byte formats.

A test takes the fixture `hbase_oracle` and asks; the questions are listed in `java.py`.
"""

from __future__ import annotations

from oracles.java import Argument, JavaOracle, OracleError, as_bytes, as_keys, as_text, spell

__all__ = ["Argument", "JavaOracle", "OracleError", "as_bytes", "as_keys", "as_text", "spell"]
