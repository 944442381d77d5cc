"""What a table may be on an engine of ours, checked before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import ATTRIBUTES, check_family, check_table, longest_split
from rowkey.engines.territory import SplitLimits
from rowkey.errors import DeclarationError, Refused, shown
from rowkey.regions import Boundaries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rowkey.cells import Family
    from rowkey.engines.requests import TableSpec


def check_spec(spec: TableSpec, refuses: Mapping[str, str]) -> None:
    """Raise unless a table can be made as it is described.

    Args:
        spec: the table.
        refuses: what the engine cannot do, by the attribute that would ask it of a family.

    Raises:
        Refused: with the first mistake in its name, families, splits or attributes.
    """
    for mistake in check_table(spec.name):
        raise mistake
    if not spec.families:
        raise Refused("families", "a table without families", "1 or more")
    check_attributes_of(spec.families, refuses)
    check_splits(spec.name, spec.splits)
    SplitLimits.read(spec.attributes)


OWN_NAMESPACES = ("default:", "hbase:")
"""HBase lists `default:t` as `t`, so that a table would have two names; `hbase:` is its own."""


def check_cluster_spec(spec: TableSpec, refuses: Mapping[str, str]) -> None:
    """Raise unless a cluster can make a table as it is described.

    Args:
        spec: the table.
        refuses: as `check_spec` takes it.

    Raises:
        Refused: with the first mistake; its namespace is not written, or HBase's own.
    """
    check_spec(spec, refuses)
    if spec.name.startswith(OWN_NAMESPACES):
        what = f"{spec.name!r} is in a namespace that is not written, or HBase's own"
        raise Refused("table", what, "a name without it, or with one of your own")


def check_attributes_of(families: Iterable[Family], refuses: Mapping[str, str]) -> None:
    """Raise unless all families are as HBase takes them, and none asks what the engine refuses.

    Raises:
        Refused: with the first mistake; a family is given twice.
    """
    seen = set()
    for family in families:
        if family.name in seen:
            raise Refused("families", f"{shown(family.name)} is given twice", "each once")
        seen.add(family.name)
        given = {word: getattr(family, _field(word)) for word in ATTRIBUTES}
        changed = {
            word: value for word, value in given.items() if value != ATTRIBUTES[word].default
        }
        for mistake in check_family(family.name, changed):
            raise mistake
        for word, reason in refuses.items():
            if changed.get(word):
                raise Refused(f"families.{family.name}.{word}", f"it is asked for; {reason}")


def _field(word: str) -> str:
    """The field of `Family` that holds an attribute; lengths of time carry their unit."""
    return f"{word}_s" if ATTRIBUTES[word].seconds else word


def check_splits(table: str, splits: Iterable[bytes]) -> None:
    """Raise unless regions can begin at all of these keys.

    Raises:
        Refused: one is out of order, repeated, empty, or too long for the table's name.
    """
    try:
        cut = Boundaries(splits)
    except DeclarationError as problem:
        first = problem.mistakes[0]
        raise Refused(first.path, first.what, first.allowed, first.remedy) from problem
    if cut.depth > longest_split(table):
        allowed = f"1..{longest_split(table):,} bytes beside the table's name"
        raise Refused("splits", f"a key is {cut.depth:,} bytes long", allowed)
