"""Builds the JSON documents of results.

The names are public: a field is added at any time, but never renamed or given another meaning
without a new `format`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isinf
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np
from rowkey.errors import Mistake
from rowkey.render.findings import build_findings_document
from rowkey.render.packing import build_packing_document
from rowkey.render.redaction import NO_REDACTION, Redaction
from rowkey.render.verdict import build_verdict_document

if TYPE_CHECKING:
    from rowkey.advise import JudgedDesign
    from rowkey.design import Design, DesignProperties, PartProperties
    from rowkey.hotspots import BusiestShares, CauseFinding, ReadCauseFinding, Skew
    from rowkey.keys import Field, Key, Row
    from rowkey.lint import LintResult
    from rowkey.schema import Value
    from rowkey.simulate import LoadEstimate, ReadCost, ReadLoad, Simulation, SplitReport
    from rowkey.workload import PackingSavings

FORMAT_VERSION = 1
MAX_MAP_ROWS, MAX_MAP_COLUMNS = 64, 120
"""Rows and columns of the load map of a document; more are put together."""


def build_simulation_document(judged: JudgedDesign) -> dict[str, Any]:
    """Return a judged design as `rowkey simulate -f json` prints it."""
    simulation = judged.simulation
    return {
        "format": FORMAT_VERSION,
        **build_replay_document(judged),
        "load_map": _build_load_map(simulation),
        "packing": build_packing_document(judged.packing),
        "growth": _build_growth(simulation),
        "scaled": _build_scaled(simulation),
    }


def build_replay_document(
    judged: JudgedDesign, redaction: Redaction = NO_REDACTION
) -> dict[str, Any]:
    """Return a judged design without what takes further replays: its growth and declared rate."""
    simulation = judged.simulation
    design, source = simulation.design, simulation.source
    return {
        **build_verdict_document(judged.verdict, simulation, redaction),
        "table": design.table,
        "key": str(design.key),
        "seed": simulation.seed,
        "source": {
            "kind": source.origin,
            "path": redaction.omit_text(source.name),
            "events": source.total_count,
            "first": source.first_replayed,
            "left_out": source.skipped_rows.count,
            "left_out_first": redaction.omit_text(source.skipped_rows.first_problem),
            "assumed": redaction.omit_texts(source.assumptions),
        },
        "operations": simulation.operation_count,
        "servers": design.cluster.servers,
        "regions": [
            {
                "start": redaction.format_row_key(design, region.start),
                "stop": redaction.format_row_key(design, region.stop),
                "server": region.server,
                "writes": region.writes,
            }
            for region in simulation.regions
        ],
        "remarks": redaction.omit_texts(simulation.remarks),
        "empty_region_count": simulation.empty_region_count,
        "overwritten": {"rows": simulation.overwrite_count, "exact": simulation.is_overwrite_exact},
        "bytes": {"key": simulation.key_bytes, "event": simulation.event_bytes},
        "skew": {f"{skew.width_s}s": _build_skew(skew) for skew in simulation.skews},
        "equal_count": {
            "windows": simulation.window_count,
            "servers": _build_shares(simulation.server_shares),
            "regions": _build_shares(simulation.region_shares),
        },
        "late": simulation.late_count,
        "reads": [build_read_cost_document(cost, redaction) for cost in simulation.reads],
        "read_load": _build_read_load(simulation, redaction),
        "causes": [build_cause_document(cause, redaction) for cause in simulation.causes],
    }


def _build_skew(skew: Skew) -> dict[str, Any]:
    """Return the skew at one window width; without figures, the reason why there are none."""
    figures: dict[str, Any] = {
        "servers": skew.server_skew,
        "regions": skew.region_skew,
        "even_servers": skew.even_server_skew,
        "even_regions": skew.even_region_skew,
        "balanced_placements": None,
        "one_more_server": skew.one_more_server,
        "double_servers": skew.double_servers,
        "windows": skew.window_count,
        "covered": skew.covered_share,
        "peak": None,
        "provisioning": skew.provisioning,
    }
    if skew.reason:
        return {**figures, "reason": skew.reason}
    figures["balanced_placements"] = {
        "low": skew.balanced_low,
        "median": skew.balanced_median,
        "high": skew.balanced_high,
    }
    if skew.peak is not None:
        figures["peak"] = {"start_ms": skew.peak[0], "skew": skew.peak[1]}
    return figures


def _build_shares(shares: BusiestShares) -> dict[str, float]:
    """Return the shares of all operations that the busiest server or region gets."""
    return {"total": shares.total, "mean": shares.mean, "worst": shares.worst}


def build_cause_document(
    cause: CauseFinding, redaction: Redaction = NO_REDACTION
) -> dict[str, Any]:
    """Return the document of one cause of a hot spot."""
    return {
        "code": cause.code,
        "message": redaction.omit_text(cause.message),
        "bound": cause.bound,
        "explained": cause.explained_skew,
        "evidence": redaction.redact_evidence(cause.evidence),
        "remedy": redaction.omit_text(cause.remedy),
    }


def build_read_cost_document(read: ReadCost, redaction: Redaction = NO_REDACTION) -> dict[str, Any]:
    """Return the simulated cost of one declared read."""
    return {
        "name": read.name,
        "fan_out": _build_mean(read.fan_out[0], read.margins.fan_out, most=read.fan_out[1]),
        "regions": _build_mean(read.regions[0], read.margins.regions, most=read.regions[1]),
        "rows_returned": _build_mean(read.returned_rows, read.margins.returned_rows),
        "rows_read": _build_mean(read.read_rows, read.margins.read_rows),
        "read_per_returned": read.amplification,
        "residual": list(read.residual_fields),
        "full_scan": read.is_full_scan,
        "order_served": read.serves_order,
        "assumed": redaction.omit_text(read.assumption),
        "error": redaction.omit_text(read.error),
    }


def _build_read_load(simulation: Simulation, redaction: Redaction) -> dict[str, Any] | None:
    """Return where all declared reads and each of them fall; None without a read that runs."""
    total = simulation.total_read_load
    if total is None:
        return None
    return {
        **_build_load_figures(total),
        "regions": [
            {"operations": mean, "margin": margin}
            for mean, margin in zip(
                total.regions.operations.tolist(), total.regions.margins.tolist(), strict=True
            )
        ],
        "reads": [
            {
                "name": load.name,
                **_build_load_figures(load),
                "causes": [
                    _build_read_cause(cause, redaction)
                    for cause in simulation.read_causes[load.name]
                ],
            }
            for load in simulation.read_loads
        ],
    }


def _build_read_cause(cause: ReadCauseFinding, redaction: Redaction) -> dict[str, Any]:
    return {
        "code": cause.code,
        "message": cause.message,
        "explained": cause.explained_share,
        "evidence": redaction.redact_evidence(cause.evidence),
        "remedy": redaction.omit_text(cause.remedy),
    }


def _build_load_map(simulation: Simulation) -> dict[str, Any] | None:
    """Return the operations a second by time and regions; None if the events have no times.

    Neighbouring regions and columns of time are put together where there are many.
    """
    count = len(simulation.regions)
    step = -(-count // MAX_MAP_ROWS)
    firsts = range(0, count, step)
    groups = [region // step for region in range(count)]
    operations = simulation.build_operation_map(groups, len(firsts))
    if operations is None:
        return None
    columns_each = max(-(-len(operations.events) // MAX_MAP_COLUMNS), 1)
    rates = {load: operations.compute_rates(load, columns_each) for load in operations.loads}
    return {
        "start_s": int(operations.start_s),
        "width_s": int(operations.width_s) * columns_each,
        "rows": [
            {
                "first": first,
                "last": min(first + step, count) - 1,
                "writes": _round_rates(rates["writes"][:, row]),
                "reads": _round_rates(rates["reads"][:1, row])[0] if "reads" in rates else None,
                "both": _round_rates(rates["both"][:, row]) if "both" in rates else None,
            }
            for row, first in enumerate(firsts)
        ],
    }


def _round_rates(rates: np.ndarray[Any, Any]) -> list[float]:
    """Return rates with six significant digits."""
    return [float(f"{rate:.6g}") for rate in rates.tolist()]


def _build_load_figures(load: ReadLoad) -> dict[str, Any]:
    """Return the rate and the operations of reads, and their busiest region and server."""
    return {
        "rate": load.rate,
        "rate_declared": load.is_rate_declared,
        "operations": load.regions.total,
        "level": load.servers.level,
        "skew": load.servers.skew,
        "even_skew": load.servers.even_skew,
        "busiest_region": _build_busiest_place(load.regions),
        "busiest_server": _build_busiest_place(load.servers),
    }


def _build_busiest_place(load: LoadEstimate) -> dict[str, float]:
    """Return the busiest region or server by index, its share of the operations and the margin."""
    share, margin = load.busiest_share
    return {"number": load.busiest_place, "share": share, "margin": margin}


def _build_mean(mean: float, margin: float, **others: float) -> dict[str, float]:
    """Return a mean with its margin of 95 of 100 cases, and other figures of the same."""
    return {"mean": mean, "margin": margin, **others}


def _build_growth(simulation: Simulation) -> dict[str, Any] | None:
    """Return how many regions the table grows to; None without a declared rate."""
    growth = simulation.growth
    if growth is None:
        return None
    return {
        "regions": growth.region_count,
        "splits": len(growth.splits),
        "fill": growth.mean_fill,
        "idle": growth.idle_share,
    }


def _build_scaled(simulation: Simulation) -> dict[str, Any] | None:
    """Return the skew at the declared rate; None without a declared rate."""
    scaled = simulation.scaled_run
    if scaled is None:
        return None
    skews = {f"{skew.width_s}s": _build_skew(skew) for skew in scaled.skews}
    return {"rate": scaled.rate, "operations": scaled.operation_count, "skew": skews}


def build_mistakes_document(path: str, mistakes: Iterable[Mistake]) -> dict[str, Any]:
    """Return the mistakes of a design file as `rowkey check -f json` prints them."""
    return {
        "format": FORMAT_VERSION,
        "file": path,
        "ok": False,
        "mistakes": [
            {
                "line": mistake.line or None,
                "column": mistake.column or None,
                "path": mistake.path,
                "message": mistake.problem,
                "expected": mistake.expected or None,
                "remedy": mistake.remedy or None,
            }
            for mistake in mistakes
        ],
    }


def build_check_document(
    path: str,
    design: Design,
    properties: DesignProperties,
    lint_result: LintResult,
    packing: PackingSavings | None = None,
    remarks: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a valid design with its properties and findings, as `rowkey check -f json` does."""
    return {
        "format": FORMAT_VERSION,
        "file": path,
        "ok": True,
        "mistakes": [],
        "table": design.table,
        "key": str(design.key),
        "parts": [build_part_document(part) for part in properties.parts],
        **build_properties_document(properties),
        "packing": build_packing_document(packing),
        "reads": [
            {
                "name": read.name,
                "fan_out": read.fan_out,
                "residual": list(read.residual_fields),
                "full_scan": read.is_full_scan,
                "order_served": read.serves_order,
                "error": read.error or None,
            }
            for read in properties.reads
        ],
        "foreseen": [build_cause_document(cause) for cause in lint_result.causes],
        **build_findings_document(lint_result),
        "remarks": [*properties.remarks, *remarks],
    }


