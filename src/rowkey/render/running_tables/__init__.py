"""Results of running tables: their load now, and predicted against counted requests."""

from rowkey.render.running_tables.live import LIVE_FIELDS, build_live_document, print_live
from rowkey.render.running_tables.load_map import format_server, format_start_key
from rowkey.render.running_tables.proof import PROOF_FIELDS, build_proof_document, print_proof

__all__ = [
    "LIVE_FIELDS",
    "PROOF_FIELDS",
    "build_live_document",
    "build_proof_document",
    "format_server",
    "format_start_key",
    "print_live",
    "print_proof",
]
