"""Results as JSON documents, with every field's meaning beside it.

The names are public: a field is added at any time, but never renamed or given another meaning
without a new `format`.
"""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Any

from rowkey.render.findings import findings_document
from rowkey.render.packing import packing_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rowkey.design import Design, Properties
    from rowkey.errors import Mistake
    from rowkey.heat import Finding, Shares, Skew
    from rowkey.keys import Key, Row
    from rowkey.lint import Findings
    from rowkey.schema import Value
    from rowkey.simulate import CutFound, Simulation
    from rowkey.workload import Packing

FORMAT = 1


def simulation_document(found: Simulation, packing: Packing | None = None) -> dict[str, Any]:
    """A simulation, as `rowkey simulate -f json` prints it; with what packed cells save."""
    return {
        "format": FORMAT,
        "table": found.design.table,
        "key": str(found.design.key),
        "seed": found.seed,
        "source": {
            "kind": found.source.kind,
            "path": found.source.name or None,
            "events": found.source.total,
            "first": found.source.first,
            "left_out": found.source.left_out.count,
            "left_out_first": found.source.left_out.first or None,
            "assumed": list(found.source.assumed),
        },
        "operations": found.operations,
        "servers": found.design.cluster.servers,
        "regions": [
            {
                "start": region.start.hex(),
                "stop": region.stop.hex(),
                "server": region.server,
                "writes": region.writes,
            }
            for region in found.regions
        ],
        "remarks": list(found.remarks),
        "dead_regions": found.dead,
        "overwritten": {"rows": found.overwritten, "exact": found.overwritten_exact},
        "bytes": {"key": found.key_bytes, "event": found.event_bytes},
        "packing": packing_document(packing),
        "skew": {f"{skew.width_s}s": _skew(skew) for skew in found.skews},
        "equal_count": {
            "windows": found.windows,
            "servers": _shares(found.server_shares),
            "regions": _shares(found.region_shares),
        },
        "late": found.late,
        "reads": [_read(found, index) for index in range(len(found.reads))],
        "causes": [_cause(cause) for cause in found.causes],
        "growth": _growth(found),
        "scaled": _scaled(found),
        "verdict": found.verdict.word,
        "verdict_skew": found.verdict.skew,
        "verdict_even": found.verdict.even,
        "verdict_basis": found.verdict.basis,
    }


def _skew(skew: Skew) -> dict[str, Any]:
    """One width of window; a thin one has its reason and no figures."""
    figures: dict[str, Any] = {
        "servers": skew.servers,
        "regions": skew.regions,
        "even_servers": skew.even_servers,
        "even_regions": skew.even_regions,
        "servers_other": None,
        "one_more_server": skew.one_more,
        "double_servers": skew.doubled,
        "windows": skew.windows,
        "covered": skew.covered,
        "peak": None,
        "provisioning": skew.provisioning,
    }
    if skew.reason:
        return {**figures, "reason": skew.reason}
    figures["servers_other"] = {
        "low": skew.other_low,
        "median": skew.other_median,
        "high": skew.other_high,
    }
    if skew.peak is not None:
        figures["peak"] = {"start_ms": skew.peak[0], "skew": skew.peak[1]}
    return figures


def _shares(shares: Shares) -> dict[str, float]:
    return {"total": shares.total, "median": shares.median, "worst": shares.worst}


def _cause(cause: Finding) -> dict[str, Any]:
    return {
        "code": cause.code,
        "message": cause.message,
        "bound": cause.bound,
        "evidence": dict(cause.evidence),
        "remedy": cause.remedy,
    }


def _read(found: Simulation, index: int) -> dict[str, Any]:
    read = found.reads[index]
    return {
        "name": read.name,
        "fan_out": {"mean": read.fan_out[0], "most": read.fan_out[1]},
        "regions": {"mean": read.regions[0], "most": read.regions[1]},
        "rows_returned": read.returned,
        "rows_read": read.read,
        "read_per_returned": read.amplification,
        "residual": list(read.residual),
        "full_scan": read.is_full_scan,
        "order_served": read.serves_order,
        "assumed": read.assumed or None,
        "error": read.error or None,
    }


def _growth(found: Simulation) -> dict[str, Any] | None:
    growth = found.growth
    if growth is None:
        return None
    return {
        "regions": growth.regions,
        "splits": len(growth.splits),
        "fill": growth.fill,
        "idle": growth.idle,
    }


