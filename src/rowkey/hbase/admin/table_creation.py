"""Create a table: check the arguments, wait for it, read it back and compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from rowkey.cells import Family
from rowkey.errors import CatalogMismatch, Mistake
from rowkey.hbase.admin.argument_checks import ArgumentChecks, collect_table_mistakes
from rowkey.hbase.admin.cluster import ClusterAdmin
from rowkey.hbase.admin.descriptors import (
    ALTERED_MEANWHILE_REMEDY,
    TableDescriptor,
    build_table_schema,
    find_attribute_differences,
    find_family_differences,
    find_split_differences,
)
from rowkey.hbase.admin.tables import TableAdmin
from rowkey.hbase.errors import NamespaceExist, NamespaceNotFound
from rowkey.hbase.messages.schema import TableSchema
from rowkey.hbase.requests.cluster import GetClusterStatus, StatusOption
from rowkey.hbase.requests.tables import CreateTable
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import split_table_name
from rowkey.progress import Progress, ReportProgress


class TableCreator(TableAdmin, ClusterAdmin):
    """Create tables."""

    def create_table(
        self,
        name: str,
        families: Sequence[Family],
        splits: Sequence[bytes] = (),
        attributes: Mapping[str, str] | None = None,
        *,
        configuration: Mapping[str, str] | None = None,
        wait_s: float | None = None,
        progress: ReportProgress | None = None,
    ) -> TableDescriptor:
        """Create a table, and its namespace if missing; return when the table can be used.

        Args:
            name: `qualifier` or `namespace:qualifier`.
            families: one or more families.
            splits: split keys, strictly ascending, none empty.
            attributes: attributes of HBase or your own, stored with the table.
            configuration: site settings that the table overrides; HBase stores them with
                the attributes.
            wait_s: seconds to wait; by default `operation_timeout_s` plus 0.25 s for each region
                and each of its replicas.
            progress: called with a `rowkey.Progress` whenever more regions are open.

        Returns:
            The table as it was read back.

        Raises:
            InvalidDesign: there are mistakes in the arguments; nothing was sent.
            TableExists: the table exists already.
            CatalogMismatch: the table read back differs; the message has each difference.
            OperationTimedOut: it was not created in time; the message has the procedure's id.
        """
        checks = ArgumentChecks().check_name(name)
        families = checks.check_list("families", families, "families")
        splits = checks.check_list("splits", splits, "row keys")
        attributes = checks.check_mapping("attributes", {} if attributes is None else attributes)
        configuration = checks.check_mapping(
            "configuration", {} if configuration is None else configuration
        )
        collect_table_mistakes(checks, name, families, splits, attributes, configuration)
        checks.check_seconds(wait_s).check_callable("progress", progress).mistakes.raise_any()
        count = (len(splits) + 1) * int(attributes.get("REGION_REPLICATION", "1"))
        deadline = (
            self._build_regions_deadline(count) if wait_s is None else self._build_deadline(wait_s)
        )
        schema = build_table_schema(name, families, attributes, configuration)
        number = self._start_creation(CreateTable(schema, splits), deadline)
        last_count = -1

        def report_open_regions() -> None:
            """Ask the master for the number of open regions and report it."""
            if progress is not None:
                request = GetClusterStatus((StatusOption.TABLES,))
                tables = self._caller.call_master(request, deadline).tables
                open_count = tables[schema.name].open if schema.name in tables else 0
                report(min(open_count, count))

        def report(open_count: int) -> None:
            """Report a number of open regions, if it is greater than the last one reported."""
            nonlocal last_count
            if progress is not None and open_count > last_count:
                last_count = open_count
                progress(Progress("regions", open_count, count, "regions"))

        def is_created() -> bool:
            return self._find_schema(schema.name, deadline) is not None

        self._wait_for_procedure(
            name, CreateTable.method, number, deadline, is_created, report_open_regions
        )
        report(count)
        self._caller.locator.forget_table(schema.name)
        return self._compare_created(schema, families, splits, deadline)

    def _start_creation(self, request: CreateTable, deadline: Deadline) -> int:
        """Start to create a table, and its namespace if missing; return the procedure id."""
        try:
            return self._caller.call_master(request, deadline)
        except NamespaceNotFound:
            namespace, _ = split_table_name(request.schema.name)
        with suppress(NamespaceExist):  # another client created it
            self._run_create_namespace(namespace, deadline)
        # With the old nonce the master would only repeat its error.
        return self._caller.call_master(CreateTable(request.schema, request.splits), deadline)

    def _compare_created(
        self,
        requested: TableSchema,
        families: Sequence[Family],
        splits: Sequence[bytes],
        deadline: Deadline,
    ) -> TableDescriptor:
        """Read the created table back; raise `CatalogMismatch` if it differs from the request."""
        schema = self._get_schema(requested.name, deadline)
        described = TableDescriptor.from_schema(schema)
        regions = self._caller.locator.list_regions(requested.name, deadline)
        attributes = {**requested.attributes, **requested.configuration}
        differences: list[Mistake] = [
            *find_family_differences(families, described.families),
            *find_attribute_differences(attributes, {**schema.attributes, **schema.configuration}),
            *find_split_differences(splits, [region.start for region in regions[1:]]),
        ]
        if differences:
            raise CatalogMismatch(requested.name, differences, ALTERED_MEANWHILE_REMEDY)
        return described
