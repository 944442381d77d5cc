"""Catalog entries as JSON documents, and back; a damaged one is reported with its file."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, NoReturn

from rowkey.catalog.catalog_entry import (
    DEFAULT_MAX_STALE_S,
    MAX_STALE_LIMIT_S,
    CatalogEntry,
    Generation,
    GenerationPhase,
)
from rowkey.catalog.table_move import MovePhase, TableMove, TableRetirement
from rowkey.durable_files import compute_checksum
from rowkey.errors import CorruptionError, Unavailable
from rowkey.messages import format_value

FORMAT_VERSION = 2
"""Version of the document; it changes when a field is renamed or means something else."""
RETIREMENT_FORMAT_VERSION = 3
"""Version of a document with the phase of a generation, which earlier code would ignore: it would
take a generation whose rows are being removed for one under which rows are stored."""
READABLE_VERSIONS = (FORMAT_VERSION, RETIREMENT_FORMAT_VERSION)


RESTORE_HINT = (
    "Restore this catalog entry from a backup; or delete it, and run rowkey repair DESIGN --on "
    "URL, which builds it again."
)


def format_entry(entry: CatalogEntry, table: str, version: int, write_id: str = "") -> str:
    """Return a catalog entry as the text of a JSON document with a checksum.

    Args:
        table: the table's name.
        version: the version it is written as.
        write_id: distinguishes two writes of one entry and version; readers ignore it.
    """
    has_phase = any(one.phase > GenerationPhase.LIVE for one in entry.generations)
    document = {
        "format": RETIREMENT_FORMAT_VERSION if has_phase else FORMAT_VERSION,
        "table": table,
        "version": version,
        **({"mark": write_id} if write_id else {}),
        "hash": entry.hash,
        "declaration": entry.declaration,
        "generations": [
            {
                "number": one.number,
                "counts": {str(place): count for place, count in one.counts.items()},
                "splits": [split.hex() for split in one.splits],
                "opened_ms": one.opened_ms,
                "is_active": not one.is_announced,
                **({} if one.phase <= GenerationPhase.LIVE else {"phase": one.phase.name.lower()}),
            }
            for one in entry.generations
        ],
        "max_stale_s": entry.max_stale_s,
        "longest_s": entry.longest_stale_s,
        **({"table_id": entry.table_id} if entry.table_id else {}),
        "made": entry.is_created,
        **({"companion_of": entry.companion_of} if entry.companion_of else {}),
        **({"is_filling": True} if entry.is_filling else {}),
        **(
            {}
            if entry.move is None
            else {"move": {**asdict(entry.move), "phase": entry.move.phase.value}}
        ),
        **({"moved_from": entry.moved_from} if entry.moved_from else {}),
        **({"retirement": asdict(entry.retirement)} if entry.retirement.step else {}),
        "codes": {name: list(values) for name, values in entry.codes.items()},
    }
    return format_checksummed(document)


def format_checksummed(document: dict[str, Any]) -> str:
    """Return a document as JSON text with a checksum."""
    checksummed = {**document, "checksum": compute_checksum(document)}
    return json.dumps(checksummed, ensure_ascii=False, indent=1) + "\n"


def parse_checksummed(
    data: bytes, file_name: str, damage_remedy: str = RESTORE_HINT
) -> dict[str, Any]:
    """Parse a JSON document, verify its checksum, and return it without the checksum.

    Args:
        data: the text.
        file_name: the name of the file, for messages.
        damage_remedy: what to do if the document is damaged, for messages.

    Raises:
        CorruptionError: it is damaged.
        Unavailable: it is not an object, or has another format version.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as problem:
        what = f"the document is not valid JSON: {problem}"
        raise CorruptionError(file_name, what, remedy=damage_remedy) from None
    if not isinstance(document, dict):
        what = f"the document is {format_value(document)}, not a JSON object"
        raise Unavailable(file_name, what, remedy=damage_remedy)
    if document.get("format", FORMAT_VERSION) not in READABLE_VERSIONS:
        _raise_unavailable(
            file_name,
            f"the document has the format version {format_value(document['format'])}",
            f"version {' or '.join(map(str, READABLE_VERSIONS))}",
            "Use the version of rowkey that wrote it.",
        )
    stored = document.pop("checksum", None)
    if stored != compute_checksum(document):
        what = "the document is damaged: its content does not fit its field `checksum`"
        raise CorruptionError(file_name, what, remedy=damage_remedy)
    return document


