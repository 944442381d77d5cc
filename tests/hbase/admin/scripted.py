"""A master that answers what a test scripts, and notes what it was asked; no socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.hbase.calling import Caller
from rowkey.hbase.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.hbase.locations import Region
    from rowkey.hbase.messages.contract import Request
    from rowkey.hbase.settings import Deadline


class Places:
    """Regions that are always the same."""

    def __init__(self, regions: Sequence[Region] = ()) -> None:
        self.listed = list(regions)

    def regions(self, table: str, deadline: Deadline) -> list[Region]:
        """All of them."""
        return self.listed

    def forget_table(self, table: str) -> None:
        """Nothing is remembered."""


class Scripted(Caller):
    """Answers by the method of a request: with a value, or with what a function makes of it.

    Args:
        answers: by the method's name; each list is given out in its order, its last for ever.
        regions: what a listing of hbase:meta gives.
    """

    def __init__(self, answers: dict[str, list[Any]], regions: Sequence[Region] = ()) -> None:
        self.settings = Settings()
        self.asked: list[Any] = []
        self._answers = answers
        self.locations: Any = Places(regions)

    def _answer(self, request: Request[Any]) -> Any:
        self.asked.append(request)
        script = self._answers.get(request.method)
        if not script:
            raise Refused("test", f"{request.method} was sent")
        answer = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(answer, Exception):
            raise answer
        called: Callable[[Any], Any] | None = answer if callable(answer) else None
        return called(request) if called else answer

    def on_master(self, request: Request[Any], deadline: Deadline | None = None) -> Any:
        return self._answer(request)

    def on_server(
        self, address: tuple[str, int], request: Request[Any], deadline: Deadline | None = None
    ) -> Any:
        return self._answer(request)

    def on_row(
        self, table: str, row: bytes, request: Request[Any], deadline: Deadline | None = None
    ) -> Any:
        return self._answer(request)

    @property
    def methods(self) -> list[str]:
        """The methods that were asked, in their order."""
        return [request.method for request in self.asked]