def _scaled(found: Simulation) -> dict[str, Any] | None:
    scaled = found.scaled
    if scaled is None:
        return None
    skews = {f"{skew.width_s}s": _skew(skew) for skew in scaled.skews}
    return {"rate": scaled.rate, "operations": scaled.operations, "skew": skews}


def mistakes_document(path: str, mistakes: Iterable[Mistake]) -> dict[str, Any]:
    """A broken design file, as `rowkey check -f json` prints it."""
    return {
        "format": FORMAT,
        "file": path,
        "ok": False,
        "mistakes": [
            {
                "line": mistake.line or None,
                "column": mistake.column or None,
                "path": mistake.path,
                "what": mistake.what,
                "allowed": mistake.allowed or None,
                "remedy": mistake.remedy or None,
            }
            for mistake in mistakes
        ],
    }


def check_document(
    path: str,
    design: Design,
    found: Properties,
    judged: Findings,
    packing: Packing | None = None,
) -> dict[str, Any]:
    """A sound design file with what follows from it, as `rowkey check -f json` prints it."""
    return {
        "format": FORMAT,
        "file": path,
        "ok": True,
        "mistakes": [],
        "table": design.table,
        "key": str(design.key),
        "parts": [
            {
                "notation": part.notation,
                "fields": list(part.fields),
                "bytes": {"least": part.least, "most": part.most},
                "closed": part.closed,
                "order": part.order,
                "loses": dict(part.loses),
                "words": part.words,
            }
            for part in found.parts
        ],
        "key_bytes": {"least": found.key_least, "most": found.key_most},
        "packing": packing_document(packing),
        "decodes": found.decodes,
        "ambiguous": list(found.ambiguous),
        "recovered": list(found.recovered),
        "stored_as_columns": list(found.kept),
        "unique": found.unique,
        "lossy": dict(found.lossy),
        "order": list(found.order),
        "chance": found.chance,
        "regions": found.regions,
        "reads": [
            {
                "name": read.name,
                "fan_out": read.fan_out,
                "residual": list(read.residual),
                "full_scan": read.is_full_scan,
                "order_served": read.serves_order,
                "error": read.error or None,
            }
            for read in found.reads
        ],
        "foreseen": [_cause(cause) for cause in judged.causes],
        **findings_document(judged),
        "remarks": list(found.remarks),
    }


def vectors_document(key: Key, rows: Sequence[Row]) -> dict[str, Any]:
    """Rows with the bytes of their keys, as `rowkey vectors -f json` prints them.

    Raises:
        RowError: a row cannot be encoded.
    """
    vectors = []
    for row in rows:
        encoded = key.encode(row)
        pieces = [piece.hex() for piece in key.cut(encoded)] if key.is_decodable else []
        vectors.append({"row": row_document(row), "key": encoded.hex(), "parts": pieces})
    parts = [
        {"notation": str(term), "words": part.words()}
        for term, part in zip(key.terms, key.parts, strict=True)
    ]
    return {"format": FORMAT, "key": str(key), "parts": parts, "vectors": vectors}


def splits_document(found: CutFound) -> dict[str, Any]:
    """Region boundaries, as `rowkey splits -f json` prints them."""
    sizing = found.sizing
    return {
        "format": FORMAT,
        "algorithm": found.algorithm,
        "splits": [split.hex() for split in found.boundaries.splits],
        "regions": len(found.boundaries),
        "remarks": list(found.remarks),
        "sizing": None
        if sizing is None
        else {
            "regions": sizing.regions,
            "bound": sizing.bound,
            "reasons": list(sizing.reasons),
            "warnings": list(sizing.warnings),
            "opinions": [
                {"source": o.source, "least": o.least, "most": o.most, "reason": o.reason}
                for o in sizing.opinions
            ],
        },
    }


def plain(value: Value) -> Any:
    """A value as JSON has it: bytes in hexadecimal, decimals, dates and infinities as text.

    >>> plain(b"\\x0a"), plain(1.5), plain(float("-inf"))
    ('0a', 1.5, '-Infinity')
    """
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def row_document(row: Mapping[str, Value]) -> dict[str, Any]:
    """A row's values as JSON has them."""
    return {name: plain(value) for name, value in row.items()}
