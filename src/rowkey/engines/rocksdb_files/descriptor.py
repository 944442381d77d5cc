"""The descriptor of a table: the file that makes a directory a table of rowkey.

It is the first file that is made in a directory and the last that is removed. A directory without a
valid one is never taken for a table, nor for a place where one may be made: it may be a table whose
descriptor was damaged or lost, or somebody else's files.

The families are repeated here, as the database cannot be opened without them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rowkey.cells import Family
from rowkey.durable import checksum, replace_file
from rowkey.engines.specs import check_attributes_of
from rowkey.errors import CorruptionError, Refused, Unsupported, shown

if TYPE_CHECKING:
    from pathlib import Path

DESCRIPTOR = "descriptor.json"
FORMAT = 2
"""The version of all that this engine writes; a directory of another one is refused."""

CREATING, READY = "creating", "ready"
"""The states of a table: nothing of one that is being created was acknowledged."""

REPAIR_DESCRIPTOR = "Restore it from a copy, or run `rowkey repair`, which takes it from the table."


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What the descriptor of a table says.

    Args:
        families: the table's column families.
        state: `CREATING` or `READY`.
    """

    families: tuple[Family, ...]
    state: str = READY


def write_descriptor(directory: Path, descriptor: Descriptor) -> None:
    """Replace the descriptor of a table, whole and on disk.

    Raises:
        OSError: it cannot be written.
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "state": descriptor.state,
        "families": [asdict(family) for family in descriptor.families],
    }
    document["checksum"] = checksum(document)
    # Next to the directory: what a kill leaves of it must not lie among the files of a table.
    new = directory.with_name(f".{DESCRIPTOR}.new")
    text = json.dumps(document, ensure_ascii=False, indent=1)
    replace_file(directory / DESCRIPTOR, text.encode() + b"\n", new)


def read_descriptor(directory: Path) -> Descriptor:
    """Return the descriptor of a table.

    Raises:
        CorruptionError: it is missing or damaged.
        Unsupported: another version of rowkey wrote it, or it cannot be read.
    """
    path = directory / DESCRIPTOR
    if directory.is_symlink():
        remedy = "Move the table back, or make the whole place a link."
        raise Unsupported(str(directory), "it is a link, which is not followed", remedy=remedy)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        what = "the descriptor of the table is missing"
        raise CorruptionError(str(path), what, remedy=REPAIR_DESCRIPTOR) from None
    except OSError as problem:
        what = f"it cannot be read: {problem.strerror or problem}"
        raise Unsupported(str(path), what) from problem
    try:
        document = json.loads(content)
        stored = document.pop("checksum")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(path) from None
    if stored != checksum(document):
        raise _damaged(path)
    if document.get("format") != FORMAT:
        what = f"it is of format {shown(document.get('format'))}"
        raise Unsupported(str(path), what, f"format {FORMAT}", "Use the rowkey that wrote it.")
    try:
        families = read_families(document["families"])
        if document["state"] not in (CREATING, READY):
            raise _damaged(path)
    except (KeyError, TypeError, ValueError):
        raise _damaged(path) from None
    return Descriptor(families, document["state"])


def read_families(documents: Any) -> tuple[Family, ...]:
    """Return families that are stored with a table, which somebody else may have written.

    Args:
        documents: a list of what `asdict` gives of each.

    Raises:
        TypeError: it is none, or a family has other attributes.
        ValueError: an attribute has a value that it cannot have, or there is no family.
    """
    families = tuple(Family(**document) for document in documents)
    try:
        check_attributes_of(families, {})
    except Refused as refusal:
        raise ValueError(str(refusal)) from refusal
    if not families:
        raise ValueError("there is no family")
    return families


def directory_name(table: str) -> str:
    """Return the name of a table's directory; no table's name holds the sign for the colon."""
    return table.replace(":", "@")


def table_of_directory(directory: Path) -> str:
    """Return the name of the table that a directory holds."""
    return directory.name.replace("@", ":")


def _damaged(path: Path) -> CorruptionError:
    what = "the descriptor of the table is damaged"
    return CorruptionError(str(path), what, remedy=REPAIR_DESCRIPTOR)
