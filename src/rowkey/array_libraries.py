"""NumPy and Arrow, imported where one of their names is first used.

They take a fifth of a second, which a command that reads no rows does not wait for.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np", "pa", "pc"]


class _LaterModule(ModuleType):
    """A module that is imported when one of its names is first used."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        self.__dict__.update(vars(module))
        return getattr(module, name)


if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    np, pa, pc = map(_LaterModule, ("numpy", "pyarrow", "pyarrow.compute"))
