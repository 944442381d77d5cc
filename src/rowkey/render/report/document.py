"""A report as plain data: everything that a page shows, with what is to be hidden left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.errors import printable
from rowkey.lint import RULES, spoken
from rowkey.render.documents import FORMAT
from rowkey.render.report.boxes import key_boxes
from rowkey.render.report.maps import heat_map_document
from rowkey.schema import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.heat import Finding as Cause
    from rowkey.heat import Skew
    from rowkey.lint import Finding
    from rowkey.plan import Explanation, Read
    from rowkey.render.report.judging import Judged
    from rowkey.render.report.redaction import Redaction
    from rowkey.simulate import ReadResult

_NOTATION = re.compile(r"(?:\[[^\]\"]*[a-zA-Z][^\]\"]*\])+")
"""A key, or a part of one, within a sentence; a list of quoted values is none."""
MOST_RANGES = 3


def report_document(
    designs: Sequence[Judged],
    redaction: Redaction,
    comparison: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that a report shows, as JSON has it.

    Args:
        designs: one or more designs, as they are to stand beside each other.
        redaction: what is hidden.
        comparison: a table of measures, `columns` and `rows`, to stand before the details; none if
            None.
    """
    return {
        "format": FORMAT,
        "redacted": redaction.hides,
        "tables": list(dict.fromkeys(printable(one.design.table) for one in designs)),
        "comparison": comparison,
        "designs": [
            {"id": f"d{number}", **_design(one, redaction)} for number, one in enumerate(designs, 1)
        ],
    }


def _design(judged: Judged, redaction: Redaction) -> dict[str, Any]:
    found, design = judged.simulation, judged.design
    verdict = found.verdict
    return {
        "name": printable(judged.name),
        "table": printable(design.table),
        "key": printable(str(design.key)),
        "verdict": {
            "word": verdict.word,
            "skew": verdict.skew,
            "even": verdict.even,
            "width_s": verdict.width_s,
        },
        "source": _source(judged, redaction),
        "servers": design.cluster.servers,
        "regions": len(found.regions),
        "dead": found.dead,
        "overwritten": found.overwritten,
        "operations": found.operations,
        "boxes": key_boxes(judged, redaction),
        "properties": _properties(judged),
        "skews": [_skew(skew) for skew in found.skews],
        "shares": {
            "total": found.region_shares.total,
            "median": found.region_shares.median,
            "worst": found.region_shares.worst,
            "windows": found.windows,
        },
        "map": heat_map_document(judged, redaction),
        "causes": [_cause(cause, redaction) for cause in found.causes],
        "findings": [_finding(one, redaction) for one in _gravest(judged)],
        "allowed": [
            {"code": one.finding.code, "name": spoken(one.finding.name),
             "why": "" if redaction.hides else printable(one.why)}
            for one in judged.findings.allowed
        ],
        "reads": [
            _read(read, cost, judged.plans[read.name], redaction)
            for read, cost in zip(design.reads, _costs(judged), strict=True)
        ],
        **_stored(judged),
    }  # fmt: skip


def _costs(judged: Judged) -> list[ReadResult | None]:
    """What each declared read costs; None where there was nothing to ask it of."""
    reads: list[ReadResult | None] = list(judged.simulation.reads)
    return reads or [None] * len(judged.design.reads)


def _source(judged: Judged, redaction: Redaction) -> dict[str, Any]:
    source = judged.simulation.source
    said = [*source.assumed, *judged.simulation.remarks]
    return {
        "kind": source.kind,
        "name": "" if redaction.hides or not source.name else printable(Path(source.name).name),
        "events": source.total,
        "left_out": source.left_out.count,
        "said": [] if redaction.hides else [printable(one) for one in said],
    }


def _properties(judged: Judged) -> dict[str, Any]:
    found = judged.properties
    return {
        "decodes": found.decodes,
        "unique": found.unique,
        "chance": found.chance,
        "order": [printable(one) for one in found.order],
        "lossy": [printable(name) for name in found.lossy],
        "kept": [printable(name) for name in found.kept],
    }


def _skew(skew: Skew) -> dict[str, Any]:
    return {
        "width_s": skew.width_s,
        "servers": skew.servers,
        "even": skew.even_servers,
        "regions": skew.regions,
        "low": skew.other_low,
        "high": skew.other_high,
        "covered": skew.covered,
    }


