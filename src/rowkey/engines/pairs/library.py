"""The RocksDB library, loaded again in a process forked from one that has used it.

RocksDB works with threads, which a forked child does not inherit: there, the copy that the parent
has loaded waits forever for threads that are gone. A second copy of the library has threads of its
own. Names are therefore looked up here when they are used: `library.Rdict`, never imported alone.
"""

from __future__ import annotations

import ctypes
import os
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any

import rocksdict

from rowkey.errors import Unavailable

_NAMES = frozenset({
    "AccessType", "BlockBasedOptions", "DbClosedError", "DBCompressionType", "DBRecoveryMode",
    "Options", "Rdict", "ReadOptions", "WriteBatch", "WriteOptions",
})  # fmt: skip

fork_count = 0
"""Number of forks between the first process that loaded RocksDB and this one."""

_library: Any = rocksdict
"""The copy that works in this process; None until it is loaded."""


def __getattr__(name: str) -> Any:
    """Return a class of the RocksDB library that works in this process."""
    global _library  # noqa: PLW0603 - the process has one library
    if name not in _NAMES:
        raise AttributeError(name)
    if _library is None:
        _library = _load_copy()
    attribute = globals()[name] = getattr(_library, name)
    return attribute


def leak(resource: object) -> None:
    """Keep an object of the parent's RocksDB alive, so that a forked child never frees it.

    Freeing it would wait forever for threads of the parent.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(resource))


def _load_copy() -> Any:
    """Load a second copy of the RocksDB library, for a forked child process.

    Raises:
        Unavailable: the system is not Linux, and cannot load it from memory.
    """
    if sys.platform != "linux":
        what = (
            "this process was forked from a process with RocksDB, so it cannot use RocksDB itself"
        )
        remedy = 'Start processes with multiprocessing.get_context("spawn").'
        raise Unavailable("rocks", what, remedy=remedy)
    path = rocksdict.rocksdict.__file__
    file = os.memfd_create("rocksdict")
    with open(path, "rb") as library:  # noqa: PTH123 - a file descriptor is needed
        while os.sendfile(file, library.fileno(), None, 1 << 24):
            pass
    name = f"rocksdict_{fork_count}.rocksdict"  # its last part names the function that makes it
    loader = ExtensionFileLoader(name, f"/proc/self/fd/{file}")
    spec = spec_from_loader(name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _reset_after_fork() -> None:
    """Make a forked child load its own copy of RocksDB if its parent has used RocksDB."""
    global fork_count, _library
    if "Rdict" not in globals():
        return
    fork_count, _library = fork_count + 1, None
    for name in _NAMES:
        globals().pop(name, None)
    # On exit the parent's copy would wait for its threads: end the process before that.
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc["_exit"], None)


os.register_at_fork(after_in_child=_reset_after_fork)
