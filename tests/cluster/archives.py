"""Class data archives for the JVMs, so that five JVMs need not load the same 183 jars each time.

With them a start costs half the processor time. The JVM writes such an archive when it ends, which
takes seconds: the first cluster of a machine, often its only one, is spared that, the second one
writes them, all later ones are quick. Source: JEP 350, Dynamic CDS Archives.
"""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path

WRITERS = ("server1", "master", "zookeeper")
"""One process of each program, in the order in which they should end."""


class Archives:
    """The archives of one JVM and one class path.

    Args:
        java: the JVM; another one would not take them.
        folder: where they are kept, next to the class path they belong to.
    """

    def __init__(self, java: str, folder: Path) -> None:
        binary = Path(java).resolve()
        told = f"{binary} {binary.stat().st_mtime_ns}"
        self._folder = folder / f"archives-{sha256(told.encode()).hexdigest()[:8]}"

    def path(self, name: str) -> Path:
        """Return where the archive of a process is; all region servers share one."""
        return self._folder / f"{name.rstrip('0123456789')}.jsa"

    def flags(self, name: str) -> list[str]:
        """Return the JVM flags that use the archive of a process, if it exists."""
        path = self.path(name)
        return [f"-XX:SharedArchiveFile={path}"] if path.exists() else []

    def is_due(self) -> bool:
        """Return whether this start should write archives, which the second start does."""
        if all(self.path(name).exists() for name in WRITERS):
            return False
        if self._folder.exists():
            return True
        for old in self._folder.parents[1].glob("*/archives-*"):
            shutil.rmtree(old, ignore_errors=True)  # 150 MB for each state of the judge
        self._folder.mkdir(parents=True)
        return False

    def build_new_path(self, name: str) -> Path:
        """Return the path of an archive that a process of this run writes."""
        return self.path(name).with_suffix(f".{os.getpid()}")

    def keep(self) -> None:
        """Move the written archives into place, or none if a killed JVM has not written its own.

        Servers that start faster than their master give up.
        """
        written = [name for name in WRITERS if self.build_new_path(name).exists()]
        for name in written:
            if len(written) == len(WRITERS):
                self.build_new_path(name).replace(self.path(name))
            else:
                self.build_new_path(name).unlink()