def build_part_document(part: PartProperties) -> dict[str, Any]:
    """Return the document of one part of a key."""
    return {
        "notation": part.notation,
        "fields": list(part.fields),
        "bytes": {"least": part.min_bytes, "most": part.max_bytes},
        "closed": part.is_closed,
        "order": part.order,
        "loses": dict(part.losses),
        "description": part.description,
    }


def build_properties_document(
    properties: DesignProperties, redaction: Redaction = NO_REDACTION
) -> dict[str, Any]:
    """Return whether a key is unique, decodable and salted, its row order and its bytes."""
    return {
        "key_bytes": {"least": properties.min_key_bytes, "most": properties.max_key_bytes},
        "decodes": properties.can_decode,
        "ambiguous": redaction.omit_texts(properties.ambiguities),
        "recovered": list(properties.recovered_fields),
        "stored_as_columns": list(properties.stored_fields),
        "unique": properties.is_unique,
        "lossy": dict(properties.losses),
        "order": list(properties.row_order),
        "is_salted": properties.is_salted,
        "regions": properties.region_count,
    }


def build_vectors_document(key: Key, rows: Sequence[Row]) -> dict[str, Any]:
    """Return rows and the bytes of their keys as `rowkey vectors -f json` prints them.

    A random salt takes the numbers from 0 on, one row after the other.

    Raises:
        RowError: a row cannot be encoded.
    """
    vectors = []
    for number, row in enumerate(rows):
        encoded = key.encode(row, salt=number % key.salt_count if key.is_salted else None)
        pieces = [piece.hex() for piece in key.split_pieces(encoded)] if key.is_decodable else []
        vectors.append({"row": build_row_document(row), "key": encoded.hex(), "parts": pieces})
    parts = [
        {"notation": str(term), "description": part.describe_encoding()}
        for term, part in zip(key.terms, key.parts, strict=True)
    ]
    return {"format": FORMAT_VERSION, "key": str(key), "parts": parts, "vectors": vectors}


