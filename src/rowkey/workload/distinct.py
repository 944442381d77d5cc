"""How many different things a stream holds, counted in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.schema import RowCounts

if TYPE_CHECKING:
    import numpy as np

ROOM = 1 << 19
"""Different things kept. Of fewer the count is exact, unless a limit was set ahead; of more it is
right to about 0.2 %."""


class Distinct:
    """Counts different fingerprints, and how many came in all.

    Keeps the fingerprints below a limit that is halved whenever too many are kept.

    Args:
        room: fingerprints kept.
        expected: how many will come, if that is known: a limit that fits the end is then set as
            soon as the first fingerprints tell how few of them repeat.

    Source: Wegman's adaptive sampling, analysed by Flajolet, Computing 43 (1990).
    Cost: 5 to 40 ns an event, least where few things repeat or very many are different.
    """

    def __init__(self, room: int = ROOM, expected: int = 0) -> None:
        import numpy as np

        self.room = room
        self.expected = expected
        self.seen = 0
        self.level = 0
        self._kept = np.empty(0, np.uint64)
        self._times = np.empty(0, np.int64)
        self._new: list[np.ndarray[Any, Any]] = []
        self._pending = 0

    def add(self, fingerprints: np.ndarray[Any, Any]) -> None:
        """Look at the fingerprints of the next events."""
        import numpy as np

        self.seen += len(fingerprints)
        if self.level:
            fingerprints = fingerprints[fingerprints < np.uint64(1 << 64 - self.level)]
        self._new.append(fingerprints)
        self._pending += len(fingerprints)
        if self._pending > self.room:
            self._settle()

    def _settle(self) -> None:
        """Fold what is new into what is kept, and lower the limit if that is too much."""
        import numpy as np

        if not self._pending:
            return
        ordered = np.sort(np.concatenate(self._new))
        self._new, self._pending = [], 0
        firsts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        self._merge(ordered[firsts], np.diff(firsts, append=len(ordered)))
        while self._is_too_much():
            self.level += 1
            below = self._kept < np.uint64(1 << 64 - self.level)
            self._kept, self._times = self._kept[below], self._times[below]

    def _is_too_much(self) -> bool:
        """Whether more is kept than there is room for, or would be once all that comes has come.

        That many different things come at first tells little of what is to come, so that a limit is
        set ahead only where most differ, and only so low that most of the room would be filled.
        """
        kept, seen = len(self._kept), int(self._times.sum())
        if kept > self.room:
            return True
        at_the_end = kept * max(self.expected / max(self.seen, 1), 1.0)
        return 2 * kept > seen and at_the_end > 2 * self.room

    def _merge(self, found: np.ndarray[Any, Any], times: np.ndarray[Any, Any]) -> None:
        """Add fingerprints, ascending and distinct, to those that are kept."""
        import numpy as np

        spots = np.searchsorted(self._kept, found)
        is_known = np.zeros(len(found), np.bool_)
        inside = spots < len(self._kept)
        is_known[inside] = self._kept[spots[inside]] == found[inside]
        self._times[spots[is_known]] += times[is_known]
        every = np.concatenate([self._kept, found[~is_known]])
        order = np.argsort(every, kind="stable")
        self._kept = every[order]
        self._times = np.concatenate([self._times, times[~is_known]])[order]

    @property
    def is_exact(self) -> bool:
        """Whether every different thing was kept."""
        self._settle()
        return self.level == 0

    @property
    def repeats(self) -> int:
        """How many events came again that had come before.

        Told by the kept things alone: where none of them repeats, the answer is 0 exactly.
        """
        self._settle()
        events = int(self._times.sum())
        return round(self.seen * (1 - len(self._kept) / events)) if events else 0

    @property
    def count(self) -> int:
        """How many different things there are."""
        return self.seen - self.repeats

    @property
    def once(self) -> int:
        """How many of them came once."""
        self._settle()
        events = int(self._times.sum())
        return round(self.seen * int((self._times == 1).sum()) / events) if events else 0

    @property
    def rows(self) -> RowCounts:
        """The counts, of things that are rows."""
        return RowCounts(self.seen, self.count, self.once)
