"""The faults of the matrix: what happens to an object at rest, or to a call that uses it."""

from __future__ import annotations

import errno
import os
import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

SECTOR_BYTES = 512


@dataclass(frozen=True)
class DamagedFile:
    """A file to damage.

    Args:
        path: the file.
        earlier_copies: the same file, or one of its type, as it was at earlier times.
        other_copies: the files of that type of another table or portal, made alike.
    """

    path: Path
    earlier_copies: tuple[Path, ...] = ()
    other_copies: tuple[Path, ...] = ()


class Fault(ABC):
    """A type of fault; `FAULTS` has one of each."""

    name: ClassVar[str]
    """As the command line and the page name it."""
    is_at_rest: ClassVar[bool] = False
    """Whether it changes bytes only; others need a C library whose calls fail."""
    weight: ClassVar[float] = 1.0
    """How often it is tried, compared with other faults."""


class FaultAtRest(Fault):
    """A fault that changes the bytes of an object while nothing uses it."""

    is_at_rest = True

    @abstractmethod
    def damage(self, file: DamagedFile, random: Random) -> bool:
        """Damage a file; return whether it has changed."""


class ChangedBytes(FaultAtRest):
    """A fault that changes the content of a file that is not empty."""

    def damage(self, file: DamagedFile, random: Random) -> bool:
        """Change the content."""
        before = file.path.read_bytes()
        after = bytes(self.change(bytearray(before), random)) if before else before
        file.path.write_bytes(after)
        return before != after

    @abstractmethod
    def change(self, content: bytearray, random: Random) -> bytearray:
        """Return other content; it may be the given object."""


class BitFlip(ChangedBytes):
    """One bit is another one."""

    name, weight = "bit-flip", 4.0

    def change(self, content: bytearray, random: Random) -> bytearray:
        """Flip a bit."""
        content[int(random.random() * len(content))] ^= 1 << random.randrange(8)
        return content


class ZeroedSector(ChangedBytes):
    """A sector of 512 bytes is zero, or as many or less from any byte on."""

    name, weight = "zeroed-sector", 2.0

    def change(self, content: bytearray, random: Random) -> bytearray:
        """Zero a sector."""
        at = int(random.random() * len(content))
        if random.random() < 0.5:
            start, stop = at // SECTOR_BYTES * SECTOR_BYTES, (at // SECTOR_BYTES + 1) * SECTOR_BYTES
        else:
            start, stop = at, at + random.randint(1, SECTOR_BYTES)
        stop = min(stop, len(content))
        content[start:stop] = bytes(stop - start)
        return content


class Truncation(ChangedBytes):
    """The end is missing."""

    name, weight = "truncation", 2.0

    def change(self, content: bytearray, random: Random) -> bytearray:
        """Cut off the end."""
        return content[: int(random.random() * len(content))]


class MisdirectedBlock(ChangedBytes):
    """A block of the file was written over another place of it."""

    name, weight = "misdirected-block", 2.0

    def change(self, content: bytearray, random: Random) -> bytearray:
        """Write a block elsewhere."""
        size = min(SECTOR_BYTES, max(1, len(content) // 4))
        source, target = (int(random.random() * (len(content) // size)) * size for _ in range(2))
        block = content[source : source + size]
        content[target : target + len(block)] = block
        return content


class Loss(FaultAtRest):
    """The file is missing."""

    name, weight = "loss", 0.2

    def damage(self, file: DamagedFile, random: Random) -> bool:
        """Remove the file."""
        file.path.unlink()
        return True


class StaleCopy(FaultAtRest):
    """The file is as it was earlier."""

    name, weight = "stale-copy", 0.5

    def damage(self, file: DamagedFile, random: Random) -> bool:
        """Put an earlier version in its place."""
        return _replace_file(file.path, file.earlier_copies, random)


class OtherCopy(FaultAtRest):
    """The file is that of another table or portal, which was made alike."""

    name, weight = "anothers-copy", 0.5

    def damage(self, file: DamagedFile, random: Random) -> bool:
        """Put the file of another one in its place."""
        return _replace_file(file.path, file.other_copies, random)


def _replace_file(path: Path, copies: tuple[Path, ...], random: Random) -> bool:
    content = path.read_bytes()
    different = [copy for copy in copies if copy.read_bytes() != content]
    if different:
        shutil.copyfile(random.choice(different), path)
    return bool(different)


class StrangeFile(FaultAtRest):
    """A link, a pipe, a folder or a device is in the place of the file."""

    name, weight = "no-file", 0.5

    def damage(self, file: DamagedFile, random: Random) -> bool:
        """Put something else in its place."""
        path, aside = file.path, file.path.with_name("aside")
        kind = random.choice(["pipe", "folder", "endless link", "broken link", "looped link"])
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            targets: dict[str, str | Path] = {
                "endless link": "/dev/zero",
                "broken link": aside,
                "looped link": path,
            }
            path.symlink_to(targets[kind])
        return True


class FaultInUse(Fault):
    """A fault of calls of the operating system while an object is used."""

    calls: ClassVar[str]
    """Which calls: one of `shim.MODES`."""
    error: ClassVar[int]
    """The error of the call; 0 where the process is killed."""


class ReadError(FaultInUse):
    """A read fails."""

    name, calls, error = "read-error", "reads", errno.EIO


class WriteError(FaultInUse):
    """A write or the creation of a file fails."""

    name, calls, error = "write-error", "writes", errno.EIO


class NoSpace(FaultInUse):
    """A write or the creation of a file finds no space."""

    name, calls, error = "no-space", "writes", errno.ENOSPC


class SyncError(FaultInUse):
    """A sync fails."""

    name, calls, error = "sync-error", "syncs", errno.EIO


class RenameError(FaultInUse):
    """A rename or a removal fails."""

    name, calls, error = "rename-error", "renames", errno.EIO


class Crash(FaultInUse):
    """The process is killed before a change of the disk, or in the middle of a write."""

    name, calls, error, weight = "crash", "kills", 0, 2.0


class SecondFault(Fault):
    """A file is damaged, and the recovery from that is killed or fails at one of its calls.

    Then the recovery is tried again.
    """

    name, weight = "fault-in-recovery", 2.0
    first: ClassVar[tuple[FaultAtRest, ...]] = (BitFlip(), ZeroedSector(), Truncation(), Loss())
    second: ClassVar[tuple[FaultInUse, ...]] = (
        Crash(), NoSpace(), ReadError(), SyncError(), RenameError()
    )  # fmt: skip


FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        BitFlip(), ZeroedSector(), Truncation(), MisdirectedBlock(), Loss(), StaleCopy(),
        OtherCopy(), StrangeFile(), ReadError(), WriteError(), NoSpace(), SyncError(),
        RenameError(), Crash(), SecondFault(),
    )
}  # fmt: skip
"""Each fault by its name, in the order of the page."""
