"""Builds the data of a report: everything that the page shows, with hidden values replaced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.errors import IncomparableDesigns
from rowkey.messages import shorten_text, shorten_texts
from rowkey.plan import DeclaredRead
from rowkey.render.comparison import build_comparison_document
from rowkey.render.documents import (
    FORMAT_VERSION,
    build_cause_document,
    build_properties_document,
    build_read_cost_document,
    build_replay_document,
)
from rowkey.render.explanation import build_explanation_document
from rowkey.render.findings import build_findings_document
from rowkey.render.redaction import NO_REDACTION, Redaction
from rowkey.render.report.heat_map import build_heat_map_document
from rowkey.render.report.key_boxes import build_key_boxes
from rowkey.rows import format_qualifier
from rowkey.schema import Parameter

if TYPE_CHECKING:
    from rowkey.advise import Comparison, JudgedDesign
    from rowkey.explanations import Explanation
    from rowkey.simulate import ReadCost

_NOTATION_PATTERN = re.compile(r"(?:\[[^\]\"]*[a-zA-Z][^\]\"]*\])+")
"""A key, or a part of one, within a sentence; a list of quoted values is none."""


def build_report_document(
    designs: Sequence[JudgedDesign],
    redaction: Redaction,
    comparison: Comparison | IncomparableDesigns | None = None,
    created: str = "",
) -> dict[str, Any]:
    """Return all data of a report as a JSON document.

    Args:
        designs: one or more designs, in the order in which they are told.
        redaction: what is hidden.
        comparison: what `compare_designs` found of the same designs, in the same order, to stand
            before them; or the error by which it refused; none if None.
        created: when the report was made, as text; not shown if empty.
    """
    labels = _choose_labels(len(designs))
    return {
        "format": FORMAT_VERSION,
        "version": version("rowkey"),
        "created": created,
        "redacted": redaction.is_hiding,
        "tables": list(dict.fromkeys(shorten_text(one.design.table) for one in designs)),
        "comparison": None
        if comparison is None or isinstance(comparison, IncomparableDesigns)
        else shorten_texts(build_comparison_document(comparison, redaction)),
        "incomparable": redaction.omit_texts(map(str, comparison.mistakes))
        if isinstance(comparison, IncomparableDesigns)
        else None,
        "designs": [
            {"id": f"d{number}", "label": label, **_build_design(one, redaction)}
            for number, (label, one) in enumerate(zip(labels, designs, strict=True), 1)
        ],
    }


def _choose_labels(count: int) -> list[str]:
    """Return a label for each design: letters, then numbers; empty for a single design.

    >>> _choose_labels(1), _choose_labels(3), _choose_labels(30)[-5:]
    ([''], ['A', 'B', 'C'], ['Z', '27', '28', '29', '30'])
    """
    if count == 1:
        return [""]
    return [*ascii_uppercase[:count], *map(str, range(len(ascii_uppercase) + 1, count + 1))]


def build_summary_document(
    judged: JudgedDesign, redaction: Redaction = NO_REDACTION
) -> dict[str, Any]:
    """Return a judged design under its name, with the causes as a page shows them."""
    return {
        "name": shorten_text(judged.name),
        **shorten_texts(build_replay_document(judged, redaction)),
        "causes": [
            shorten_texts(build_cause_document(cause, redaction))
            for cause in judged.simulation.causes
        ],
    }


def _build_design(judged_design: JudgedDesign, redaction: Redaction) -> dict[str, Any]:
    """Return all data that a report shows of one judged design."""
    design, properties = judged_design.design, judged_design.properties
    own_reads = judged_design.simulation.design.reads
    costs: list[ReadCost | None] = list(judged_design.simulation.reads)
    return {
        **build_summary_document(judged_design, redaction),
        **build_findings_document(judged_design.lint_result, redaction),
        "boxes": build_key_boxes(design, properties, judged_design.lint_result.sample, redaction),
        "properties": shorten_texts(build_properties_document(properties, redaction)),
        "map": build_heat_map_document(judged_design, redaction),
        "reads": [
            _build_read(read, cost, judged_design.plans[read.name], redaction)
            for read, cost in zip(own_reads, costs or [None] * len(own_reads), strict=True)
        ],
        **_build_storage(judged_design),
    }


def _build_read(
    read: DeclaredRead, cost: ReadCost | None, plan: Explanation, redaction: Redaction
) -> dict[str, Any]:
    """Return the plan of a read, its conditions as declared, and its simulated cost."""
    conditions = [
        _format_condition(read, number, redaction) for number in range(len(read.conditions))
    ]
    return {
        **shorten_texts(build_explanation_document(read.name, plan, redaction)),
        "conditions": conditions,
        "cost": None
        if cost is None or cost.error
        else shorten_texts(build_read_cost_document(cost, redaction)),
    }


def _format_condition(read: DeclaredRead, number: int, redaction: Redaction) -> str:
    """Return a condition of a read as text; hidden values become dots."""
    condition = read.conditions[number]
    is_open = all(isinstance(operand, Parameter) for operand in condition.operands)
    if is_open or not redaction.is_hiding:
        return shorten_text(str(condition))
    return shorten_text(f"{condition.field} {condition.operator} …")


def _build_storage(judged_design: JudgedDesign) -> dict[str, Any]:
    """Return the families, the cells that an event writes, and their bytes."""
    design = judged_design.design
    families = []
    for family in design.families.values():
        attributes = {name: getattr(family, _find_attribute_name(name)) for name in ATTRIBUTES}
        families.append(
            {
                "name": family.name,
                "ttl_s": None if family.ttl_s == FOREVER_S else family.ttl_s,
                "versions": family.versions,
                "compression": family.compression,
                "bloom": family.bloom,
                "block_size": family.block_size,
                "other_attributes": {
                    name: str(value)
                    for name, value in attributes.items()
                    if value != ATTRIBUTES[name].default and name not in _COLUMN_ATTRIBUTES
                },
            }
        )
    cells = [
        {
            "family": shape.family,
            "qualifier": shorten_text(format_qualifier(shape.qualifier)),
            "fields": [shorten_text(name) for name in shape.fields],
            "value_bytes": shape.mean_value_bytes,
            "share": shape.event_share,
        }
        for shape in design.layout.estimate_cells(judged_design.facts)
    ]
    return {
        "families": families,
        "cells": cells,
        "event_bytes": judged_design.event_bytes,
    }


_COLUMN_ATTRIBUTES = frozenset({"ttl", "versions", "compression", "bloom", "block_size"})
"""Attributes that have a column of their own."""


def _find_attribute_name(option: str) -> str:
    """Return the attribute of `Family` that a design option sets."""
    return "ttl_s" if option == "ttl" else option
