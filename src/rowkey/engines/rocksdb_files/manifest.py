"""Reads RocksDB's MANIFEST without RocksDB: the files of a table, and its first log.

RocksDB accepts a MANIFEST that ends early and opens the rest: rows are missing silently, and files
that the lost end names are deleted as obsolete. This module therefore reads the MANIFEST first.

Source: version_edit.h and version_edit.cc of RocksDB 10.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from rowkey.engines.rocksdb_files.log_format import encode_log, read_records

_COMPARATOR, _LOG_NUMBER, _NEXT_FILE, _LAST_SEQUENCE, _COMPACT_CURSOR = 1, 2, 3, 4, 5
_DELETED_FILE, _PREVIOUS_LOG, _MIN_LOG, _NEW_FILE = 6, 9, 10, 103
_FAMILY, _FAMILY_ADD, _FAMILY_DROP, _MAX_FAMILY, _ATOMIC_GROUP = 200, 201, 202, 203, 300
_DATABASE_ID = 8193
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
    """A table file of RocksDB: sorted key-value pairs of one column family.

    Args:
        number: its number, which is its name.
        family_id: RocksDB's number of its column family.
        level: its level in the LSM tree.
        smallest: its first key.
        largest: its last key.
    """

    number: int
    family_id: int
    level: int
    size_bytes: int
    smallest: bytes
    largest: bytes

    @property
    def name(self) -> str:
        """Return the file name, such as `000012.sst`."""
        return f"{self.number:06}.sst"


@dataclass(slots=True)
class Manifest:
    """The files of a database and its first log, as its MANIFEST lists them.

    Args:
        families: the names of the column families by their numbers.
        files: the files of sorted pairs, by number.
        log_numbers: by column family, the first log that holds changes not yet in its files.
        next_file: a number above those of all files.
        last_sequence: the number of the last change known when it was written.
        database_id: the random id that RocksDB gave the database when it was created.
    """

    families: dict[int, str] = field(default_factory=dict)
    files: dict[int, TableFile] = field(default_factory=dict)
    log_numbers: dict[int, int] = field(default_factory=dict)
    next_file: int = 0
    last_sequence: int = 0
    database_id: str = ""

    @property
    def first_log(self) -> int:
        """Return the number of the first log that RocksDB reads on opening."""
        return min(self.log_numbers.values(), default=0)

    @property
    def newest_log(self) -> int:
        """Return the number of a log that must exist, as it was created before its entry here."""
        return max(self.log_numbers.values(), default=0)

    def apply_edit(self, edit: VersionEdit) -> None:
        """Add and remove the families and files that a version edit names."""
        number = edit.numbers.get(_FAMILY, 0)
        self.database_id = edit.database_id or self.database_id
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
    """One record of a MANIFEST: files and families that are added or removed.

    Args:
        numbers: numbers by their tags.
        family_name: the name of a column family that is added.
        drops_family: whether its column family is dropped.
        deleted_files: numbers of files that are taken out.
        remaining_in_group: how many edits follow that count together with it or not at all.
        database_id: the id of the database; empty if the record does not have it.
    """

    numbers: dict[int, int] = field(default_factory=dict)
    family_name: str | None = None
    drops_family: bool = False
    deleted_files: list[int] = field(default_factory=list)
    new_files: list[TableFile] = field(default_factory=list)
    remaining_in_group: int = 0
    database_id: str = ""


def parse_manifest(content: bytes) -> Manifest:
    """Parse the content of a MANIFEST file.

    Args:
        content: the content of the file, in which `log_format.find_damage` found nothing.

    Raises:
        InvalidEdit: a record is not a version edit.
    """
    manifest = Manifest(families={0: "default"})
    group: list[VersionEdit] = []
    for _, record in read_records(content):
        edit = _parse_edit(record)
        group.append(edit)
        if edit.remaining_in_group == 0:  # edits of one group count together or not at all
            for grouped_edit in group:
                manifest.apply_edit(grouped_edit)
            group = []
    return manifest


def remove_files(content: bytes, files: Iterable[TableFile]) -> bytes:
    """Return the content of a MANIFEST with a record added that removes some files.

    Args:
        content: the content of a MANIFEST in which `log_format.find_damage` found nothing.
        files: the files to remove from the database.
    """
    edits = [record for _, record in read_records(content)]
    for file in files:
        edit = (
            _encode_varint(_DELETED_FILE) + _encode_varint(file.level) + _encode_varint(file.number)
        )
        edits.append(edit + _encode_varint(_FAMILY) + _encode_varint(file.family_id))
    return encode_log(edits)


def _parse_edit(record: bytes) -> VersionEdit:
    reader, edit = _EditReader(record), VersionEdit()
    while not reader.is_at_end:
        _parse_field(reader, edit)
    family = edit.numbers.get(_FAMILY, 0)
    if family:
        edit.new_files = [replace(file, family_id=family) for file in edit.new_files]
    return edit


def _parse_field(reader: _EditReader, edit: VersionEdit) -> None:
    """Read the next field of a record, and store it in a version edit.

    Raises:
        InvalidEdit: the tag of the field is unknown, or the record ends within it.
    """
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
    elif tag == _DATABASE_ID:
        edit.database_id = reader.read_bytes().decode("utf-8", "replace")
    elif tag == _COMPACT_CURSOR:
        reader.read_varint()
        reader.read_bytes()
    elif tag == _COMPARATOR or tag & _IGNORABLE_TAG_BIT:
        reader.read_bytes()
    else:
        raise InvalidEdit(f"a record has the unknown tag {tag}")


def _parse_file(reader: _EditReader) -> TableFile:
    """Read the fields of a table file that a version edit adds.

    Raises:
        InvalidEdit: the record ends within the fields, or a key is too short.
    """
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
    """Encode a number as a varint, 7 bits in each byte."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


class _EditReader:
    """Reads numbers and byte strings from a version edit."""

    def __init__(self, data: bytes) -> None:
        self._data, self._offset = data, 0

    @property
    def is_at_end(self) -> bool:
        return self._offset == len(self._data)

    def read_varint(self) -> int:
        """Read a number of 7 bits in each byte.

        Raises:
            InvalidEdit: the record ends within the number, or it has more than 64 bits.
        """
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
        """Read a byte string with its length before it.

        Raises:
            InvalidEdit: the record ends within the string.
        """
        length = self.read_varint()
        if length > len(self._data) - self._offset:
            raise InvalidEdit(f"a record ends within a field of {length} bytes")
        self._offset += length
        return self._data[self._offset - length : self._offset]
