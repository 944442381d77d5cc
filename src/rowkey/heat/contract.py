"""What a cause of heat answers: whether it can be foreseen, whether it was seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.heat.evidence import Came, Evidence, Finding
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts

Looks = Literal["front", "region", "empty", "server", "moment"]
"""How a cause looks on a map of time and regions: a line along the busiest region of each moment,
a region that takes much, regions without load, servers with a region more, or one hot moment."""


class Cause(ABC):
    """One reason why load lies unevenly."""

    name: ClassVar[str]
    needs_boundaries: ClassVar[bool] = True
    """Whether it can be foreseen only where the boundaries are known."""
    needs_even: ClassVar[bool] = False
    """Whether it bears only on load that is otherwise even: a larger cause hides it."""
    of_regions: ClassVar[bool] = False
    """Whether it is about regions, and so is said even where no server has too much to do."""
    looks: ClassVar[Looks] = "moment"
    """How it is drawn on a map."""

    @classmethod
    @abstractmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        """The cause, if the design and what is known of its fields already show it.

        Args:
            design: the design.
            facts: what is known of its fields, from a sample or declared.
            boundaries: where its regions begin.
        """

    @classmethod
    def foresee_from(
        cls,
        design: Design,
        facts: Mapping[str, Facts],
        boundaries: Boundaries,
        came: Came | None,
    ) -> Finding | None:
        """The same where events that came are at hand, with their keys, but not their order.

        Args:
            design: the design.
            facts: what is known of its fields.
            boundaries: where its regions begin.
            came: the events; None if there are none.
        """
        return cls.foresee(design, facts, boundaries)

    @classmethod
    @abstractmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        """The cause, if a replay shows it."""
