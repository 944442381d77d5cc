"""Results of running tables shown: how hot one is now, and what was predicted against counted."""

from rowkey.render.observed.live import LIVE, live_document, print_live
from rowkey.render.observed.proof import PROVE, print_proof, proof_document

__all__ = ["LIVE", "PROVE", "live_document", "print_live", "print_proof", "proof_document"]
