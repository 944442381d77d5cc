"""Designs after the remedy of a cause: what a user does who follows the advice word by word."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from rowkey.design import Design

if TYPE_CHECKING:
    from rowkey.hotspots import CauseFinding, ReadCauseFinding


def apply_remedy(design: Design, cause: CauseFinding | ReadCauseFinding) -> Design | None:
    """Return the design after a remedy: its new key, splits or number of regions; None if prose."""
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    if found := re.search(r'Use key = "([^"]+)"(?: and splits = "(\w+)")?', cause.remedy):
        words |= {"key": found[1], "splits": found[2] or words.get("splits")}
        for values, name in re.findall(r"heavy = (\[.*?\]) under (\w+)", cause.remedy):
            words["fields"][name]["heavy"] = json.loads(values)
        return Design(**words)
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
    return None
