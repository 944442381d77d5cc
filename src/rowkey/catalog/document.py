"""An entry as a JSON document, and back; what is no entry is told, with the file it lies in."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from rowkey.catalog.entry import MAX_STALE_S, MOST_STALE_S, Entry, Generation
from rowkey.durable import checksum
from rowkey.errors import CorruptionError, Unsupported, shown

FORMAT = 2
"""Version of the document; it changes when a field is renamed or means something else."""


RESTORE = (
    "Restore it from a copy; rowkey repair URL DESIGN puts it back from the table's own words."
)


def text_of(entry: Entry, table: str, version: int, mark: str = "") -> str:
    """An entry as the text of its document.

    Args:
        entry: the entry.
        table: the table's name.
        version: the version it is written as.
        mark: tells one write from another of the same entry and version; readers pass it over.
    """
    document = {
        "format": FORMAT,
        "table": table,
        "version": version,
        **({"mark": mark} if mark else {}),
        "hash": entry.hash,
        "declaration": entry.declaration,
        "generations": [
            {
                "number": one.number,
                "counts": {str(place): count for place, count in one.counts.items()},
                "splits": [split.hex() for split in one.splits],
                "opened_ms": one.opened_ms,
                "rules": one.rules,
            }
            for one in entry.generations
        ],
        "max_stale_s": entry.max_stale_s,
        "longest_s": entry.longest_s,
        **({"born": entry.born} if entry.born else {}),
        "made": entry.is_made,
        "codes": {name: list(values) for name, values in entry.codes.items()},
    }
    return checksummed_text(document)


def checksummed_text(document: dict[str, Any]) -> str:
    """Return a document as text that tells whether it was damaged."""
    whole = {**document, "checksum": checksum(document)}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def read_checksummed(data: bytes, where: str) -> dict[str, Any]:
    """Return a document of `checksummed_text`, without its checksum.

    Args:
        data: the text.
        where: the name of the file, for messages.

    Raises:
        CorruptionError: it is damaged.
        Unsupported: it is no such document.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise CorruptionError(where, f"it is no JSON document: {problem}", "", RESTORE) from None
    if not isinstance(document, dict):
        _refuse(where, "it is no document of a catalog")
    if document.get("format", FORMAT) != FORMAT:
        _refuse(where, f"it has the format {shown(document['format'])}", f"format {FORMAT}")
    stored = document.pop("checksum", None)
    if stored != checksum(document):
        what = "it is damaged: its checksum does not match"
        raise CorruptionError(where, what, remedy=RESTORE)
    return document


def entry_of(data: bytes, table: str, where: str) -> Entry:
    """The entry that a document holds.

    Args:
        data: the document.
        table: the table whose entry it should be.
        where: the name of the file, for messages.

    Raises:
        CorruptionError: it is damaged; the file is named.
        Unsupported: it is no entry, or not of this table.
    """
    document = read_checksummed(data, where)
    if document.get("table") != table:
        _refuse(where, f"it is the entry of {document.get('table')!r}", repr(table))
    try:
        entry = _entry(document)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        _refuse(where, f"it is no entry of a catalog: {type(problem).__name__}: {problem}")
    if entry.hash != document.get("hash"):
        what = "its hash is not that of its declaration"
        _refuse(where, what, entry.hash, "Put back the declaration that the table has.")
    return entry


def _entry(document: dict[str, Any]) -> Entry:
    """The fields of a document, each of the type it must have.

    One that was written before there was a second generation says of none whether it rules.
    """
    generations = tuple(
        Generation(
            _whole(one["number"]),
            {int(place): _whole(count) for place, count in one["counts"].items()},
            tuple(bytes.fromhex(split) for split in one["splits"]),
            None if one["opened_ms"] is None else _whole(one["opened_ms"], least=0),
            _truth(one.get("rules", True)),
        )
        for one in document["generations"]
    )
    if not generations:
        raise ValueError("it has no generation")
    if not all(one.rules for one in generations[:-1]) or not generations[0].rules:
        raise ValueError("a generation that does not rule yet is not the last of several")
    codes = {name: tuple(map(_text, values)) for name, values in document["codes"].items()}
    stale_s = _seconds(document.get("max_stale_s", MAX_STALE_S))
    longest_s = _seconds(document.get("longest_s", stale_s))
    version, born = _whole(document["version"]), _text(document.get("born", ""))
    declaration = _text(document["declaration"])
    is_made = _truth(document.get("made", True))
    return Entry(declaration, generations, codes, version, stale_s, longest_s, born, is_made)


def _whole(value: Any, least: int = 1) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"{value!r} is no whole number from {least} on")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value <= MOST_STALE_S:
        raise ValueError(f"{value!r} is no number of seconds above 0")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _refuse(where: str, what: str, allowed: str = "", remedy: str = "") -> NoReturn:
    raise Unsupported(where, what, allowed, remedy or "Restore it, or drop the table.")
