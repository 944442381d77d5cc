"""Builds the data of a report: everything that the page shows, with hidden values replaced."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.design import format_toml_value
from rowkey.lint import RULES, format_rule_name
from rowkey.messages import shorten_text
from rowkey.render.documents import FORMAT_VERSION
from rowkey.render.report.heat_map import build_heat_map_document
from rowkey.render.report.key_boxes import build_key_boxes
from rowkey.render.report.measures import build_measures_document
from rowkey.schema import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.advise import Comparison, JudgedDesign
    from rowkey.design import DesignProperties
    from rowkey.errors import IncomparableDesigns
    from rowkey.explanations import Explanation
    from rowkey.hotspots import CauseFinding as Cause
    from rowkey.hotspots import Skew
    from rowkey.lint import AllowedFinding, Finding, LintResult, RuleDoc
    from rowkey.plan import DeclaredRead
    from rowkey.render.report.redaction import Redaction
    from rowkey.simulate import ReadCost, Simulation

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
        if comparison is None
        else build_measures_document(comparison, redaction),
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


def build_glance_document(
    name: str, simulation: Simulation, redaction: Redaction
) -> dict[str, Any]:
    """Return the summary of a simulation: its verdict, sample and counts.

    Args:
        name: what the design is called.
        simulation: what was simulated.
        redaction: what is hidden.
    """
    design, verdict = simulation.design, simulation.verdict
    return {
        "name": shorten_text(name),
        "table": shorten_text(design.table),
        "key": shorten_text(str(design.key)),
        "verdict": {
            "level": verdict.level,
            "skew": verdict.skew,
            "even": verdict.even_skew,
            "width_s": verdict.width_s,
        },
        "source": _build_source(simulation, redaction),
        "servers": design.cluster.servers,
        "regions": len(simulation.regions),
        "dead": simulation.empty_region_count,
        "overwritten": simulation.overwrite_count,
        "operations": simulation.operation_count,
    }


def _build_design(judged_design: JudgedDesign, redaction: Redaction) -> dict[str, Any]:
    """Return all data that a report shows of one judged design."""
    found, design = judged_design.simulation, judged_design.design
    return {
        **build_glance_document(judged_design.name, found, redaction),
        "boxes": build_key_boxes(
            design, judged_design.properties, judged_design.lint_result.sample, redaction
        ),
        "properties": build_properties_document(judged_design.properties),
        "skews": [_build_skew(skew) for skew in found.skews],
        "shares": {
            "total": found.region_shares.total,
            "median": found.region_shares.median,
            "worst": found.region_shares.worst,
            "windows": found.window_count,
        },
        "map": build_heat_map_document(judged_design, redaction),
        "causes": [build_cause_document(cause, redaction) for cause in found.causes],
        "findings": [
            build_finding_document(one, redaction)
            for one in sort_by_severity(judged_design.lint_result)
        ],
        "allowed": [
            build_allowed_document(one, redaction)
            for one in judged_design.lint_result.allowed_findings
        ],
        "reads": [
            _build_read(read, cost, judged_design.plans[read.name], redaction)
            for read, cost in zip(design.reads, _list_read_costs(judged_design), strict=True)
        ],
        **_build_storage(judged_design),
    }


def build_allowed_document(allowed: AllowedFinding, redaction: Redaction) -> dict[str, Any]:
    """Return a finding that the design file allows, with the reason given there."""
    sections = _find_rule_sections(allowed.finding.code)
    return {
        "code": allowed.finding.code,
        "name": format_rule_name(allowed.finding.name),
        "what": _join_lines(sections.summary) if sections is not None else "",
        "reason": "" if redaction.is_hiding else shorten_text(allowed.reason),
    }


def _list_read_costs(judged_design: JudgedDesign) -> list[ReadCost | None]:
    """Return the simulated cost of each declared read; None if it was not simulated."""
    reads: list[ReadCost | None] = list(judged_design.simulation.reads)
    return reads or [None] * len(judged_design.design.reads)


def _build_source(simulation: Simulation, redaction: Redaction) -> dict[str, Any]:
    """Return which events were replayed: their file, number and remarks."""
    source = simulation.source
    said = [*source.assumptions, *simulation.remarks]
    return {
        "kind": source.origin,
        "name": ""
        if redaction.is_hiding or not source.name
        else shorten_text(Path(source.name).name),
        "events": source.total_count,
        "left_out": source.skipped_rows.count,
        "said": [] if redaction.is_hiding else [shorten_text(one) for one in said],
    }


def build_properties_document(properties: DesignProperties) -> dict[str, Any]:
    """Return whether a key is unique, decodable and salted, and its row order."""
    return {
        "decodes": properties.can_decode,
        "unique": properties.is_unique,
        "chance": properties.is_salted,
        "order": [shorten_text(one) for one in properties.row_order],
        "lossy": [shorten_text(name) for name in properties.losses],
        "kept": [shorten_text(name) for name in properties.stored_fields],
    }


def _build_skew(skew: Skew) -> dict[str, Any]:
    """Return the document of one measured skew."""
    return {
        "width_s": skew.width_s,
        "servers": skew.server_skew,
        "even": skew.even_server_skew,
        "regions": skew.region_skew,
        "low": skew.balanced_low,
        "high": skew.balanced_high,
        "covered": skew.covered_share,
    }


def build_cause_document(cause: Cause, redaction: Redaction) -> dict[str, Any]:
    """Return a cause of a hot spot with its figures; without values if they are hidden."""
    figures: dict[str, Any] = {}
    for name, value in cause.evidence.items():
        if name == "fields":
            figures[name] = ", ".join(map(shorten_text, value))
        else:
            figures[name] = redaction.redact_figure(value)
    notation = _NOTATION_PATTERN.search(cause.remedy)
    return {
        "code": cause.code,
        "bound": cause.bound,
        "figures": {n: v for n, v in figures.items() if isinstance(v, str | int | float)},
        "notation": shorten_text(notation[0]) if notation else "",
        "listed": {} if redaction.is_hiding else _format_proposal(cause),
        "message": "" if redaction.is_hiding else shorten_text(cause.message),
        "remedy": "" if redaction.is_hiding else shorten_text(cause.remedy),
    }


def _format_proposal(cause: Cause) -> dict[str, str]:
    """Return the key, splits and heavy values that a cause proposes, in TOML notation."""
    proposal = cause.evidence.get("proposal")
    if not proposal:
        return {}
    ((field, values),) = proposal["heavy"].items()
    options = {name: format_toml_value(proposal[name]) for name in ("key", "splits")}
    options |= {"field": field, "heavy": json.dumps(values, ensure_ascii=False)}
    return {name: shorten_text(option) for name, option in options.items()}


def sort_by_severity(lint_result: LintResult) -> list[Finding]:
    """Return the findings of a design, the most severe first."""
    return sorted(lint_result.findings, key=lambda finding: -finding.rank)


def build_finding_document(finding: Finding, redaction: Redaction) -> dict[str, Any]:
    """Return a finding; if values are hidden, the general text of its rule."""
    document = {
        "code": finding.code,
        "name": format_rule_name(finding.name),
        "severity": finding.severity,
        "line": finding.line or None,
        "path": finding.path,
    }
    if not redaction.is_hiding:
        texts = {"what": finding.message, "remedy": finding.remedy, "verdict": finding.verdict}
        return {**document, **texts, "is_general": False}
    sections = _find_rule_sections(finding.code)
    what, remedy = "", ""
    if sections is not None:
        what, remedy = _join_lines(sections.summary), f"Use instead: {_join_lines(sections.remedy)}"
    hidden = {"path": "", "what": what, "remedy": remedy, "verdict": ""}
    return {**document, **hidden, "is_general": True}


def _find_rule_sections(code: str) -> RuleDoc | None:
    """Return the documentation of the rule with a code; None if there is no such rule."""
    return next((rule.parse_docstring() for rule in RULES.values() if rule.code == code), None)


def _join_lines(text: str) -> str:
    """Return a docstring section as one line."""
    return " ".join(text.split())


def _build_read(
    read: DeclaredRead, cost: ReadCost | None, plan: Explanation, redaction: Redaction
) -> dict[str, Any]:
    """Return a declared read with its plan and simulated cost."""
    found: dict[str, Any] = {
        "name": shorten_text(read.name),
        "where": [
            _format_condition(read, number, redaction) for number in range(len(read.conditions))
        ],
        "order": [shorten_text(f"{o.field}{' desc' if o.descending else ''}") for o in read.order],
        "limit": read.limit,
        "rate": read.rate,
        "runs": plan.access_type,
        "fan_out": plan.fan_out,
        "pinned": [shorten_text(part) for part in plan.pinned_parts],
        "narrowed": shorten_text(plan.narrowed_part),
        "residual": [shorten_text(name) for name in plan.residual_fields],
        "served": plan.order_method,
        "proposal": shorten_text(plan.proposal.key) if plan.proposal is not None else "",
        "ranges": []
        if redaction.is_hiding
        else [shorten_text(one.description) for one in plan.ranges],
        "more": max(plan.fan_out - len(plan.ranges), 0),
        "cost": None,
    }
    if cost is not None and not cost.error:
        found["cost"] = {
            "fan_out": cost.fan_out[0],
            "regions": cost.regions[0],
            "returned": cost.returned_rows,
            "amplification": cost.amplification,
            "full_scan": cost.is_full_scan,
        }
    return found


def _format_condition(read: DeclaredRead, number: int, redaction: Redaction) -> str:
    """Return a condition of a read as text; hidden values become dots."""
    condition = read.conditions[number]
    is_open = all(isinstance(operand, Parameter) for operand in condition.operands)
    if is_open or not redaction.is_hiding:
        return shorten_text(str(condition))
    return shorten_text(f"{condition.field} {condition.operator} …")


def _build_storage(judged_design: JudgedDesign) -> dict[str, Any]:
    """Return the families, the cells that an event writes, and their bytes."""
    design, found = judged_design.design, judged_design.simulation
    families = []
    for family in design.families.values():
        said = {word: getattr(family, _find_attribute_name(word)) for word in ATTRIBUTES}
        told = {w: v for w, v in said.items() if v != ATTRIBUTES[w].default}
        families.append(
            {
                "name": family.name,
                "ttl_s": None if family.ttl_s == FOREVER_S else family.ttl_s,
                "versions": family.versions,
                "compression": family.compression,
                "bloom": family.bloom,
                "block_size": family.block_size,
                "more": {w: str(v) for w, v in told.items() if w not in _COLUMN_ATTRIBUTES},
            }
        )
    cells = [
        {
            "family": shape.family,
            "qualifier": shorten_text(shape.qualifier.decode(errors="backslashreplace")),
            "fields": [shorten_text(name) for name in shape.fields],
            "value_bytes": shape.mean_value_bytes,
            "share": shape.event_share,
        }
        for shape in design.layout.estimate_cells(judged_design.facts)
    ]
    return {
        "families": families,
        "cells": cells,
        "bytes": {"key": found.key_bytes, "event": judged_design.event_bytes},
    }


_COLUMN_ATTRIBUTES = frozenset({"ttl", "versions", "compression", "bloom", "block_size"})
"""Attributes that have a column of their own."""


def _find_attribute_name(option: str) -> str:
    """Return the attribute of `Family` that a design option sets."""
    return "ttl_s" if option == "ttl" else option