def build_splits_document(report: SplitReport) -> dict[str, Any]:
    """Return region boundaries as `rowkey splits -f json` prints them."""
    sizing = report.sizing
    return {
        "format": FORMAT_VERSION,
        "algorithm": report.algorithm,
        "splits": [split.hex() for split in report.boundaries.splits],
        "regions": len(report.boundaries),
        "remarks": list(report.remarks),
        "sizing": None
        if sizing is None
        else {
            "regions": sizing.regions,
            "bound": sizing.imbalance,
            "reasons": list(sizing.reasons),
            "warnings": list(sizing.warnings),
            "opinions": [
                {
                    "source": o.source,
                    "least": o.min_regions,
                    "most": o.max_regions,
                    "reason": o.reason,
                }
                for o in sizing.opinions
            ],
        },
    }


def to_json_value(value: Value) -> Any:
    """Return a field value for JSON: bytes in hexadecimal, decimals and dates as text.

    >>> to_json_value(b"\\x0a"), to_json_value(1.5), to_json_value(float("-inf"))
    ('0a', 1.5, '-Infinity')
    """
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def build_row_document(row: Mapping[str, Value]) -> dict[str, Any]:
    """Return a row as a JSON object: bytes in hexadecimal, decimals and dates as text.

    Undeclared cells are an object of hexadecimal bytes by column.
    """
    return {
        name: build_row_document(value) if isinstance(value, dict) else to_json_value(value)
        for name, value in row.items()
    }


def build_displayed_row(row: Mapping[str, Value], fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return a row as a JSON object for people, with times in ISO 8601.

    Args:
        row: the values by field.
    """
    document = build_row_document(row)
    for name, field in fields.items():
        if field.type.unit_ns is not None and row[name] is not None:
            document[name] = field.type.format_value(row[name])
    return document
