"""The folder in memory, where the system has one, for tables of property tests.

A thousand small tables on a disk need thousands of forced writes, which take most of the time of
such a test and prove nothing.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")
MIN_FREE_BYTES = 1 << 30
"""Bytes that must be free, because a container may have only 64 MiB there."""


def find_ram_folder() -> str | None:
    """Return a folder in memory for `TemporaryDirectory`; None for the default folder.

    >>> find_ram_folder() in (None, "/dev/shm")
    True
    """
    if (
        not os.access(_SHARED_MEMORY, os.W_OK)
        or shutil.disk_usage(_SHARED_MEMORY).free < MIN_FREE_BYTES
    ):
        return None
    return str(_SHARED_MEMORY)


RAM_FOLDER = find_ram_folder()
