"""The parsed rows of a sample file, kept beside it so that the next command need not parse it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR
from tempfile import mkstemp
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa
from rowkey.durable_files import open_regular_file
from rowkey.stored_messages import iter_messages, restore_messages
from rowkey.workload.batch_store import BatchStore
from rowkey.workload.parsed_rows import ParsedRows
from rowkey.workload.records import SkippedRows

if TYPE_CHECKING:
    from rowkey.workload.contract import SampleFormat

CACHE_FOLDER = ".rowkey-cache"
"""The folder beside a sample that holds its parsed rows."""
MIN_ENTRY_BYTES = 1 << 22
"""Bytes of parsed rows below which they are not kept: they are parsed in a moment."""
MAX_ENTRY_BYTES = 1 << 29
"""Bytes of parsed rows above which they are not kept."""
MAX_FOLDER_BYTES = 1 << 30
"""Bytes of all that a folder keeps; what was not used for longest goes first."""
_SUFFIX = ".rows"
_METADATA_KEY = b"rowkey"
_DIGEST_BYTES = 32
_PACKAGE = Path(__file__).parent
_IS_ALLOWED: ContextVar[bool] = ContextVar("is_sample_cache_allowed", default=False)


@contextmanager
def allow_sample_cache(*, is_allowed: bool) -> Iterator[None]:
    """Say whether parsed samples are kept in a folder beside them, and taken from it, meanwhile.

    Otherwise they are not: of a library that is asked to read a file nobody expects that it writes.
    """
    token = _IS_ALLOWED.set(is_allowed)
    try:
        yield
    finally:
        _IS_ALLOWED.reset(token)


class SampleCache:
    """The place beside a file where its rows are kept, parsed in one way.

    It follows from the name of the file, the options that decide which rows it has, and the code
    that parses it; rows of another content are not taken. Rows that are damaged, or cannot be read
    or written, are as good as none.

    Args:
        sample_format: how it is read, with what was detected of it.

    Raises:
        OSError: the file cannot be read.

    Cost: one pass over the bytes of the file where rows are kept or taken: 1.1 s of the processor
    for each gigabyte, if it has instructions for SHA.
    """

    def __init__(self, path: Path, sample_format: SampleFormat) -> None:
        self._path = path
        self._format = sample_format
        self._file_state = _read_state(path)
        self._folder = path.parent / CACHE_FOLDER

    @classmethod
    def find(cls, path: Path, sample_format: SampleFormat) -> SampleCache | None:
        """Return the place for the rows of a file; None if they are not to be kept."""
        if not _IS_ALLOWED.get() or sample_format.is_columnar:
            return None
        if not type(sample_format).__module__.startswith(f"{__package__}."):
            return None  # nothing tells whether the code of another package was changed
        with suppress(OSError):
            if path.is_file():
                sample_format.detect_options(path)
                return cls(path, sample_format)
        return None

    @cached_property
    def _rows_path(self) -> Path:
        options = [self._path.name, self._format.name, self._format.reading_options]
        key = sha256(_hash_parsers() + json.dumps(options, default=repr).encode())
        return self._folder / f"{key.hexdigest()}{_SUFFIX}"

    def load(self) -> ParsedRows | None:
        """Return the rows that are kept, mapped into memory; None if there are none."""
        try:
            if not _is_own_folder(self._folder):
                return None
            open_regular_file(self._rows_path, os.O_RDONLY, "rb").close()
            content = pa.memory_map(str(self._rows_path)).read_buffer()
            end = max(content.size - _DIGEST_BYTES, 0)
            kept = content.slice(0, end)
            if not end or sha256(kept).digest() != content.slice(end).to_pybytes():
                return None
            reader = pa.ipc.open_stream(kept)
            notes = json.loads(reader.schema.metadata[_METADATA_KEY])
            if notes["place"] != self._rows_path.name or notes["file"] != self._hash_file():
                return None
        except OSError:
            return None
        with suppress(OSError):  # a file system may be read-only
            os.utime(self._rows_path)
        batches = BatchStore(MAX_ENTRY_BYTES)
        for batch in reader:
            batches.append(batch.replace_schema_metadata(None))
        restore_messages(notes["assumptions"], notes["messages"])
        for sentence in notes["assumptions"]:
            self._format.note_assumption(sentence)
        skipped_rows = [
            SkippedRows(count, [(row, problem) for row, problem in problems])
            for count, problems in notes["skipped_rows"]
        ]
        return ParsedRows(
            batches,
            skipped_rows,
            reader.schema.names,
            notes["has_all_columns"],
            notes["unreadable_columns"],
        )

    def save(self, rows: ParsedRows) -> None:
        """Keep the rows of the file, unless it was changed while they were read."""
        with suppress(OSError):
            if MIN_ENTRY_BYTES <= rows.batches.byte_count <= MAX_ENTRY_BYTES:
                file_hash = self._hash_file()
                if _read_state(self._path) == self._file_state:
                    self._write(rows, file_hash)
                    self._remove_oldest()

    def _hash_file(self) -> str:
        checksum = sha256()
        with open_regular_file(self._path, os.O_RDONLY, "rb") as file:
            while chunk := file.read(1 << 20):
                checksum.update(chunk)
        return checksum.hexdigest()

    def _write(self, rows: ParsedRows, file_hash: str) -> None:
        """Write rows under another name first; only this user can read them."""
        schemas = {batch.schema for batch in rows.batches}
        if len(schemas) > 1:
            return
        # What was detected of the options is detected again, unless the next command declares it.
        option_assumptions = self._format.option_assumptions
        assumptions = [one for one in self._format.assumptions if one not in option_assumptions]
        notes = {
            "place": self._rows_path.name,
            "file": file_hash,
            "assumptions": assumptions,
            "messages": iter_messages(assumptions),
            "skipped_rows": [(one.count, one.problems) for one in rows.skipped_rows],
            "has_all_columns": rows.has_all_columns,
            "unreadable_columns": dict(rows.unreadable_columns),
        }
        schema = schemas.pop().with_metadata({_METADATA_KEY: json.dumps(notes)})
        self._folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_own_folder(self._folder):
            return
        (self._folder / ".gitignore").write_text("*\n")
        number, name = mkstemp(_SUFFIX, dir=self._folder)
        written = Path(name)
        try:
            with os.fdopen(number, "wb") as file:
                with pa.ipc.new_stream(file, schema) as writer:
                    for batch in rows.batches:
                        writer.write_batch(batch)
                file.flush()
                file.write(sha256(pa.memory_map(name).read_buffer()).digest())
            written.replace(self._rows_path)
        finally:
            written.unlink(missing_ok=True)

    def _remove_oldest(self) -> None:
        """Remove what was not used for longest until the folder is within its limit."""
        kept = []
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with suppress(FileNotFoundError):  # another command may remove it at this moment
                state = path.stat()
                kept.append((state.st_mtime, state.st_size, path))
        total = sum(size for _, size, _ in kept)
        for _, size, path in sorted(kept):
            if total <= MAX_FOLDER_BYTES:
                break
            path.unlink(missing_ok=True)
            total -= size


def _is_own_folder(folder: Path) -> bool:
    """Return whether a folder is this user's, and no link: others may have put it beside a file.

    Raises:
        OSError: there is none.
    """
    state = folder.lstat()
    return S_ISDIR(state.st_mode) and state.st_uid == os.geteuid()


def _read_state(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is written or replaced."""
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


@cache
def _hash_parsers() -> bytes:
    """Return what changes with the code that parses samples."""
    files = sorted([*_PACKAGE.parent.glob("*.py"), *_PACKAGE.rglob("*.py")])
    states = [(one.name, _read_state(one)) for one in files]
    return sha256(repr([states, pa.__version__, sys.version]).encode()).digest()
