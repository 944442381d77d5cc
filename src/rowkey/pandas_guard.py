"""The import of pandas by pyarrow, which neither commands nor jobs of the portal need.

Where pandas is installed, pyarrow imports it at the first value or array that it converts: a third
of a second of each process that reads a sample or a table. pyarrow has no option against it, but
goes on without pandas where the import fails.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class PandasGuard:
    """An import finder by which pandas is not installed, unless a plugin may use it."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Raise an error where pandas is imported; leave all other modules to the next finder."""
        del path, target
        if fullname != "pandas":
            return
        from rowkey.plugins import has_external_plugins

        if not has_external_plugins():
            problem = "rowkey starts faster without pandas"
            raise ModuleNotFoundError(problem, name=fullname)


@contextmanager
def skip_pandas() -> Iterator[None]:
    """Keep pyarrow from importing pandas in the `with` block.

    pyarrow then does not try again by itself, also after the block, but still takes DataFrames.
    """
    guard = PandasGuard()
    sys.meta_path.insert(0, guard)
    try:
        yield
    finally:
        sys.meta_path.remove(guard)
