"""Findings in the formats of other programs."""
