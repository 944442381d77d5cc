"""Making a table: checked before anything is sent, waited for, read back and compared."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rowkey.errors import DriftError
from rowkey.hbase.admin.cluster import WholeCluster
from rowkey.hbase.admin.declared import Given, note_declared
from rowkey.hbase.admin.descriptors import (
    Described,
    family_differences,
    split_differences,
    table_schema,
    word_differences,
)
from rowkey.hbase.admin.tables import Tables
from rowkey.hbase.errors import NamespaceExist, NamespaceNotFound
from rowkey.hbase.requests.cluster_status import GetClusterStatus, Option
from rowkey.hbase.requests.create_table import CreateTable
from rowkey.hbase.wire.names import full_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.cells import Family
    from rowkey.errors import Mistake
    from rowkey.hbase.messages.schema import TableSchema
    from rowkey.hbase.settings import Deadline


class Creation(Tables, WholeCluster):
    """Makes tables."""

    def create(
        self,
        name: str,
        families: Sequence[Family],
        splits: Sequence[bytes] = (),
        attributes: Mapping[str, str] | None = None,
        *,
        configuration: Mapping[str, str] | None = None,
        wait_s: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Described:
        """Makes a table, and its namespace where that is missing; returns when it can be used.

        Args:
            name: `qualifier` or `namespace:qualifier`.
            families: one or more.
            splits: row keys that regions begin with, strictly ascending, none empty.
            attributes: words of HBase or of one's own, kept with the table.
            configuration: settings of the site that the table overrides; HBase keeps them among
                the attributes.
            wait_s: seconds to wait; by default `operation_s` and 0.25 s for each region and each of
                its replicas.
            progress: called with how many regions are open, and of how many, whenever more are.

        Returns:
            The table as it was read back.

        Raises:
            DeclarationError: with every mistake there is; nothing was sent.
            TableExists: there is such a table.
            DriftError: the table is not what was asked for; each difference is told.
            OutOfTime: it is not there in time; the text names the procedure that goes on.
        """
        given = Given().name(name)
        families = given.several("families", families, "families")
        splits = given.several("splits", splits, "row keys")
        attributes = given.words("attributes", {} if attributes is None else attributes)
        configuration = given.words("configuration", {} if configuration is None else configuration)
        note_declared(given, name, families, splits, attributes, configuration)
        given.seconds(wait_s).function("progress", progress).found.raise_any()
        count = (len(splits) + 1) * int(attributes.get("REGION_REPLICATION", "1"))
        deadline = self._deadline_for(count) if wait_s is None else self._deadline(wait_s)
        schema = table_schema(name, families, attributes, configuration)
        number = self._begin(CreateTable(schema, splits), deadline)
        seen = _Progress(self, schema.name, count, progress, deadline)

        def made() -> bool:  # whether as it was asked for, the comparison tells
            return self._schema_or_none(schema.name, deadline) is not None

        self._finish(name, CreateTable.method, number, deadline, made, seen.look)
        seen.told(count)
        self._caller.locations.forget_table(schema.name)
        return self._compare(schema, families, splits, deadline)

    def _begin(self, request: CreateTable, deadline: Deadline) -> int:
        """The number of the procedure that makes the table; its namespace is made if need be."""
        try:
            return self._caller.on_master(request, deadline)
        except NamespaceNotFound:
            namespace, _ = full_table(request.schema.name)
        with suppress(NamespaceExist):  # somebody else was faster
            self._make_namespace(namespace, deadline)
        # Under the old nonce the master would only repeat that it failed.
        again = CreateTable(request.schema, request.splits)
        return self._caller.on_master(again, deadline)

    def _compare(
        self,
        asked: TableSchema,
        families: Sequence[Family],
        splits: Sequence[bytes],
        deadline: Deadline,
    ) -> Described:
        """The table as it is; raises if it is not as it was asked for."""
        schema = self._schema(asked.name, deadline)
        described = Described.of(schema)
        regions = self._caller.locations.regions(asked.name, deadline)
        words = {**asked.attributes, **asked.configuration}
        found: list[Mistake] = [
            *family_differences(families, described.families),
            *word_differences(words, {**schema.attributes, **schema.configuration}),
            *split_differences(splits, [region.start for region in regions[1:]]),
        ]
        if found:
            raise DriftError(asked.name, found)
        return described


class _Progress:
    """Tells how many regions of a new table are open, whenever more are."""

    def __init__(
        self,
        admin: Creation,
        table: str,
        count: int,
        progress: Callable[[int, int], None] | None,
        deadline: Deadline,
    ) -> None:
        self._admin, self._table, self._deadline = admin, table, deadline
        self._count, self._progress, self._last = count, progress, -1

    def look(self) -> None:
        """Ask the master, and tell."""
        if self._progress:
            request = GetClusterStatus((Option.TABLES,))
            tables = self._admin._caller.on_master(request, self._deadline).tables  # noqa: SLF001
            self.told(min(tables[self._table].open, self._count) if self._table in tables else 0)

    def told(self, is_open: int) -> None:
        """Tell, unless it was told already."""
        if self._progress and is_open > self._last:
            self._last = is_open
            self._progress(is_open, self._count)
