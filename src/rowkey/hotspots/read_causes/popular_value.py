"""The read cause `popular_value`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.hotspots.load_result import assign_row_codes
from rowkey.hotspots.read_contract import ReadCause
from rowkey.hotspots.read_load_result import ReadCauseFinding, ReadLoadResult
from rowkey.messages import Message

MIN_EXPLAINED_SHARE = 1 / 3
"""Share of what the busiest server takes above its fair share from which a value explains it."""


class PopularValueCause(ReadCause):
    """One value of a field is asked for too often: as often as it has rows, or as `keys` says.

    More servers do not help, because its rows stay together. A cache does, or a bucket that spreads
    this value alone, where an answer reads many rows or gives all fields of the bucket.
    """

    name = "popular_value"

    @classmethod
    def recognise(cls, result: ReadLoadResult) -> ReadCauseFinding | None:
        """Return the cause if one value explains what the busiest server takes above its share."""
        keys = result.read.keys
        if keys.shape != "sample" and len(result.read.parameter_fields) > 1:
            return None  # then combinations of values are popular
        popular = _find_popular_value(result)
        surplus = result.busiest_share - 1 / result.servers
        if popular is None or popular.surplus <= max(MIN_EXPLAINED_SHARE * surplus, 0.0):
            return None
        return ReadCauseFinding(
            cls.name,
            _format_reason(result, popular),
            Message(
                "read_hot_spot.popular_cached",
                "Cache the answers for this {field}; more servers do not help.",
                field=popular.name,
            ),
            explained_share=min(popular.work_share / (result.busiest_share or 1.0), 1.0),
            evidence={
                "fields": [popular.field],
                "row_share": popular.row_share,
                "operation_share": popular.work_share,
            },
            needs_key=popular.value.is_valid,
        )


@dataclass(frozen=True, slots=True)
class _PopularValue:
    """A value that answers ask for too often.

    Args:
        field: its field.
        value: the value, as an Arrow scalar.
        row_share: its share of all sampled rows.
        answer_share: the share of the answers that ask for it.
        work_share: the share of the read's operations that these answers cost.
        surplus: how far the busiest server's share of them would fall if its rows were spread as
            those of all other values are.
    """

    field: str
    value: Any
    row_share: float
    answer_share: float
    work_share: float
    surplus: float

    @property
    def name(self) -> Message | str:
        """Return what to call the value, which is not shown itself: its field, or a null of it."""
        if self.value.is_valid:
            return self.field
        return Message("read_hot_spot.null", "null {field}", field=self.field)


def _find_popular_value(result: ReadLoadResult) -> _PopularValue | None:
    """Return the value to which the busiest server owes most; None if the read gives no value.

    For each field that decides where an answer reads, it is the value with the most rows on this
    server. A value that is as frequent on all servers explains nothing, however frequent it is.
    """
    rows, servers = result.answerable_rows
    is_busiest = servers == result.busiest_server
    if not is_busiest.any():
        return None
    found = [_measure_value(result, field, rows, is_busiest) for field in result.placing_fields]
    return max(found, key=lambda one: one.surplus, default=None)


def _measure_value(
    result: ReadLoadResult, field: str, rows: pa.RecordBatch, is_busiest: np.ndarray[Any, Any]
) -> _PopularValue:
    """Return the most frequent value of a field on the busiest server.

    Args:
        result: the load of the read.
        field: the field.
        rows: the sampled rows that the read can ask for.
        is_busiest: whether each lies on the busiest server; at least one does.
    """
    codes = assign_row_codes(rows, (field,))
    counts, code = np.bincount(codes), int(np.bincount(codes[is_busiest]).argmax())
    work, is_value = _compute_work(result, counts), codes == code
    row_work = (work / counts)[codes]
    others = row_work[~is_value]
    others_share = 1 / result.servers
    if len(others):
        others_share = float(others[is_busiest[~is_value]].sum() / others.sum())
    total, value = float(row_work.sum()), rows.column(field)[int(is_value.argmax())]
    return _PopularValue(
        field,
        value,
        _measure_row_share(result, field, value),
        float(result.read.keys.compute_shares(counts)[code]),
        float(work[code]) / total,
        float(row_work[is_busiest].sum()) / total - others_share,
    )


def _format_reason(result: ReadLoadResult, popular: _PopularValue) -> Message:
    """Return the reason: the value has as many rows, or is asked for as often as declared."""
    field, keys = popular.name, result.read.keys
    if keys.shape != "sample":
        return Message(
            "read_hot_spot.asked",
            "the read asks for one {field} in {share} of its answers, as keys = {keys} declares",
            field=field,
            share=f"{popular.answer_share:.0%}",
            keys=f'"{keys}"',
        )
    return Message(
        "read_hot_spot.popular",
        "one {field} takes {share} of the sampled rows, and is asked for as often",
        field=field,
        share=f"{popular.row_share:.0%}",
    )


def _measure_row_share(result: ReadLoadResult, field: str, value: Any) -> float:
    """Return the share of all sampled rows that have a value, which may be null."""
    column = result.rows.column(field)
    if not value.is_valid:
        return float(column.null_count / len(column))
    return float((pc.sum(pc.equal(column, value)).as_py() or 0) / len(column))


def _compute_work(result: ReadLoadResult, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what the answers for each value of a field cost, as many answers as rows.

    Without a limit each answer returns all rows of its value, unless the read gives the whole key.

    Args:
        result: the load of the read.
        counts: the sampled rows of each value.
    """
    answers: np.ndarray[Any, Any] = counts.sum() * result.read.keys.compute_shares(counts)
    is_point = set(result.design.key.fields) <= set(result.read.equality_fields)
    return answers * counts if result.read.limit is None and not is_point else answers
