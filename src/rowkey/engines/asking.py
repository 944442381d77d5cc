"""What a read may ask, checked when it is asked, and turned into one view of each family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import LATEST, View, check_families, check_row
from rowkey.errors import Refused, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.cells import Family
    from rowkey.engines.requests import Ask

VERSIONS_MOST = 2**31 - 1
"""Most versions, rows or cells a read may ask for. Source: Integer.MAX_VALUE, as Scan takes it."""


def check_ask(ask: Ask, families: Mapping[str, Family]) -> None:
    """Raise unless a table of these families can answer.

    Raises:
        Refused: a family is unknown, a number is out of range, or a raw read names columns, which
            HBase refuses as well.

    Source: Scan and TimeRange; StoreScanner: "Cannot specify any column for a raw scan".
    """
    check_families(ask.columns or (), families)
    if ask.columns is not None and not ask.columns:
        raise Refused("columns", "no family is named", "None for all of them")
    _check_number("versions", ask.versions)
    for word, given in (("limit", ask.limit), ("batch", ask.batch)):
        if given is not None:
            _check_number(word, given)
    start, stop = ask.time_range
    if not 0 <= start <= stop <= LATEST:
        raise Refused("time_range", f"{start}..{stop}", f"0..{LATEST}, the greater one last")
    first, last = ask.qualifiers
    if last and last < first:
        raise Refused("qualifiers", f"{first[:40]!r}..{last[:40]!r}", "the greater one last")
    named = any((ask.columns or {}).values())
    if ask.raw and (named or ask.qualifiers != (b"", b"")):
        raise Refused("raw", "it is asked of some columns", "whole families", "Filter what comes.")


def _check_number(word: str, given: object) -> None:
    """Raise unless this is a number of things wanted."""
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= VERSIONS_MOST:
        raise Refused(word, f"{shown(given)} is out of range", f"1..{VERSIONS_MOST}")


def check_rows(rows: Sequence[bytes]) -> None:
    """Raise unless all of these can be row keys."""
    for row in rows:
        check_row(row)


def check_columns(
    row: bytes, columns: Sequence[tuple[str, bytes]], families: Mapping[str, Family]
) -> None:
    """Raise unless these columns of a row can be changed together by what they hold.

    Raises:
        Refused: the row key or a family is none of the table, there is no column, or one is named
            twice: HBase would take its value before the call for both.

    Source: HRegion.reckonDeltasByStore.
    """
    check_row(row)
    check_families([family for family, _ in columns], families)
    if not columns:
        raise Refused("columns", "none is named", "1 or more")
    for _, qualifier in columns:
        if not isinstance(qualifier, bytes):
            what = f"{shown(qualifier)} is a {type(qualifier).__name__}"
            raise Refused("qualifier", what, "bytes")
    if len(set(columns)) < len(columns):
        raise Refused("columns", "one is named twice", "each once", "Add the amounts up first.")


def make_views(ask: Ask, families: Mapping[str, Family], now_ms: int) -> dict[str, View]:
    """One view of each family that is asked for, in the order of their names.

    Args:
        ask: what is wanted, checked.
        families: all of the table's, by name.
        now_ms: the moment at which times to live are judged.
    """
    wanted = families if ask.columns is None else ask.columns
    return {
        name: View(
            families[name],
            now_ms,
            versions=ask.versions,
            time_range=ask.time_range,
            qualifiers=(ask.columns or {}).get(name) or None,
            between=ask.qualifiers,
            raw=ask.raw,
        )
        for name in sorted(wanted)
    }
