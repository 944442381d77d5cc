"""A proposed row key, with what else a design file must change for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rowkey.design import Design, format_toml_value, list_key_prefixes
from rowkey.messages import Message

PER_BUCKET = "per_bucket"
"""The split algorithm that begins a region at each value of the key's leading parts."""
ANOTHER_KEY = Message(
    "remedy.search",
    "Another key is needed: rowkey advise searches for it by your events and reads.",
)
"""The remedy of what another key would mend, until the search has found one."""

KEY_BY_SAMPLE = Message(
    "remedy.search_by_sample",
    'Another key is needed: declare [sample] path = "…", a recording of your events, from which '
    "the splits of this design are taken, and rowkey advise searches for it.",
)
"""The same where nothing can be searched yet, because the splits need a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyProposal:
    """A proposed row key, and what else a design must declare for it. It is never applied.

    Args:
        key: in bracket notation.
        splits: the split algorithm that it needs; empty if the present splits fit.
        heavy_values: the values to list as heavy, by field.
        unique_fields: the fields to declare as unique.
    """

    key: str
    splits: str = ""
    heavy_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    unique_fields: tuple[str, ...] = ()

    @property
    def splits_text(self) -> str:
        """Return the proposed splits as a design file writes them; empty if the present fit."""
        return self.splits and f"splits = {format_toml_value(self.splits)}"

    @property
    def toml_text(self) -> str:
        """Return the proposed key, splits and options of fields as a design file writes them."""
        key = " and ".join(filter(None, (f"key = {format_toml_value(self.key)}", self.splits_text)))
        options = [
            *(
                f"heavy = {json.dumps(values, ensure_ascii=False)} under {name}"
                for name, values in self.heavy_values.items()
            ),
            *(f"unique = true under {name}" for name in self.unique_fields),
        ]
        return f"{key} with {' and '.join(options)}" if options else key


def apply_proposal(design: Design, proposal: KeyProposal) -> Design:
    """Return a design with a proposed key, and with what else the proposal changes.

    Raises:
        InvalidDesign: the design cannot have the key.
    """
    if not (proposal.heavy_values or proposal.unique_fields):
        return design.copy_with_key(proposal.key, proposal.splits)
    options: dict[str, Any] = {"key": proposal.key}
    if proposal.splits:
        options["splits"] = proposal.splits
    fields = design.declaration.model_dump(by_alias=True, exclude_defaults=True)["fields"]
    for name, values in proposal.heavy_values.items():
        fields[name] |= {"heavy": list(values)}
    for name in proposal.unique_fields:
        fields[name] |= {"unique": True}
    return design.copy_with_options(**options, fields=fields)


def has_bucket_splits(design: Design) -> bool:
    """Return whether the splits of a design fit any number of buckets: one region for each."""
    return design.splits.algorithm == PER_BUCKET and design.splits.request.regions is None


def format_more_regions(design: Design, regions: int) -> str:
    """Return the options of a design file for a larger number of regions.

    Regions within one leading value are cut at quantiles of a sample: equal steps of the bytes that
    follow it, which `per_bucket` takes, are empty for most fields.
    """
    prefixes = list_key_prefixes(design.key) or ()
    splits = design.splits
    if splits.request.listed is not None or (
        splits.algorithm == PER_BUCKET and regions > len(prefixes)
    ):
        return format_quantile_splits(design, regions)
    declared = design.declaration.splits
    options = declared if isinstance(declared, dict) else {"algorithm": splits.algorithm}
    return f"splits = {format_toml_value({**options, 'regions': regions})}"


def format_quantile_splits(design: Design, regions: int | None = None) -> str:
    """Return the options of a design file for splits at quantiles of a sample.

    Args:
        regions: how many regions; None for as many as its size needs.

    Returns:
        `splits`, and the path of a sample if the design declares none.
    """
    options = 'splits = "sample"'
    if regions is not None:
        options = f'splits = {{ algorithm = "sample", regions = {regions} }}'
    if design.sample_path is None:
        options += ' and declare [sample] path = "…", a recording of your events'
    return options