def _cause(cause: Cause, redaction: Redaction) -> dict[str, Any]:
    """A cause: its sentences where nothing is hidden, and the figures a language tells it by."""
    figures: dict[str, Any] = {}
    for name, value in cause.evidence.items():
        if name == "fields":
            figures[name] = ", ".join(map(printable, value))
        else:
            figures[name] = redaction.figure(value)
    notation = _NOTATION.search(cause.remedy)
    return {
        "code": cause.code,
        "bound": cause.bound,
        "figures": {n: v for n, v in figures.items() if isinstance(v, str | int | float)},
        "notation": printable(notation[0]) if notation else "",
        "message": "" if redaction.hides else printable(cause.message),
        "remedy": "" if redaction.hides else printable(cause.remedy),
    }


def _gravest(judged: Judged) -> list[Finding]:
    """The findings, the gravest first."""
    return sorted(judged.findings.found, key=lambda one: -one.rank)


def _finding(one: Finding, redaction: Redaction) -> dict[str, Any]:
    """A finding; where values are hidden, what its rule says of any design."""
    found = {
        "code": one.code,
        "name": spoken(one.name),
        "severity": one.severity,
        "line": one.line or None,
        "path": one.path,
    }
    if not redaction.hides:
        return {**found, "what": one.what, "remedy": one.remedy, "verdict": one.verdict}
    rule = next((kind for kind in RULES.values() if kind.code == one.code), None)
    what, remedy = "", ""
    if rule is not None:
        sections = rule.told()
        what, remedy = _line(sections.summary), f"Use instead: {_line(sections.instead)}"
    return {**found, "path": "", "what": what, "remedy": remedy, "verdict": ""}


def _line(said: str) -> str:
    """A text of a docstring on one line."""
    return " ".join(said.split())


def _read(
    read: Read, cost: ReadResult | None, plan: Explanation, redaction: Redaction
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": printable(read.name),
        "where": [_condition(read, number, redaction) for number in range(len(read.conditions))],
        "order": [printable(f"{o.field}{' desc' if o.descending else ''}") for o in read.order],
        "limit": read.limit,
        "rate": read.rate,
        "runs": plan.runs,
        "fan_out": plan.fan_out,
        "pinned": [printable(part) for part in plan.pinned],
        "narrowed": printable(plan.narrowed),
        "residual": [printable(name) for name in plan.residual],
        "served": plan.served,
        "proposal": printable(plan.proposal.key) if plan.proposal is not None else "",
        "ranges": [] if redaction.hides else [printable(one.words) for one in plan.ranges],
        "more": max(plan.fan_out - len(plan.ranges), 0),
        "cost": None,
    }
    if cost is not None and not cost.error:
        found["cost"] = {
            "fan_out": cost.fan_out[0],
            "regions": cost.regions[0],
            "returned": cost.returned,
            "amplification": cost.amplification,
            "full_scan": cost.is_full_scan,
        }
    return found


def _condition(read: Read, number: int, redaction: Redaction) -> str:
    """A condition as it was declared; where values are hidden, with a mark for each."""
    condition = read.conditions[number]
    is_open = all(isinstance(operand, Parameter) for operand in condition.operands)
    if is_open or not redaction.hides:
        return printable(str(condition))
    return printable(f"{condition.field} {condition.operator} …")


def _stored(judged: Judged) -> dict[str, Any]:
    """The families with what was declared of them, the cells of an event, and their bytes."""
    design, found = judged.design, judged.simulation
    families = []
    for family in design.families.values():
        said = {word: getattr(family, _attribute(word)) for word in ATTRIBUTES}
        told = {w: v for w, v in said.items() if v != ATTRIBUTES[w].default}
        families.append(
            {
                "name": family.name,
                "ttl_s": None if family.ttl_s == FOREVER_S else family.ttl_s,
                "versions": family.versions,
                "compression": family.compression,
                "bloom": family.bloom,
                "block_size": family.block_size,
                "more": {w: str(v) for w, v in told.items() if w not in _SHOWN},
            }
        )
    cells = [
        {
            "family": shape.family,
            "qualifier": printable(shape.qualifier.decode(errors="backslashreplace")),
            "fields": [printable(name) for name in shape.fields],
            "value_bytes": shape.value_bytes,
            "share": shape.share,
        }
        for shape in design.layout.cells(found.facts)
    ]
    return {
        "families": families,
        "cells": cells,
        "bytes": {"key": found.key_bytes, "event": found.event_bytes},
    }


_SHOWN = frozenset({"ttl", "versions", "compression", "bloom", "block_size"})
"""Attributes that have a column of their own."""


def _attribute(word: str) -> str:
    return "ttl_s" if word == "ttl" else word