def parse_entry(data: bytes, table: str, file_name: str) -> CatalogEntry:
    """Parse the JSON document of a catalog entry, after verifying its checksum and hash.

    Args:
        table: the table whose entry it should be.
        file_name: the name of the file, for messages.

    Raises:
        CorruptionError: it is damaged; the file is named.
        Unavailable: it is not an entry, or not of this table.
    """
    document = parse_checksummed(data, file_name)
    if document.get("table") != table:
        what = f"the document is the entry of table {document.get('table')!r}"
        _raise_unavailable(file_name, what, f"the entry of table {table!r}")
    try:
        entry = _build_entry(document)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        _raise_unavailable(
            file_name,
            f"the document is not a valid catalog entry: {type(problem).__name__}: {problem}",
        )
    if entry.hash != document.get("hash"):
        what = "the field `declaration` was changed by hand, so `hash` is not its hash"
        remedy = "Put back the declaration that the table was created with."
        _raise_unavailable(file_name, what, remedy=remedy)
    return entry


def _build_entry(document: dict[str, Any]) -> CatalogEntry:
    """Return the catalog entry that a document describes, after checking the type of each value.

    A document with one generation may leave out whether it is active.
    """
    generations = tuple(
        Generation(
            _check_whole_number(one["number"]),
            {int(place): _check_whole_number(count) for place, count in one["counts"].items()},
            tuple(bytes.fromhex(split) for split in one["splits"]),
            None
            if one["opened_ms"] is None
            else _check_whole_number(one["opened_ms"], min_value=0),
            _parse_phase(one),
        )
        for one in document["generations"]
    )
    if not generations:
        raise ValueError("`generations` is empty")
    if any(one.is_announced for one in generations[:-1]) or generations[0].is_announced:
        raise ValueError(
            "`is_active` is false in one of `generations` other than the last of several"
        )
    active = next(one for one in reversed(generations) if not one.is_announced)
    if active.phase is not GenerationPhase.LIVE:
        raise ValueError("the last of `generations` that is active is not live")
    codes = {name: tuple(map(_check_text, values)) for name, values in document["codes"].items()}
    stale_s = _check_seconds(document.get("max_stale_s", DEFAULT_MAX_STALE_S))
    longest_s = _check_seconds(document.get("longest_s", stale_s))
    version = _check_whole_number(document["version"])
    table_id = _check_text(document.get("table_id", ""))
    declaration = _check_text(document["declaration"])
    is_made = _check_bool(document.get("made", True))
    return CatalogEntry(
        declaration,
        generations,
        codes,
        version,
        stale_s,
        longest_s,
        table_id,
        is_made,
        _check_text(document.get("companion_of", "")),
        _check_bool(document.get("is_filling", False)),
        _build_move(document.get("move")),
        _check_text(document.get("moved_from", "")),
        _build_retirement(document.get("retirement")),
    )


def _parse_phase(document: dict[str, Any]) -> GenerationPhase:
    """Return the phase of a generation; one that was never retired has only `is_active`."""
    if not _check_bool(document.get("is_active", True)):
        return GenerationPhase.ANNOUNCED
    name = _check_text(document.get("phase", "live"))
    phases = {one.name.lower(): one for one in GenerationPhase if one >= GenerationPhase.LIVE}
    if name not in phases:
        raise ValueError(f"`phase` is {name!r}, which is none of {', '.join(phases)}")
    return phases[name]


def _build_move(document: Any) -> TableMove | None:
    """Return the record of a move that a JSON object describes."""
    if document is None:
        return None
    return TableMove(
        _check_text(document["target"]),
        MovePhase(document["phase"]),
        _check_bool(document["is_target_primary"]),
        _check_whole_number(document["started_ms"], min_value=0),
        _check_seconds(document["usual_stale_s"]),
        _check_text(document["mover"]),
        _check_whole_number(document["step"], min_value=0),
        _check_share(document.get("shadow_share", 0.0)),
        _check_whole_number(document.get("switch_count", 0), min_value=0),
    )


def _build_retirement(document: Any) -> TableRetirement:
    """Return the record of a retirement that a JSON object describes."""
    if document is None:
        return TableRetirement()
    return TableRetirement(
        _check_text(document["mover"]), _check_whole_number(document["step"], min_value=0)
    )


def _check_whole_number(value: Any, min_value: int = 1) -> int:
    if type(value) is not int or value < min_value:
        raise ValueError(f"{value!r} is not a whole number from {min_value} on")
    return value


def _check_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _check_seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value <= MAX_STALE_LIMIT_S:
        raise ValueError(
            f"max_stale_s is {value!r}; expected seconds above 0, up to {MAX_STALE_LIMIT_S:,.0f}"
        )
    return float(value)


def _check_share(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError(f"shadow_share is {value!r}; expected a share from 0 to 1")
    return float(value)


def _check_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _raise_unavailable(
    file_name: str, problem: str, expected: str = "", remedy: str = ""
) -> NoReturn:
    raise Unavailable(
        file_name,
        problem,
        expected,
        remedy or "Restore this catalog entry from a backup, or drop the table.",
    )
