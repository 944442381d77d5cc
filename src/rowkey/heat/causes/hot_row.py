"""The cause `hot_row`."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from rowkey.heat.contract import Cause
from rowkey.heat.evidence import Evidence, Finding, floor

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
    looks = "region"
    needs_boundaries = False

    @classmethod
    def foresee(
        cls, design: Design, facts: Mapping[str, Facts], boundaries: Boundaries
    ) -> Finding | None:
        """Only where every field of the key has one value in most events."""
        if design.layout.shares_rows or design.key.is_salted:
            return None
        shares = [facts[name].heaviest_share for name in design.key.fields if name in facts]
        known = [share for share in shares if share is not None]
        if len(known) < len(design.key.fields) or not known:
            return None
        least = 1 - sum(1 - share for share in known)
        if not _matters(least, design):
            return None
        return _finding(design, "", least)

    @classmethod
    def recognise(cls, evidence: Evidence) -> Finding | None:
        design = evidence.design
        if not evidence.keys or design.key.is_salted or design.layout.shares_rows:
            return None
        key, count = Counter(evidence.keys).most_common(1)[0]
        share = count / len(evidence.keys)
        if count < 3 or not _matters(share, design):
            return None
        return _finding(design, key.hex(), share, evidence.measured.skew)


def _matters(share: float, design: Design) -> bool:
    """Whether one row is at least a quarter of a server's fair share."""
    return share > 0.25 / design.cluster.servers


def _finding(design: Design, shown: str, share: float, measured: float = math.inf) -> Finding:
    servers = design.cluster.servers
    takes = f"Row {shown} takes" if shown else "The most common row takes at least"
    message = f"{takes} {share:.1%} of the writes, and a row lies in one region"
    if servers * share > 1:
        message += f": {floor(servers * share, servers, measured)}"
    figures = {"row": shown or None, "share": share}
    bound = min(servers * share, measured)
    return Finding(HotRow.name, f"{message}.", bound, figures, _remedy(design))


def _remedy(design: Design) -> str:
    """A field that the key lacks, or a salt."""
    time = design.writes.time
    missing = (
        f"such as {time.name}" if time and time.name not in design.key.fields else "if one can"
    )
    is_cut = design.cut.algorithm == "per_bucket"
    cut = "" if is_cut else ' with splits = "per_bucket"'
    return (
        f"Add a field to the key that tells its events apart, {missing}; a counter is spread by "
        f"[salt({design.cluster.servers})] in front{cut}, and read by adding up its rows."
    )
