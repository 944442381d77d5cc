"""The descriptor of a table: the file that marks a directory as a table of rowkey.

It is the first file that is created in a directory and the last that is removed. A directory
without a valid descriptor is never taken for a table, and no table is created in it: it may be a
table whose descriptor was damaged or lost, or hold files of another program.

The descriptor repeats the families, as the database cannot be opened without them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rowkey.cells import Family
from rowkey.durable_files import (
    NO_FILE_ERRORS,
    compute_checksum,
    read_regular_file,
    replace_file,
)
from rowkey.engines.requests import check_family_attributes
from rowkey.errors import CorruptionError, InvalidArgument, NotSupported, Unavailable
from rowkey.messages import format_value

DESCRIPTOR_FILE = "descriptor.json"
_MAX_DESCRIPTOR_BYTES = 1 << 24
FORMAT_VERSION = 3
"""The version of all files of this engine; a table of another version is not opened."""

STATE_CREATING, STATE_READY = "creating", "ready"
"""The states of a table: while it is being created, no change was acknowledged."""

REPAIR_DESCRIPTOR_HINT = (
    "Restore it from a backup, or write it again: rowkey repair DESIGN --on URL --yes."
)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """The content of a table's descriptor.

    Args:
        families: the table's column families.
        table_id: the random id of the table's database; empty while the table is being created.
        state: `STATE_CREATING` or `STATE_READY`.
    """

    families: tuple[Family, ...]
    table_id: str
    state: str = STATE_READY


def write_descriptor(directory: Path, descriptor: Descriptor) -> None:
    """Replace the descriptor file of a table atomically, and wait until it is on disk.

    Raises:
        OSError: it cannot be written.
    """
    document: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "state": descriptor.state,
        "id": descriptor.table_id,
        "families": [asdict(family) for family in descriptor.families],
    }
    document["checksum"] = compute_checksum(document)
    # Outside of the directory, so that a kill leaves no foreign file among those of the table;
    # of its name, since threads write descriptors of other tables beside it at the same time.
    new = directory.with_name(f".{directory.name}.new")
    text = json.dumps(document, ensure_ascii=False, indent=1)
    replace_file(directory / DESCRIPTOR_FILE, text.encode() + b"\n", new)


def read_descriptor(directory: Path) -> Descriptor:
    """Read and check the descriptor file of a table.

    Raises:
        CorruptionError: it is missing or damaged.
        NotSupported: another version of rowkey wrote it.
        Unavailable: it cannot be read.
    """
    path = directory / DESCRIPTOR_FILE
    if directory.is_symlink():
        what = "the table's directory is a symbolic link, which rowkey does not follow"
        remedy = "Move the table back here, or link the directory that holds all tables instead."
        raise Unavailable(str(directory), what, remedy=remedy)
    content = _read_file(path)
    try:
        document = json.loads(content)
        stored = document.pop("checksum")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _build_damage_error(path) from None
    if stored != compute_checksum(document):
        raise _build_damage_error(path)
    if not isinstance(document.get("format"), int):
        raise _build_damage_error(path)
    if document["format"] != FORMAT_VERSION:
        what = f"the files of the table have the format version {format_value(document['format'])}"
        remedy = "Install the newer version of rowkey that wrote it."
        raise NotSupported(
            str(path), what, f"version {FORMAT_VERSION}, which this version of rowkey reads", remedy
        )
    try:
        families = read_families(document["families"])
        table_id, state = document["id"], document["state"]
        if state not in (STATE_CREATING, STATE_READY) or not isinstance(table_id, str):
            raise _build_damage_error(path)
    except (KeyError, TypeError, ValueError):
        raise _build_damage_error(path) from None
    return Descriptor(families, table_id, state)


def _read_file(path: Path) -> bytes:
    """Return the content of a descriptor file.

    Raises:
        CorruptionError: it is missing, or something that is no file is in its place.
        Unavailable: it cannot be read.
    """
    try:
        return read_regular_file(path, _MAX_DESCRIPTOR_BYTES)
    except FileNotFoundError:
        what = "the descriptor of the table is missing"
        raise CorruptionError(str(path), what, remedy=REPAIR_DESCRIPTOR_HINT) from None
    except OSError as problem:
        what = f"the descriptor of the table cannot be read: {problem.strerror or problem}"
        if problem.errno in NO_FILE_ERRORS:
            raise CorruptionError(str(path), what, remedy=REPAIR_DESCRIPTOR_HINT) from problem
        remedy = "Check the disk and the permissions of the file, and try again."
        raise Unavailable(str(path), what, remedy=remedy) from problem


def read_families(documents: Any) -> tuple[Family, ...]:
    """Parse column families from the JSON document that is stored with a table.

    Args:
        documents: a list with a dictionary of attributes for each family; it may be anything.

    Raises:
        TypeError: it is not such a list, or a family has unknown attributes.
        ValueError: an attribute has an invalid value, or there is no family.
    """
    families = tuple(Family(**document) for document in documents)
    try:
        check_family_attributes(families, {})
    except InvalidArgument as refusal:
        raise ValueError(str(refusal)) from refusal
    if not families:
        raise ValueError("there is no family")
    return families


def to_directory_name(table: str) -> str:
    """Return the name of a table's directory: the table's name with `@` for the colon."""
    return table.replace(":", "@")


def parse_table_name(directory: Path) -> str:
    """Return the name of the table that is stored in a directory."""
    return directory.name.replace("@", ":")


def _build_damage_error(path: Path) -> CorruptionError:
    what = "the descriptor of the table is damaged"
    return CorruptionError(str(path), what, remedy=REPAIR_DESCRIPTOR_HINT)
