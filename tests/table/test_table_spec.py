"""A table whose families or regions differ from those of its design is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowkey import Design
from rowkey.engines import open_engine
from rowkey.errors import CatalogMismatch
from rowkey.table import build_table_spec
from rowkey.table.table_spec import check_created_table, check_families

DESIGN = Design(
    "logs", "[id]", fields={"id": "u64"}, families={"d": {"ttl": "1d", "compression": "GZ"}}
)


@pytest.mark.parametrize(
    ("attribute", "here", "actual"),
    [
        ("versions", 1, 7),
        ("ttl_s", 86_400, 60),
        ("keep_deleted", "FALSE", "TRUE"),
        ("block_cache", True, False),
        ("compression", "GZ", "NONE"),
        ("compression_compact", None, "GZ"),
    ],
)
def test_a_differing_family_attribute_is_reported_with_both_values(
    tmp_path: Path, attribute: str, here: Any, actual: Any
) -> None:
    """A different number, duration, flag or word is reported alone, with both values."""
    with open_engine(f"memory:{tmp_path}") as engine:
        engine.create_table(build_table_spec(DESIGN, ()))
        store = engine.open_table("logs")
        check_families(DESIGN, store)
        store.alter_families([replace(DESIGN.families["d"], **{attribute: actual})])
        with pytest.raises(CatalogMismatch) as caught:
            check_families(DESIGN, store)
    (mistake,) = caught.value.differences
    path = f"families.d.{attribute.removesuffix('_s')}"
    problem = f"{here} in the design, but {actual} in the table"
    assert (path, problem) == (mistake.path, mistake.problem)


@pytest.mark.parametrize(("splits", "listed"), [(b"abc", "a, b, c"), (b"abcd", "a, b, c, …")])
def test_a_created_table_with_other_regions_is_refused(
    tmp_path: Path, splits: bytes, listed: str
) -> None:
    """The first of the requested split keys are listed, and the remedy names the table."""
    requested = build_table_spec(DESIGN, [bytes([split]) for split in splits])
    with open_engine(f"memory:{tmp_path}") as engine:
        engine.create_table(build_table_spec(DESIGN, [b"x"]))
        with pytest.raises(CatalogMismatch, match="compare rowkey describe logs with") as caught:
            check_created_table(requested, engine.open_table("logs"))
    assert [("splits", listed)] == [(one.path, one.expected) for one in caught.value.differences]
