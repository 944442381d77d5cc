"""The read cause `every_server`."""

from __future__ import annotations

from rowkey.hotspots.read_contract import ReadCause
from rowkey.hotspots.read_load_result import ReadCauseFinding, ReadLoadResult
from rowkey.messages import Message, format_mean

MIN_ASKED_SHARE = 0.95
"""Share of the servers with rows that a mean answer must ask."""
MIN_EXPLAINED_SHARE = 1 / 3
"""Share of the operations that must be requests beyond the first of an answer."""

REMEDY = Message(
    "read_hot_spot.every_server_cached",
    "Give more fields of the key in this read, ask less often, or cache the answers.",
)


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
        message = Message(
            "read_hot_spot.every_server",
            "each answer asks {regions} regions on all {servers} servers that have rows, so more "
            "servers do not help",
            regions=format_mean(result.answer_regions),
            servers=result.used_servers,
        )
        evidence = {"regions": result.answer_regions, "servers": result.answer_servers}
        return ReadCauseFinding(
            cls.name, message, REMEDY, explained_share=share, evidence=evidence, needs_key=True
        )
