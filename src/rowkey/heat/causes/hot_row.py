"""The cause `hot_row`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.regions import Boundaries
    from rowkey.schema import Facts


class HotRow(Cause):
    """One row takes many of the writes: no key can spread it, for a row lies in one region.

    Either the key leaves out what tells events apart, so that they overwrite each other, or the row
    is a counter that everybody writes.
    """

    name = "hot_row"
    needs_boundaries = False

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        """Only where every field of the key has one value in most events."""
        if design.layout.shares_rows:
            return None
        shares = [facts[name].heaviest_share for name in design.key.fields if name in facts]
        known = [share for share in shares if share is not None]
        if len(known) < len(design.key.fields) or not known:
            return None
        least = 1 - sum(1 - share for share in known)
        return _finding(design, "most common", least) if _matters(least, design) else None

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        if not evidence.keys or evidence.design.key.is_salted:
            return None
        key, count = Counter(evidence.keys).most_common(1)[0]
        share = count / len(evidence.keys)
        if count < 3 or not _matters(share, evidence.design):
            return None
        return _finding(evidence.design, key.hex(), share)


def _matters(share: float, design: Design) -> bool:
    """Whether one row is at least a quarter of a server's fair share."""
    return share > 0.25 / design.cluster.servers


def _finding(design: Design, shown: str, share: float) -> Finding:
    servers = design.cluster.servers
    message = (
        f"Row {shown} takes {share:.1%} of the writes: a row lies in one region, so the skew over "
        f"{servers} servers cannot fall below {max(servers * share, 1):.2f}."
    )
    return Finding(HotRow.name, message, servers * share, {"row": shown, "share": share})
