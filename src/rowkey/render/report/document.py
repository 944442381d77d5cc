"""A report as plain data: everything that a page shows, with what is to be hidden left out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.design import toml_value
from rowkey.errors import printable
from rowkey.lint import RULES, spoken
from rowkey.render.documents import FORMAT
from rowkey.render.report.boxes import key_boxes
from rowkey.render.report.maps import heat_map_document
from rowkey.render.report.measures import measures_document
from rowkey.schema import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.advise import Comparison
    from rowkey.design import Properties
    from rowkey.errors import Incomparable
    from rowkey.heat import Finding as Cause
    from rowkey.heat import Skew
    from rowkey.lint import Allowed, Finding, Findings, Sections
    from rowkey.plan import Explanation, Read
    from rowkey.render.report.judging import Judged
    from rowkey.render.report.redaction import Redaction
    from rowkey.simulate import ReadResult, Simulation

_NOTATION = re.compile(r"(?:\[[^\]\"]*[a-zA-Z][^\]\"]*\])+")
"""A key, or a part of one, within a sentence; a list of quoted values is none."""
MOST_RANGES = 3


def report_document(
    designs: Sequence[Judged],
    redaction: Redaction,
    comparison: Comparison | Incomparable | None = None,
) -> dict[str, Any]:
    """Everything that a report shows, as JSON has it.

    Args:
        designs: one or more designs, in the order in which they are told.
        redaction: what is hidden.
        comparison: what `compare` found of the same designs, in the same order, to stand before
            them; or the error by which it refused; none if None.
    """
    labels = _labels(len(designs))
    return {
        "format": FORMAT,
        "redacted": redaction.hides,
        "tables": list(dict.fromkeys(printable(one.design.table) for one in designs)),
        "comparison": None if comparison is None else measures_document(comparison, redaction),
        "designs": [
            {"id": f"d{number}", "label": label, **_design(one, redaction)}
            for number, (label, one) in enumerate(zip(labels, designs, strict=True), 1)
        ],
    }


def _labels(count: int) -> list[str]:
    """What stands before the names of several designs: letters while they last, as in a table.

    >>> _labels(1), _labels(3), _labels(30)[-5:]
    ([''], ['A', 'B', 'C'], ['Z', '27', '28', '29', '30'])
    """
    if count == 1:
        return [""]
    return [*ascii_uppercase[:count], *map(str, range(len(ascii_uppercase) + 1, count + 1))]


def glance_document(name: str, found: Simulation, redaction: Redaction) -> dict[str, Any]:
    """What is seen of a simulation first: the verdict, and what it is from.

    Args:
        name: what the design is called.
        found: what was simulated.
        redaction: what is hidden.
    """
    design, verdict = found.design, found.verdict
    return {
        "name": printable(name),
        "table": printable(design.table),
        "key": printable(str(design.key)),
        "verdict": {
            "word": verdict.word,
            "skew": verdict.skew,
            "even": verdict.even,
            "width_s": verdict.width_s,
        },
        "source": _source(found, redaction),
        "servers": design.cluster.servers,
        "regions": len(found.regions),
        "dead": found.dead,
        "overwritten": found.overwritten,
        "operations": found.operations,
    }


def _design(judged: Judged, redaction: Redaction) -> dict[str, Any]:
    found, design = judged.simulation, judged.design
    return {
        **glance_document(judged.name, found, redaction),
        "boxes": key_boxes(design, judged.properties, judged.findings.seen, redaction),
        "properties": properties_document(judged.properties),
        "skews": [_skew(skew) for skew in found.skews],
        "shares": {
            "total": found.region_shares.total,
            "median": found.region_shares.median,
            "worst": found.region_shares.worst,
            "windows": found.windows,
        },
        "map": heat_map_document(judged, redaction),
        "causes": [cause_document(cause, redaction) for cause in found.causes],
        "findings": [finding_document(one, redaction) for one in gravest(judged.findings)],
        "allowed": [allowed_document(one, redaction) for one in judged.findings.allowed],
        "reads": [
            _read(read, cost, judged.plans[read.name], redaction)
            for read, cost in zip(design.reads, _costs(judged), strict=True)
        ],
        **_stored(judged),
    }


def allowed_document(one: Allowed, redaction: Redaction) -> dict[str, Any]:
    """What a design file allows, in the words that its rule has for any design, and why."""
    told = _told_by(one.finding.code)
    return {
        "code": one.finding.code,
        "name": spoken(one.finding.name),
        "what": _line(told.summary) if told is not None else "",
        "why": "" if redaction.hides else printable(one.why),
    }


def _costs(judged: Judged) -> list[ReadResult | None]:
    """What each declared read costs; None where there was nothing to ask it of."""
    reads: list[ReadResult | None] = list(judged.simulation.reads)
    return reads or [None] * len(judged.design.reads)


def _source(found: Simulation, redaction: Redaction) -> dict[str, Any]:
    source = found.source
    said = [*source.assumed, *found.remarks]
    return {
        "kind": source.kind,
        "name": "" if redaction.hides or not source.name else printable(Path(source.name).name),
        "events": source.total,
        "left_out": source.left_out.count,
        "said": [] if redaction.hides else [printable(one) for one in said],
    }


def properties_document(found: Properties) -> dict[str, Any]:
    """What a key can and cannot do."""
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


def cause_document(cause: Cause, redaction: Redaction) -> dict[str, Any]:
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
        "listed": {} if redaction.hides else _listed(cause),
        "message": "" if redaction.hides else printable(cause.message),
        "remedy": "" if redaction.hides else printable(cause.remedy),
    }


def _listed(cause: Cause) -> dict[str, str]:
    """The key, the splits and the list of values that a cause proposes, as a file has them."""
    proposal = cause.evidence.get("proposal")
    if not proposal:
        return {}
    ((field, values),) = proposal["heavy"].items()
    words = {name: toml_value(proposal[name]) for name in ("key", "splits")}
    words |= {"field": field, "heavy": json.dumps(values, ensure_ascii=False)}
    return {name: printable(word) for name, word in words.items()}


def gravest(findings: Findings) -> list[Finding]:
    """What was found, the gravest first."""
    return sorted(findings.found, key=lambda one: -one.rank)


def finding_document(one: Finding, redaction: Redaction) -> dict[str, Any]:
    """A finding; where values are hidden, what its rule says of any design."""
    found = {
        "code": one.code,
        "name": spoken(one.name),
        "severity": one.severity,
        "line": one.line or None,
        "path": one.path,
    }
    if not redaction.hides:
        said = {"what": one.what, "remedy": one.remedy, "verdict": one.verdict}
        return {**found, **said, "is_general": False}
    sections = _told_by(one.code)
    what, remedy = "", ""
    if sections is not None:
        what, remedy = _line(sections.summary), f"Use instead: {_line(sections.instead)}"
    hidden = {"path": "", "what": what, "remedy": remedy, "verdict": ""}
    return {**found, **hidden, "is_general": True}


def _told_by(code: str) -> Sections | None:
    """What the rule of a code says of any design; None if there is no such rule."""
    return next((kind.told() for kind in RULES.values() if kind.code == code), None)


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
        for shape in design.layout.cells(judged.facts)
    ]
    return {
        "families": families,
        "cells": cells,
        "bytes": {"key": found.key_bytes, "event": judged.event_bytes},
    }


_SHOWN = frozenset({"ttl", "versions", "compression", "bloom", "block_size"})
"""Attributes that have a column of their own."""


def _attribute(word: str) -> str:
    return "ttl_s" if word == "ttl" else word
