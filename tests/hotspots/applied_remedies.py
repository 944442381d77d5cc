"""Designs after the remedy of a cause: what a user does who follows the advice word by word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rowkey.design import Design

if TYPE_CHECKING:
    from rowkey.hotspots import CauseFinding


def apply_proposal(design: Design, proposal: dict[str, Any]) -> Design:
    """Return the design with the changes of a proposal."""
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    for name, values in proposal["heavy"].items():
        words["fields"][name]["heavy"] = values
    return Design(**{**words, "key": proposal["key"], "splits": proposal["splits"]})


def apply_remedy(design: Design, cause: CauseFinding) -> Design | None:
    """Return the design after a remedy: its new key, first part, splits or number of regions."""
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    if cause.evidence.get("proposal"):
        return apply_proposal(design, cause.evidence["proposal"])
    if found := re.search(r'Use key = "([^"]+)"(?: and splits = "(\w+)")?', cause.remedy):
        return Design(**{**words, "key": found[1], "splits": found[2] or words["splits"]})
    if found := re.search(r"Use ([\d,]+) regions", cause.remedy):
        splits = words.get("splits") or {"algorithm": "sample"}
        splits = splits if isinstance(splits, dict) else {"algorithm": splits}
        number = int(found[1].replace(",", ""))
        return Design(**{**words, "splits": {**splits, "regions": number}})
    if found := re.search(r'Use splits = (?:"(\w+)"|\{ algorithm = "(\w+)", regions = (\d+) \})',
                          cause.remedy):  # fmt: skip
        cut: Any = {"algorithm": "sample", "regions": 16} if found[1] == "sample" else found[1]
        if found[2]:
            cut = {"algorithm": found[2], "regions": int(found[3])}
        return Design(**{**words, "splits": cut})
    if found := re.search(r"(\[\w+\([^\]]*\)\])", cause.remedy):
        return Design(**{**words, "key": found[1] + words["key"], "splits": "per_bucket"})
    return None
