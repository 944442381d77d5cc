"""What a replay leaves for the causes to look at: totals, skews, and a sample of its events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.heat.placements import Placements
    from rowkey.heat.shares import Shares
    from rowkey.heat.windows import Skew
    from rowkey.keys import Part
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts


@dataclass(frozen=True)
class Evidence:
    """What was seen of a design under a workload.

    Args:
        design: the design.
        facts: what is known of its fields.
        boundaries: where its regions begin.
        placements: where its regions lie.
        writes: operations by region.
        skews: the skew at each width of window.
        region_shares: shares of the busiest region in windows of equal numbers of events.
        server_shares: shares of the busiest server in them.
        rows: a uniform sample of the events, in the order of their arrival.
        keys: the row key of each.
        regions: the region of each.
    """

    design: Design
    facts: Mapping[str, Facts]
    boundaries: Boundaries
    placements: Placements
    writes: np.ndarray[Any, Any]
    skews: Sequence[Skew]
    region_shares: Shares
    server_shares: Shares
    rows: pa.RecordBatch
    keys: list[bytes]
    regions: np.ndarray[Any, Any]

    @property
    def servers(self) -> int:
        """How many region servers there are."""
        return self.placements.servers

    @cached_property
    def lead(self) -> tuple[Part, ...]:
        """The leading parts that decide the region of most rows.

        All up to and with the first that varies enough for the regions to differ.
        """
        parts: list[Part] = []
        for part in self.design.key.parts:
            parts.append(part)
            if len(set(self.lead_pieces(len(parts)))) > 1:
                break
        return tuple(parts)

    def lead_pieces(self, count: int) -> list[bytes]:
        """The bytes of the first `count` parts of each sampled key."""
        widths = [part.framing.width for part in self.design.key.parts[:count]]
        if None not in widths:
            width = sum(width for width in widths if width is not None)
            return [key[:width] for key in self.keys]
        cut = self.design.key.cut
        return [b"".join(cut(key)[:count]) for key in self.keys]

    @cached_property
    def lead_values(self) -> list[bytes]:
        """The bytes of the leading parts of each sampled key, in the order of arrival."""
        return self.lead_pieces(len(self.lead))

    @property
    def entity_fields(self) -> tuple[str, ...]:
        """The fields without a time that the leading parts are computed from."""
        names = dict.fromkeys(name for part in self.lead for name in part.fields)
        fields = self.design.fields
        return tuple(name for name in names if fields[name].type.tick is None)

    @property
    def hurts(self) -> bool:
        """Whether the busiest region takes clearly more than its share of most windows."""
        fair = 1 / max(self.placements.regions, 1)
        return self.region_shares.median > max(2 * fair, fair + 0.05)


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause that was found, with its evidence.

    Args:
        code: the cause's name.
        message: what was seen, with figures, as sentences.
        bound: the skew over servers that it explains; the largest is named first.
        evidence: the figures by name.
    """

    code: str
    message: str
    bound: float
    evidence: Mapping[str, Any]
