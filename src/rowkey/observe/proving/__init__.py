"""Predicted against counted: a sample is replayed through a table, and its regions are asked."""

from rowkey.observe.proving.proof import PhaseProof, Proof, ReadProof, RegionProof, Sized
from rowkey.observe.proving.running import prove

__all__ = ["PhaseProof", "Proof", "ReadProof", "RegionProof", "Sized", "prove"]
