"""The read cause `every_server`."""

from __future__ import annotations

from rowkey.hotspots.read_contract import ReadCause
from rowkey.hotspots.read_load_result import (
    ReadCauseFinding,
    ReadLoadResult,
    build_proposal_evidence,
)
from rowkey.messages import Message, format_mean, join_names
from rowkey.proposals import PER_BUCKET, NarrowKeyProposal, list_narrow_keys

MIN_ASKED_SHARE = 0.95
"""Share of the servers with rows that a mean answer must ask."""
MIN_EXPLAINED_SHARE = 1 / 3
"""Share of the operations that must be requests beyond the first of an answer."""


class EveryServerCause(ReadCause):
    """Each answer asks so many ranges that every server gets every answer.

    More servers do not help: they get the same requests again. Fewer ranges do: a bucket of fields
    that the read gives, or fewer buckets.
    """

    name = "every_server"
    concerns_even_load = True

    @classmethod
    def recognise(cls, result: ReadLoadResult) -> ReadCauseFinding | None:
        """Return the cause if the requests of answers that ask all servers are the load."""
        if result.used_servers < 2 or not result.answer_operations:
            return None
        if result.answer_servers < MIN_ASKED_SHARE * result.used_servers:
            return None
        share = max(result.answer_regions - 1, 0.0) / result.answer_operations
        if share < MIN_EXPLAINED_SHARE:
            return None
        proposal = _propose_key(result)
        message = Message(
            "read_hot_spot.every_server",
            "each answer asks {regions} regions on all {servers} servers that have rows, so more "
            "servers do not help",
            regions=format_mean(result.answer_regions),
            servers=result.used_servers,
        )
        evidence = {
            "regions": result.answer_regions,
            "servers": result.answer_servers,
            "proposal": build_proposal_evidence(proposal),
        }
        return ReadCauseFinding(
            cls.name,
            message,
            _format_remedy(proposal),
            share,
            evidence,
            needs_key=proposal is not None,
        )


def _propose_key(result: ReadLoadResult) -> NarrowKeyProposal | None:
    """Propose a key under which the read asks fewer ranges; None if all reads save too little."""
    for proposal in list_narrow_keys(result.design, result.facts, result.read):
        gain = result.measure_gain(proposal)
        if gain is not None and gain.is_worth_narrowing:
            return proposal
    return None


def _format_remedy(proposal: NarrowKeyProposal | None) -> Message:
    """Return the remedy: a bucket of what the read gives, fewer buckets, or fewer reads."""
    if proposal is None:
        return Message(
            "read_hot_spot.every_server_cached",
            "Give more fields of the key in this read, ask less often, or cache the answers.",
        )
    if proposal.bucket_fields:
        return Message(
            "read_hot_spot.every_server_bucket",
            'Use key = "{key}" and splits = "{splits}": with a bucket of {fields}, which the read '
            "gives, its fan-out falls from {present} to {ranges}.",
            key=proposal.key,
            splits=PER_BUCKET,
            fields=join_names(proposal.bucket_fields),
            ranges=proposal.ranges,
            present=proposal.present_ranges,
        )
    if proposal.has_salts:
        return Message(
            "read_hot_spot.every_server_salts",
            'Use key = "{key}" and splits = "{splits}": with one salt for each server, the fan-out '
            "falls from {present} to {ranges}.",
            key=proposal.key,
            splits=PER_BUCKET,
            ranges=proposal.ranges,
            present=proposal.present_ranges,
        )
    return Message(
        "read_hot_spot.every_server_buckets",
        'Use key = "{key}" and splits = "{splits}": with one bucket for each server, the fan-out '
        "falls from {present} to {ranges}.",
        key=proposal.key,
        splits=PER_BUCKET,
        ranges=proposal.ranges,
        present=proposal.present_ranges,
    )
