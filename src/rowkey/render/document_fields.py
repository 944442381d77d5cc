"""The meaning of every field of the JSON documents, for the reference and for its test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rowkey.render.findings import FINDINGS_FIELDS
from rowkey.render.packing import PACKING_FIELDS
from rowkey.render.undeclared_cells import UNDECLARED_FIELDS, UNDECODABLE_FIELDS
from rowkey.render.verdict import VERDICT_FIELDS

_SKEW_FIELDS = {
    "servers": "load of the fullest server of a window over its fair share, weighted by load",
    "regions": "the same of regions",
    "even_servers": "what an even design would show with as many events",
    "even_regions": "the same of regions",
    "balanced_placements.low": "least skew of 32 other placements that balance region counts",
    "balanced_placements.median": "their median",
    "balanced_placements.high": "their largest",
    "one_more_server": "skew with one server more",
    "double_servers": "skew with twice the servers",
    "windows": "windows that hold 200 events a server or more",
    "covered": "share of all events that lie in them",
    "peak.start_ms": "start of the hottest window, milliseconds since 1970",
    "peak.skew": "its skew over servers",
    "provisioning": "most on one server in any window, over a fair share of the busiest window",
    "reason": "why there are no figures; only where the events are too thin or last too short",
}

_READ_LOAD_FIELDS = {
    "rate": "answers a second",
    "rate_declared": "whether all rates are declared; one that is not counts as 1/s",
    "operations": "operations a second: each region that a read asks, and 20 rows read in it",
    "level": "even, warm or hot: their skew over servers",
    "skew": "load of the busiest server over its fair share",
    "even_skew": "what even reads would show, as uncertain as these",
    "busiest_region.number": "the region with the most operations, from 0",
    "busiest_region.share": "its share of them",
    "busiest_region.margin": "how far the true share may lie from it, in 95 of 100 cases",
    "busiest_server.number": "the server with the most operations, from 0",
    "busiest_server.share": "its share of them",
    "busiest_server.margin": "the margin of the share",
}

SIMULATION_FIELDS = {
    "format": "version of this document",
    **VERDICT_FIELDS,
    "table": "name of the table",
    "key": "the row key in bracket notation",
    "seed": "where randomness began",
    "source.kind": "sample or generated",
    "source.path": "the sample's file",
    "source.events": "events there are",
    "source.first": "number of the first event that was replayed",
    "source.left_out": "rows of the sample that are no events; they are not replayed",
    "source.left_out_first": "the first of them, and why it is left out",
    "source.assumed[]": "what was not declared and had to be assumed",
    "operations": "events replayed",
    "servers": "region servers",
    "regions[].start": "first possible row key, hexadecimal; empty for the first region",
    "regions[].stop": "first row key after it, hexadecimal; empty for the last region",
    "regions[].server": "the server it is created on, from 0",
    "regions[].writes": "operations on it",
    "remarks[]": "remarks on the boundaries and the sample",
    "empty_region_count": "regions without a write",
    "overwritten.rows": "events that overwrote an existing row, also as another version of it",
    "overwritten.exact": "whether they were counted, not estimated",
    "bytes.key": "mean bytes of a row key",
    "bytes.event": "mean bytes an event adds to a store before encoding and compression",
    **PACKING_FIELDS,
    **{f"skew.*.{name}": meaning for name, meaning in _SKEW_FIELDS.items()},
    "equal_count.windows": "windows of equal numbers of events",
    "equal_count.servers.total": "share of all events on the busiest server",
    "equal_count.servers.mean": "mean over windows of the busiest server's share",
    "equal_count.servers.worst": "its largest",
    "equal_count.regions.total": "share of all events in the busiest region",
    "equal_count.regions.mean": "mean over windows of the busiest region's share",
    "equal_count.regions.worst": "its largest",
    "late": "operations that came after their window had been closed, and are in no skew",
    "reads[].name": "name of the declared read",
    "reads[].fan_out.mean": "ranges read for one answer, mean of all trials",
    "reads[].fan_out.margin": "how far the true mean may lie from it, in 95 of 100 cases",
    "reads[].fan_out.most": "the most",
    "reads[].regions.mean": "regions touched, mean",
    "reads[].regions.margin": "its margin",
    "reads[].regions.most": "the most",
    "reads[].rows_returned.mean": "rows of an answer, mean; events, where they share rows",
    "reads[].rows_returned.margin": "its margin",
    "reads[].rows_read.mean": "rows read for it, mean",
    "reads[].rows_read.margin": "its margin",
    "reads[].read_per_returned": "rows read for each row returned",
    "reads[].residual[]": "fields whose conditions are tested after reading",
    "reads[].full_scan": "whether nothing in the key narrows the read",
    "reads[].order_served": "whether rows come in the order asked for, forwards or backwards",
    "reads[].assumed": "what was assumed to ask it",
    "reads[].error": "why it could not be asked",
    **{f"read_load.{name}": meaning for name, meaning in _READ_LOAD_FIELDS.items()},
    "read_load.regions[].operations": "operations a second of all reads on the region",
    "read_load.regions[].margin": "their margin",
    "read_load.reads[].name": "name of a declared read that runs",
    **{f"read_load.reads[].{name}": meaning for name, meaning in _READ_LOAD_FIELDS.items()},
    "read_load.reads[].causes[].code": "the name of a cause of a read hot spot",
    "read_load.reads[].causes[].message": "why servers have much to do for the read",
    "read_load.reads[].causes[].explained": (
        "the share of the busiest server's operations for the read that it explains"
    ),
    "read_load.reads[].causes[].evidence.*": "the figures by name",
    "read_load.reads[].causes[].remedy": "what would help; nothing of it is done unasked",
    "causes[].code": "the cause's name",
    "causes[].message": "what was seen, with figures",
    "causes[].bound": "the skew over servers below which no other such regions bring it",
    "causes[].explained": "the skew over servers that it explains, at most what was measured",
    "causes[].evidence.*": "the figures by name",
    "causes[].remedy": "what would help; nothing of it is done unasked",
    "load_map.start_s": "start of the first column of time, seconds since 1970",
    "load_map.width_s": "seconds of a column; there are at most 120",
    "load_map.rows[].first": "number of the region, or the first of a group of neighbouring ones",
    "load_map.rows[].last": "the last region of the group; there are at most 64 groups",
    "load_map.rows[].writes[]": (
        "operations a second of the writes in each column, at the declared rate if there is one"
    ),
    "load_map.rows[].reads": "operations a second of all reads, which are constant over time",
    "load_map.rows[].both[]": "operations a second of writes and reads in each column",
    "growth.regions": "regions once the table holds what rate and ttl imply",
    "growth.splits": "splits on the way there",
    "growth.fill": "mean size of a region over the size at which it splits",
    "growth.idle": "share of regions without any of the last tenth of the writes",
    "scaled.rate": "the declared events a second",
    "scaled.operations": "events made by a generator fitted to the sample",
    **{f"scaled.skew.*.{name}": meaning for name, meaning in _SKEW_FIELDS.items()},
}

_FORESEEN_FIELDS = {
    "foreseen[].code": "a cause of a hot spot that the design already shows",
    "foreseen[].message": "why it will run hot",
    "foreseen[].bound": "the skew over servers below which no other such regions bring it",
    "foreseen[].explained": "the skew over servers that it explains",
    "foreseen[].evidence.*": "the figures by name",
    "foreseen[].remedy": "what would help; nothing of it is done unasked",
}

CHECK_FIELDS = {
    "format": "version of this document",
    "file": "the design file",
    "ok": "whether it has no mistakes, and no findings of the severity of --fail-on; the command "
    "exits with 1 if it is false for a file",
    "mistakes[].line": "line of the file",
    "mistakes[].column": "character of that line at which the mistake begins",
    "mistakes[].path": "where, as dotted words",
    "mistakes[].message": "what is wrong, with the value",
    "mistakes[].expected": "what is allowed",
    "mistakes[].remedy": "what to write instead",
    "table": "name of the table",
    "key": "the row key in bracket notation",
    "parts[].notation": "the part as declared",
    "parts[].fields[]": "fields it is computed from",
    "parts[].bytes.least": "fewest bytes",
    "parts[].bytes.most": "most bytes; null without a limit",
    "parts[].closed": "whether its bytes show where it ends",
    "parts[].order": "strict, weak, reversed, weak-reversed or none",
    "parts[].loses.*": "by field, what cannot be read back from its bytes",
    "parts[].description": "its bytes in words",
    "key_bytes.least": "fewest bytes of a row key",
    "key_bytes.most": "most bytes of a row key; null without a limit",
    **PACKING_FIELDS,
    "decodes": "whether the fields can be decoded from a key",
    "ambiguous[]": "why not",
    "recovered[]": "fields that can be decoded from the key completely",
    "stored_as_columns[]": "fields of the key that are stored as columns because it does not",
    "unique": "whether rows that differ in a field of the key have different keys",
    "lossy.*": "by field, what makes different rows share a key, with the odds",
    "order[]": "the order rows come in, after salts and buckets",
    "is_salted": "whether the key has a random salt",
    "regions": "regions it is created with; null if that takes a sample",
    "reads[].name": "name of the declared read",
    "reads[].fan_out": "ranges read for one answer, with example values",
    "reads[].residual[]": "fields whose conditions are tested after reading",
    "reads[].full_scan": "whether nothing in the key narrows it",
    "reads[].order_served": "whether rows come in the order asked for, forwards or backwards",
    "reads[].error": "why it cannot be planned",
    **_FORESEEN_FIELDS,
    **FINDINGS_FIELDS,
    "remarks[]": "further remarks on the design, and why its sample is not used",
}

SPLITS_FIELDS = {
    "format": "version of this document",
    "algorithm": "the split algorithm",
    "splits[]": "row keys at which regions begin, hexadecimal",
    "regions": "how many regions there are",
    "remarks[]": "remarks on the boundaries",
    "sizing.regions": "how many regions are recommended",
    "sizing.bound": "load of the busiest server over the mean if all regions are equally loaded",
    "sizing.reasons[]": "why",
    "sizing.warnings[]": "what the recommendation cannot achieve",
    "sizing.opinions[].source": "who says so",
    "sizing.opinions[].least": "fewest regions; null if the source sets no least",
    "sizing.opinions[].most": "most regions; null if the source sets no most",
    "sizing.opinions[].reason": "why",
}

VECTORS_FIELDS = {
    "format": "version of this document",
    "key": "the row key in bracket notation",
    "parts[].notation": "the part as declared",
    "parts[].description": "its bytes in words",
    "vectors[].row.*": "the values by field; bytes in hexadecimal",
    "vectors[].key": "the row key, hexadecimal",
    "vectors[].parts[]": "the bytes of each part, hexadecimal",
}

REGIONS_FIELDS = {
    "format": "version of this document",
    "table": "name of the table",
    "regions[].start": "first possible row key, hexadecimal; empty for the first region",
    "regions[].stop": "first row key after it, hexadecimal; empty for the last region",
    "regions[].writes": "mutations of a row since its creation; all cells of a put are one",
    "regions[].reads": "rows returned by gets and scans, and gets that found nothing",
}

COUNT_FIELDS = {
    "format": "version of this document",
    "table": "name of the table",
    "rows": "rows that meet all conditions",
    **UNDECLARED_FIELDS,
    **UNDECODABLE_FIELDS,
}


def list_paths(document: Any, prefix: str = "") -> Iterator[str]:
    """Yield the path of every value in a JSON document, such as `a.b` or `a[]`.

    >>> sorted(list_paths({"a": {"b": 1}, "c": [{"d": 2}]}))
    ['a.b', 'c[].d']
    """
    if isinstance(document, dict):
        for name, value in document.items():
            yield from list_paths(value, f"{prefix}.{name}" if prefix else name)
    elif isinstance(document, list):
        for value in document:
            yield from list_paths(value, f"{prefix}[]")
    else:
        yield prefix
