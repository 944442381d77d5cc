"""Where properties put tables that need not last: a folder in memory, where the system has one.

A thousand small tables on a disk are a thousand times some forced writes, which is most of the time
that such a property takes, and nothing of what it tells.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_USUAL = Path("/dev/shm")
ENOUGH = 1 << 30
"""Bytes that must be free: a container may have 64 MiB there."""


def folder() -> str | None:
    """The folder, to be given to `TemporaryDirectory`; None for the usual one.

    >>> folder() in (None, "/dev/shm")
    True
    """
    if not os.access(_USUAL, os.W_OK) or shutil.disk_usage(_USUAL).free < ENOUGH:
        return None
    return str(_USUAL)


RAM = folder()
