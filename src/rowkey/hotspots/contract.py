"""The interface of a cause of hot spots: predicted from a design, or recognised in load."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from rowkey.design import Design
from rowkey.hotspots.load_result import CauseFinding, LoadResult
from rowkey.regions import Boundaries
from rowkey.schema import FieldFacts

if TYPE_CHECKING:
    from rowkey.workload import KeyedEvents

MapShape = Literal["front", "region", "empty", "server", "moment"]
"""How a cause is drawn on the load map: a line along the busiest region of each moment, a region
with much load, regions without load, servers with one region more, or one hot moment."""


class Cause(ABC):
    """A known cause of hot spots, predicted from a design or recognised in load."""

    name: ClassVar[str]
    needs_boundaries: ClassVar[bool] = True
    """Whether it can be predicted only if the region boundaries are known."""
    needs_even_load: ClassVar[bool] = False
    """Whether it matters only if the load is otherwise even, because a larger cause hides it."""
    concerns_regions: ClassVar[bool] = False
    """Whether it is about regions, so that it is reported even if no server is overloaded."""
    map_shape: ClassVar[MapShape] = "moment"
    """How it is drawn on the load map."""

    @classmethod
    @abstractmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause if the design and the facts of its fields predict it; else None.

        Args:
            design: the design.
            facts: the facts of its fields, from a sample or declared.
            boundaries: where its regions begin.
        """

    @classmethod
    def predict_from_sample(
        cls,
        design: Design,
        facts: Mapping[str, FieldFacts],
        boundaries: Boundaries,
        keyed_events: KeyedEvents | None,
    ) -> CauseFinding | None:
        """Return the cause if the design, its facts and sampled keys predict it; else None.

        The default does without the sampled keys.

        Args:
            design: the design.
            facts: the facts of its fields.
            boundaries: where its regions begin.
            keyed_events: sampled events with their keys; None without a sample.
        """
        return cls.predict(design, facts, boundaries)

    @classmethod
    @abstractmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if the load of a replay or of a live table shows it; else None."""
