"""The interface of a cause of read hot spots, recognised in the load of one declared read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from rowkey.hotspots.read_load_result import ReadCauseFinding, ReadLoadResult


class ReadCause(ABC):
    """A known reason why the servers have too much to do for a declared read."""

    name: ClassVar[str]
    concerns_even_load: ClassVar[bool] = False
    """Whether it is about what an answer costs, so that it is reported if no server is busier than
    others."""

    @classmethod
    @abstractmethod
    def recognise(cls, result: ReadLoadResult) -> ReadCauseFinding | None:
        """Return the cause if the load of a read shows it; else None.

        Its message must hold no values of fields, because reports that hide values show it.
        """
