"""Reads RocksDB's MANIFEST without RocksDB: the files of a table, and its first log.

RocksDB accepts a MANIFEST that ends early and opens the rest: rows are missing silently, and files
that the lost end names are deleted as obsolete. This module therefore reads the MANIFEST first.

Source: version_edit.h and version_edit.cc of RocksDB 10.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rowkey.engines.rocksdb_files.log_format import encode_log, read_records

if TYPE_CHECKING:
    from collections.abc import Iterable

_COMPARATOR, _LOG_NUMBER, _NEXT_FILE, _LAST_SEQUENCE, _COMPACT_CURSOR = 1, 2, 3, 4, 5
_DELETED_FILE, _PREVIOUS_LOG, _MIN_LOG, _NEW_FILE = 6, 9, 10, 103
_FAMILY, _FAMILY_ADD, _FAMILY_DROP, _MAX_FAMILY, _ATOMIC_GROUP = 200, 201, 202, 203, 300
_NUMBERS = {_LOG_NUMBER, _NEXT_FILE, _LAST_SEQUENCE, _PREVIOUS_LOG, _MIN_LOG, _FAMILY, _MAX_FAMILY}
_IGNORABLE_TAG_BIT = 1 << 13
"""Tags with this bit carry their length and may be skipped. Source: kTagSafeIgnoreMask."""
_LAST_FILE_FIELD = 1
_KEY_TRAILER_BYTES = 8
"""Bytes after a key inside RocksDB: its sequence number and type."""


class InvalidEdit(ValueError):
    """A record of a MANIFEST that is not a version edit of RocksDB."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of sorted pairs.

    Args:
        number: its number, which is its name.
        family_id: RocksDB's number of the column family it belongs to.
        level: the level it lies on.
        size_bytes: its size.
        smallest: the first key it holds.
        largest: the last key it holds.
    """

    number: int
    family_id: int
    level: int
    size_bytes: int
    smallest: bytes
    largest: bytes

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return f"{self.number:06}.sst"


@dataclass(slots=True)
class Manifest:
    """The content of a MANIFEST.

    Args:
        families: the names of the column families by their numbers.
        files: the files of sorted pairs, by number.
        log_numbers: by column family, the first log that holds changes not yet in its files.
        next_file: a number above those of all files.
        last_sequence: the number of the last change known when it was written.
    """

    families: dict[int, str] = field(default_factory=dict)
    files: dict[int, TableFile] = field(default_factory=dict)
    log_numbers: dict[int, int] = field(default_factory=dict)
    next_file: int = 0
    last_sequence: int = 0

    @property
    def first_log(self) -> int:
        """Return the number of the first log that is read when the database is opened."""
        return min(self.log_numbers.values(), default=0)

    @property
    def newest_log(self) -> int:
        """The number of a log that must exist: it was begun before it was named here."""
        return max(self.log_numbers.values(), default=0)

    def apply_edit(self, edit: VersionEdit) -> None:
        """Apply a version edit."""
        number = edit.numbers.get(_FAMILY, 0)
        if edit.family_name is not None:
            self.families[number] = edit.family_name
        if edit.drops_family:
            self.families.pop(number, None)
            self.log_numbers.pop(number, None)
            self.files = {n: file for n, file in self.files.items() if file.family_id != number}
            return
        for deleted in edit.deleted_files:
            self.files.pop(deleted, None)
        for file in edit.new_files:
            self.files[file.number] = file
        if _LOG_NUMBER in edit.numbers:
            self.log_numbers[number] = edit.numbers[_LOG_NUMBER]
        self.next_file = max(self.next_file, edit.numbers.get(_NEXT_FILE, 0))
        self.last_sequence = max(self.last_sequence, edit.numbers.get(_LAST_SEQUENCE, 0))


@dataclass(slots=True)
class VersionEdit:
    """One change of a MANIFEST.

    Args:
        numbers: numbers by their tags.
        family_name: the name of a column family that is added.
        drops_family: whether its column family is dropped.
        deleted_files: numbers of files that are taken out.
        new_files: files that are added.
        remaining_in_group: how many edits follow that count together with it or not at all.
    """

    numbers: dict[int, int] = field(default_factory=dict)
    family_name: str | None = None
    drops_family: bool = False
    deleted_files: list[int] = field(default_factory=list)
    new_files: list[TableFile] = field(default_factory=list)
    remaining_in_group: int = 0


def parse_manifest(content: bytes) -> Manifest:
    """Return what a MANIFEST says.

    Args:
        content: the content of the file, in which `log_format.find_damage` found nothing.

    Raises:
        InvalidEdit: a record is no version edit.
    """
    manifest = Manifest(families={0: "default"})
    group: list[VersionEdit] = []
    for _, record in read_records(content):
        edit = _parse_edit(record)
        group.append(edit)
        if edit.remaining_in_group == 0:  # edits of one group count together or not at all
            for one in group:
                manifest.apply_edit(one)
            group = []
    return manifest


def remove_files(content: bytes, files: Iterable[TableFile]) -> bytes:
    """Return a MANIFEST that ends by taking files out of its database.

    Args:
        content: the content of a MANIFEST in which `log_format.find_damage` found nothing.
        files: those to be taken out.
    """
    edits = [record for _, record in read_records(content)]
    for file in files:
        edit = (
            _encode_varint(_DELETED_FILE) + _encode_varint(file.level) + _encode_varint(file.number)
        )
        edits.append(edit + _encode_varint(_FAMILY) + _encode_varint(file.family_id))
    return encode_log(edits)


def _parse_edit(record: bytes) -> VersionEdit:
    """Return the version edit of a record."""
    reader, edit = _EditReader(record), VersionEdit()
    while not reader.is_at_end:
        _parse_field(reader, edit)
    family = edit.numbers.get(_FAMILY, 0)
    if family:
        edit.new_files = [replace(file, family_id=family) for file in edit.new_files]
    return edit


def _parse_field(reader: _EditReader, edit: VersionEdit) -> None:
    """Read one field of a version edit into it."""
    tag = reader.read_varint()
    if tag in _NUMBERS:
        edit.numbers[tag] = reader.read_varint()
    elif tag == _FAMILY_ADD:
        edit.family_name = reader.read_bytes().decode("utf-8", "replace")
    elif tag == _FAMILY_DROP:
        edit.drops_family = True
    elif tag == _ATOMIC_GROUP:
        edit.remaining_in_group = reader.read_varint()
    elif tag == _DELETED_FILE:
        reader.read_varint()
        edit.deleted_files.append(reader.read_varint())
    elif tag == _NEW_FILE:
        edit.new_files.append(_parse_file(reader))
    elif tag == _COMPACT_CURSOR:
        reader.read_varint()
        reader.read_bytes()
    elif tag == _COMPARATOR or tag & _IGNORABLE_TAG_BIT:
        reader.read_bytes()
    else:
        raise InvalidEdit(f"a record has the unknown tag {tag}")


def _parse_file(reader: _EditReader) -> TableFile:
    """Return the file that a version edit adds."""
    level, number, size = reader.read_varint(), reader.read_varint(), reader.read_varint()
    smallest, largest = reader.read_bytes(), reader.read_bytes()
    reader.read_varint()
    reader.read_varint()
    while reader.read_varint() != _LAST_FILE_FIELD:
        reader.read_bytes()
    if min(len(smallest), len(largest)) < _KEY_TRAILER_BYTES:
        raise InvalidEdit(f"the file {number} has a key of fewer than {_KEY_TRAILER_BYTES} bytes")
    return TableFile(
        number, 0, level, size, smallest[:-_KEY_TRAILER_BYTES], largest[:-_KEY_TRAILER_BYTES]
    )


def _encode_varint(value: int) -> bytes:
    """Return a number as a varint."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


class _EditReader:
    """Reads numbers and byte strings from a version edit.

    Args:
        data: the edit.
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._offset = data, 0

    @property
    def is_at_end(self) -> bool:
        """Return whether all bytes are read."""
        return self._offset == len(self._data)

    def read_varint(self) -> int:
        value = shift = 0
        while shift < 64:
            if self._offset == len(self._data):
                raise InvalidEdit("a record ends within a number")
            byte = self._data[self._offset]
            self._offset += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise InvalidEdit("a number has more than 64 bits")

    def read_bytes(self) -> bytes:
        length = self.read_varint()
        if length > len(self._data) - self._offset:
            raise InvalidEdit(f"a record ends within a field of {length} bytes")
        self._offset += length
        return self._data[self._offset - length : self._offset]
