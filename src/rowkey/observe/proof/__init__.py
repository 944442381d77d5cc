"""Prove predictions: replay a sample through a table, and compare with what its regions count."""

from rowkey.observe.proof.proof_result import PhaseProof, Proof, ReadProof, RegionProof, SizeProof
from rowkey.observe.proof.prover import prove_design

__all__ = ["PhaseProof", "Proof", "ReadProof", "RegionProof", "SizeProof", "prove_design"]
