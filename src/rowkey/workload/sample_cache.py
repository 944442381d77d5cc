"""The parsed rows of a sample file, kept beside it so that the next command need not parse it."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from rowkey.durable_files import open_regular_file
from rowkey.stored_messages import iter_messages, restore_messages
from rowkey.workload.batch_store import BatchStore
from rowkey.workload.parsed_rows import ParsedRows
from rowkey.workload.records import SkippedRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.workload.contract import SampleFormat

CACHE_FOLDER = ".rowkey-cache"
"""The folder beside a sample that holds its parsed rows."""
MIN_FILE_BYTES = 1 << 22
"""Bytes of a file below which its rows are not kept: they are parsed in a moment."""
MAX_ENTRY_BYTES = 1 << 29
"""Bytes of parsed rows above which they are not kept."""
MAX_FOLDER_BYTES = 1 << 30
"""Bytes of all that a folder keeps; what was not used for longest goes first."""
_SUFFIX = ".rows"
_METADATA_KEY = b"rowkey"
_DIGEST_BYTES = 32
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

    It follows from the name and content of the file, the options that decide which rows it has, and
    the code that parses it: what was changed is not found. Rows that are damaged, or cannot be read
    or written, are as good as none.

    Args:
        path: the file.
        sample_format: how it is read, with what was detected of it.

    Raises:
        OSError: the file cannot be read.

    Cost: one pass over the bytes of the file: 1.1 s of the processor for each gigabyte, if it has
    instructions for SHA.
    """

    def __init__(self, path: Path, sample_format: SampleFormat) -> None:
        self._path = path
        self._format = sample_format
        self._file_state = _read_state(path)
        key = sha256(_hash_parsers())
        options = [path.name, sample_format.name, sample_format.reading_options]
        key.update(json.dumps(options, sort_keys=True, default=str).encode())
        with open_regular_file(path, os.O_RDONLY, "rb") as file:
            while chunk := file.read(1 << 20):
                key.update(chunk)
        self._kept_path = path.parent / CACHE_FOLDER / f"{key.hexdigest()}{_SUFFIX}"

    @classmethod
    def find(cls, path: Path, sample_format: SampleFormat) -> SampleCache | None:
        """Return the place for the rows of a file; None if they are not to be kept."""
        if not _IS_ALLOWED.get() or sample_format.is_columnar:
            return None
        with suppress(OSError):
            if path.is_file() and path.stat().st_size >= MIN_FILE_BYTES:
                sample_format.detect_options(path)
                return cls(path, sample_format)
        return None

    def load(self) -> ParsedRows | None:
        """Return the rows that are kept, mapped into memory; None if there are none."""
        import pyarrow as pa

        try:
            open_regular_file(self._kept_path, os.O_RDONLY, "rb").close()
            content = pa.memory_map(str(self._kept_path)).read_buffer()
            end = content.size - _DIGEST_BYTES
            if end <= 0 or _hash_content(content.slice(0, end)) != content.slice(end).to_pybytes():
                return None
            os.utime(self._kept_path)
        except OSError:
            return None
        reader = pa.ipc.open_stream(content.slice(0, end))
        notes = json.loads(reader.schema.metadata[_METADATA_KEY])
        batches = BatchStore(MAX_ENTRY_BYTES)
        for batch in reader:
            batches.append(batch.replace_schema_metadata(None))
        restore_messages(notes["assumptions"], notes["messages"])
        known = self._format.assumptions
        known += [one for one in notes["assumptions"] if one not in known]
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
            is_kept = 0 < rows.batches.byte_count <= MAX_ENTRY_BYTES
            if is_kept and _read_state(self._path) == self._file_state:
                self._write(rows)
                self._remove_oldest()

    def _write(self, rows: ParsedRows) -> None:
        """Write rows under another name first; only this user can read them."""
        import pyarrow as pa

        schemas = {batch.schema for batch in rows.batches}
        if len(schemas) > 1:
            return
        notes = {
            "assumptions": self._format.assumptions,
            "messages": iter_messages(self._format.assumptions),
            "skipped_rows": [(one.count, one.problems) for one in rows.skipped_rows],
            "has_all_columns": rows.has_all_columns,
            "unreadable_columns": dict(rows.unreadable_columns),
        }
        metadata = {_METADATA_KEY: json.dumps(notes)}
        schema = schemas.pop().with_metadata(metadata)
        folder = self._kept_path.parent
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / ".gitignore").write_text("*\n")
        number, name = mkstemp(_SUFFIX, dir=folder)
        written = Path(name)
        try:
            with os.fdopen(number, "wb") as file:
                with pa.ipc.new_stream(file, schema) as writer:
                    for batch in rows.batches:
                        writer.write_batch(batch)
                file.flush()
                file.write(_hash_content(pa.memory_map(name).read_buffer()))
            written.replace(self._kept_path)
        finally:
            written.unlink(missing_ok=True)

    def _remove_oldest(self) -> None:
        """Remove what was not used for longest until the folder is within its limit."""
        kept = []
        for path in self._kept_path.parent.glob(f"*{_SUFFIX}"):
            with suppress(FileNotFoundError):  # another command may remove it at this moment
                state = path.stat()
                kept.append((state.st_mtime, state.st_size, path))
        total = sum(size for _, size, _ in kept)
        for _, size, path in sorted(kept):
            if total <= MAX_FOLDER_BYTES:
                break
            path.unlink(missing_ok=True)
            total -= size


def _read_state(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is written or replaced."""
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def _hash_content(content: Any) -> bytes:
    """Return the checksum of the rows that are kept."""
    return sha256(content).digest()


@cache
def _hash_parsers() -> bytes:
    """Return what changes with the modules that parse samples."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return sha256(repr([(one.name, _read_state(one)) for one in files]).encode()).digest()
