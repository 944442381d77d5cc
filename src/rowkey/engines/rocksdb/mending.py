"""The way out for a table whose log is damaged: what precedes the damage is kept, no more."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.engines.rocksdb.files import Files
from rowkey.engines.rocksdb.ledger import Ledger
from rowkey.engines.rocksdb.wal import find_damage, last_change, logs_in

if TYPE_CHECKING:
    from pathlib import Path

_LOG = logging.getLogger("rowkey.engines.rocks")
_LOG.addHandler(logging.NullHandler())  # where nobody listens, the caller tells what was done

ASIDE = "cut"
"""The folder in a table's directory that keeps what was cut from its logs."""


@dataclass(frozen=True, slots=True)
class Examined:
    """What is wrong with the logs of one table, before anything is done.

    Args:
        table: its directory's name.
        log: the first log that is damaged, or an empty string.
        at: the byte at which the damage begins.
        what: what it is, in words.
        bytes_behind: bytes of this log from there on and of those after it: what `mend` cuts.
    """

    table: str
    log: str = ""
    at: int = 0
    what: str = ""
    bytes_behind: int = 0

    def __str__(self) -> str:
        """One sentence for people."""
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
    """

    table: str
    log: str
    at: int
    bytes_cut: int
    batches: int
    changes_cut: int

    def __str__(self) -> str:
        """One sentence for people."""
        if not self.log:
            return f"{self.table}: nothing is damaged; {self.batches:,} batches are there."
        return (
            f"{self.table}: {self.log} was cut at byte {self.at:,}; {self.batches:,} batches are "
            f"kept, {self.bytes_cut:,} bytes with {self.changes_cut:,} or more changes were moved "
            f"to {ASIDE}/."
        )


def examine(directory: Path) -> Examined:
    """Read the logs of a table that is closed, and change nothing.

    Args:
        directory: the table's.

    Cost: 0.1 µs a byte of the log.
    """
    logs = logs_in(directory)
    for place, log in enumerate(logs):
        content = log.read_bytes()
        damage = find_damage(content, thorough=True)
        if damage is not None:
            later = sum(path.stat().st_size for path in logs[place + 1 :])
            behind = len(content) - damage.at + later
            return Examined(directory.name, log.name, damage.at, damage.what, behind)
    return Examined(directory.name)


def mend(directory: Path) -> Mended:
    """Cut the log of a table that is closed where it is damaged, and open the table once.

    What is kept is every batch up to the damage and nothing behind it, so no hole is left.

    Args:
        directory: the table's.

    Raises:
        Unsupported: another process has it, or something else than the log is damaged.

    Cost: 0.1 µs a byte of the log.
    """
    logs = logs_in(directory)
    before = max((last_change(log.read_bytes()) for log in logs), default=0)
    name, at, size = _cut(directory, logs)
    files = Files.open(directory, repair=True)
    try:
        files.flush()
        after = files.meta.latest_sequence_number()
        batches = Ledger.read(files.meta).sequence
    finally:
        files.close()
    mended = Mended(directory.name, name, at, size, batches, max(0, before - after) if name else 0)
    _LOG.warning("%s", mended)
    return mended


def _cut(directory: Path, logs: list[Path]) -> tuple[str, int, int]:
    """Set aside what follows the first damage: the log, where, and how many bytes.

    The copies are on disk before anything is cut, so that a crash in between loses nothing.
    """
    found = examine(directory)
    if not found.log:
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
