"""The way out for a table whose log is damaged: what precedes the damage is kept, no more."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.engines.rocksdb.files import Files, read_only
from rowkey.engines.rocksdb.ledger import Ledger, read_spec
from rowkey.engines.rocksdb.wal import find_damage, last_change, logs_in
from rowkey.errors import Unsupported

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger("rowkey.engines.rocks")
_LOG.addHandler(logging.NullHandler())  # where nobody listens, the caller tells what was done

ASIDE = "cut"
"""The folder in a table's directory that keeps what was cut from its logs."""


@dataclass(frozen=True, slots=True)
class Examined:
    """What is wrong with one table, before anything is done.

    Args:
        table: its directory's name.
        log: the first log that is damaged, or an empty string.
        at: the byte at which the damage begins.
        what: what it is, in words.
        bytes_behind: bytes of this log from there on and of those after it: what `mend` cuts.
        broken: why the table does not open although no log is damaged, or an empty string.
    """

    table: str
    log: str = ""
    at: int = 0
    what: str = ""
    bytes_behind: int = 0
    broken: str = ""

    def __str__(self) -> str:
        """One sentence for people."""
        if self.broken:
            return f"{self.table}: it cannot be mended. {self.broken}"
        if not self.log:
            return f"{self.table}: no log is damaged."
        return (
            f"{self.table}: {self.log} is damaged at byte {self.at:,}: {self.what}. "
            f"A repair moves the {self.bytes_behind:,} bytes from there on to {ASIDE}/ and keeps "
            f"what stands before."
        )


@dataclass(frozen=True, slots=True)
class Mended:
    """What was done to one table.

    Args:
        table: its directory's name.
        log: the log that was cut, or an empty string if none was damaged.
        at: the byte from which on it was cut.
        bytes_cut: bytes set aside, of this log and of those after it.
        batches: number of the last batch that is kept; batches are numbered from 1.
        changes_cut: changes of single cells and counters that were cut, as far as the log tells.
        broken: why the table does not open all the same, or an empty string.
    """

    table: str
    log: str = ""
    at: int = 0
    bytes_cut: int = 0
    batches: int = 0
    changes_cut: int = 0
    broken: str = ""

    def __str__(self) -> str:
        """One sentence for people."""
        if self.broken:
            cut = f"{self.log} was cut at byte {self.at:,}, but " if self.log else ""
            return f"{self.table}: {cut}it cannot be mended. {self.broken}"
        if not self.log:
            return f"{self.table}: nothing is damaged; {self.batches:,} batches are there."
        return (
            f"{self.table}: {self.log} was cut at byte {self.at:,}; {self.batches:,} batches are "
            f"kept, {self.bytes_cut:,} bytes with {self.changes_cut:,} or more changes were moved "
            f"to {ASIDE}/."
        )


def examine(directory: Path) -> Examined:
    """Read the logs of a table that is closed, and the rest if they are sound; change nothing.

    Args:
        directory: the table's.

    Cost: 0.1 µs a byte of the log.
    """
    damaged = _damaged(directory)
    if damaged is not None:
        return damaged
    try:
        with read_only(directory) as meta:
            read_spec(meta, directory)
            Ledger.read(meta)
    except Unsupported as problem:
        return Examined(directory.name, broken=str(problem))
    return Examined(directory.name)


def _damaged(directory: Path) -> Examined | None:
    """The first damage in the logs of a table, or None."""
    logs = logs_in(directory)
    for place, log in enumerate(logs):
        content = log.read_bytes()
        damage = find_damage(content, thorough=True)
        if damage is not None:
            later = sum(path.stat().st_size for path in logs[place + 1 :])
            behind = len(content) - damage.at + later
            return Examined(directory.name, log.name, damage.at, damage.what, behind)
    return None


def mend(directory: Path) -> Mended:
    """Cut the log of a table that is closed where it is damaged, and open the table once.

    What is kept is every batch up to the damage and nothing behind it, so no hole is left.

    Args:
        directory: the table's.

    Returns:
        What was done; `broken` if the table does not open, for damage elsewhere than in a log.

    Cost: 0.1 µs a byte of the log.
    """
    logs = logs_in(directory)
    before = max((last_change(log.read_bytes()) for log in logs), default=0)
    name, at, size = _cut(directory, logs)
    try:
        after, batches = _opened_once(directory)
    except Unsupported as problem:
        mended = Mended(directory.name, name, at, size, broken=str(problem))
    else:
        cut = max(0, before - after) if name else 0
        mended = Mended(directory.name, name, at, size, batches, cut)
    _LOG.warning("%s", mended)
    return mended


def _opened_once(directory: Path) -> tuple[int, int]:
    """The numbers of the last change and the last batch, which are in files from now on."""
    files = Files.open(directory, repair=True)
    try:
        files.flush()
        return files.meta.latest_sequence_number(), Ledger.read(files.meta).sequence
    finally:
        files.close()


def _cut(directory: Path, logs: list[Path]) -> tuple[str, int, int]:
    """Set aside what follows the first damage: the log, where, and how many bytes.

    The copies are on disk before anything is cut, so that a crash in between loses nothing.
    """
    found = _damaged(directory)
    if found is None:
        return "", 0, 0
    aside = directory / ASIDE
    aside.mkdir(exist_ok=True)
    log = directory / found.log
    with (aside / f"{log.name}.{found.at}").open("wb") as kept:
        kept.write(log.read_bytes()[found.at :])
        kept.flush()
        os.fsync(kept.fileno())
    for path in logs[logs.index(log) + 1 :]:
        path.rename(aside / path.name)
    with log.open("r+b") as file:
        file.truncate(found.at)
    return found.log, found.at, found.bytes_behind
