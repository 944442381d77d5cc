"""The measured load of one declared read, in which its causes are recognised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design, choose_example_values
from rowkey.findings import Finding
from rowkey.plan import DeclaredRead, plan_read
from rowkey.schema import FieldFacts, Parameter


@dataclass(frozen=True)
class ReadLoadResult:
    """The measured load of one declared read: where it falls, and what an answer costs.

    Args:
        design: the design.
        facts: the facts of its fields.
        read: the read.
        rows: a uniform sample of the events, in the order of their arrival.
        row_regions: the region of each.
        region_servers: the server of each region.
        region_operations: operations of the mean answer by region.
        server_operations: operations of the mean answer by server.
        answer_regions: regions that an answer asks, mean.
        answer_servers: servers that an answer asks, mean.
        used_servers: servers that have rows.
        is_even: whether no server takes more than others, but for chance.
    """

    design: Design
    facts: Mapping[str, FieldFacts]
    read: DeclaredRead
    rows: pa.RecordBatch
    row_regions: np.ndarray[Any, Any]
    region_servers: np.ndarray[Any, Any]
    region_operations: np.ndarray[Any, Any]
    server_operations: np.ndarray[Any, Any]
    answer_regions: float
    answer_servers: float
    used_servers: int
    is_even: bool

    @property
    def servers(self) -> int:
        """Return the number of region servers."""
        return len(self.server_operations)

    @property
    def answer_operations(self) -> float:
        """Return the operations of an answer, mean."""
        return float(self.server_operations.sum())

    @property
    def busiest_region(self) -> int:
        """Return the region with the most operations, the first of equal ones."""
        return int(self.region_operations.argmax())

    @property
    def busiest_server(self) -> int:
        """Return the server with the most operations, the first of equal ones."""
        return int(self.server_operations.argmax())

    @property
    def busiest_operations(self) -> float:
        """Return the mean operations of an answer on the busiest server."""
        return float(self.server_operations.max())

    @property
    def busiest_share(self) -> float:
        """Return the share of all operations on the busiest server; 0 without operations."""
        return self.busiest_operations / (self.answer_operations or 1.0)

    @cached_property
    def lookup_fields(self) -> list[str]:
        """Return the fields, except times, whose value each answer is asked for with."""
        return [
            one.field
            for one in self.read.conditions
            if one.operator in ("=", "in")
            and any(isinstance(operand, Parameter) for operand in one.operands)
            and self.read.fields[one.field].type.unit_ns is None
        ]

    @cached_property
    def placing_fields(self) -> list[str]:
        """Return those of them that decide which part of the table an answer reads."""
        bounds = self.read.build_bounds(choose_example_values(self.read, self.facts))
        plan = plan_read(self.design.key, bounds, self.read.order)
        parts = self.design.key.parts[: plan.pinned_count + 1]  # the last one divides the ranges
        fields = {name for part in parts for name in part.fields}
        return [name for name in self.lookup_fields if name in fields]

    @cached_property
    def answerable_rows(self) -> tuple[pa.RecordBatch, np.ndarray[Any, Any]]:
        """Return the sampled rows that a read can ask for, and the server of each."""
        can_ask = np.ones(self.rows.num_rows, bool)
        for condition in self.read.conditions:
            if condition.needs_value:
                can_ask &= np.asarray(self.rows.column(condition.field).is_valid())
        servers = self.region_servers[self.row_regions]
        return self.rows.filter(pa.array(can_ask)), servers[can_ask]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCauseFinding(Finding):
    """A cause of a hot spot of reads that was found; its message has no values of fields.

    Args:
        explained_share: the share of the busiest server's operations for the read that it explains.
    """

    explained_share: float
