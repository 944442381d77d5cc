"""The cause `hot_row`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from rowkey.design import Design
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.load_result import (
    CauseFinding,
    LoadResult,
    format_row_remedy,
    format_skew_floor,
)
from rowkey.regions import Boundaries
from rowkey.schema import FieldFacts


class HotRowCause(Cause):
    """One row takes many of the writes; no key can spread it, because a row lies in one region.

    Either the key lacks a field that distinguishes the events, so that they overwrite each other,
    or the row is a counter that all clients write.
    """

    name = "hot_row"
    map_shape = "region"
    needs_boundaries = False

    @classmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause where the most frequent values of all key fields make one row hot."""
        if design.layout.has_shared_rows or design.key.is_salted:
            return None
        shares = [facts[name].heaviest_share for name in design.key.fields if name in facts]
        known_shares = [share for share in shares if share is not None]
        if len(known_shares) < len(design.key.fields) or not known_shares:
            return None
        min_share = 1 - sum(1 - share for share in known_shares)
        if not _is_hot_share(min_share, design):
            return None
        return _build_finding(design, facts, "", min_share)

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if one row took many of the writes."""
        design = result.design
        if not result.keys or design.key.is_salted or design.layout.has_shared_rows:
            return None
        key, count = Counter(result.keys).most_common(1)[0]
        share = count / len(result.keys)
        if count < 3 or not _is_hot_share(share, design):
            return None
        return _build_finding(design, result.facts, key.hex(), share, result.measured_skew.skew)


def _is_hot_share(share: float, design: Design) -> bool:
    """Return whether one row takes at least a quarter of a server's fair share."""
    return share > 0.25 / design.cluster.servers


def _build_finding(
    design: Design,
    facts: Mapping[str, FieldFacts],
    row_text: str,
    share: float,
    measured_skew: float = math.inf,
) -> CauseFinding:
    """Return the cause for a row with a large share of all writes."""
    servers = design.cluster.servers
    takes = f"Row {row_text} takes" if row_text else "The most common row takes at least"
    message = f"{takes} {share:.1%} of the writes, and a row lies in one region"
    if servers * share > 1:
        message += f": {format_skew_floor(servers * share, servers, measured_skew)}"
    figures = {"row": row_text or None, "share": share}
    bound = min(servers * share, measured_skew)
    remedy = format_row_remedy(design, facts)
    return CauseFinding(HotRowCause.name, f"{message}.", remedy, bound=bound, evidence=figures)
