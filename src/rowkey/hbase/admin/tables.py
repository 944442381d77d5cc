"""Tables as a whole: which there are, how they are described, and what is done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from rowkey.cells import Family
from rowkey.errors import CatalogMismatch, Mistake
from rowkey.hbase.admin.argument_checks import (
    ArgumentChecks,
    collect_attribute_mistakes,
    collect_family_mistakes,
)
from rowkey.hbase.admin.descriptors import (
    ALTERED_MEANWHILE_REMEDY,
    TableDescriptor,
    build_family_schema,
    expand_split_policy,
    find_attribute_differences,
    find_family_differences,
)
from rowkey.hbase.admin.procedures import ProcedureRunner
from rowkey.hbase.errors import (
    InvalidFamilyOperation,
    TableNotDisabled,
    TableNotEnabled,
    TableNotFound,
)
from rowkey.hbase.messages.schema import TableSchema
from rowkey.hbase.requests.tables import (
    AddColumn,
    DeleteColumn,
    DeleteTable,
    DisableTable,
    EnableTable,
    GetTableDescriptors,
    GetTableNames,
    GetTableState,
    ModifyColumn,
    ModifyTable,
    TableState,
    TruncateTable,
)
from rowkey.hbase.settings import Deadline
from rowkey.messages import format_value


class TableAdmin(ProcedureRunner):
    """List, describe, change, enable, disable, truncate and delete tables.

    `wait_s` is the number of seconds to wait for the master. The default is `operation_timeout_s`
    plus 0.25 s per region for each time that all regions are opened or closed.
    """

    def list_tables(self, namespace: str | None = None) -> list[str]:
        """Return the names of all tables except HBase's own, in ascending order.

        Args:
            namespace: only tables of this namespace; None for all.

        Raises:
            NamespaceNotFound: there is no such namespace.
        """
        if namespace is not None:
            ArgumentChecks().check_name(namespace, "namespace", "namespace").raise_mistakes()
        return self._caller.call_master(GetTableNames(namespace))

    def has_table(self, name: str) -> bool:
        """Return whether a table exists, enabled or not."""
        ArgumentChecks().check_name(name).raise_mistakes()
        return self._find_schema(name, self._build_deadline(None)) is not None

    def get_table_state(self, name: str) -> TableState:
        """Return the state of a table: enabled, disabled, or changing to one of them.

        Raises:
            TableNotFound: there is no such table.
        """
        ArgumentChecks().check_name(name).raise_mistakes()
        return self._caller.call_master(GetTableState(name))

    def is_table_enabled(self, name: str) -> bool:
        """Return whether a table is enabled.

        Raises:
            TableNotFound: there is no such table.
        """
        return self.get_table_state(name) is TableState.ENABLED

    def describe_table(self, name: str) -> TableDescriptor:
        """Return families and attributes of a table as HBase stores them.

        Raises:
            TableNotFound: there is no such table.
        """
        ArgumentChecks().check_name(name).raise_mistakes()
        return TableDescriptor.from_schema(self._get_schema(name, self._build_deadline(None)))

    def enable_table(self, name: str, *, wait_s: float | None = None) -> None:
        """Enable a disabled table; return when its regions are open.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled already.
        """
        ArgumentChecks().check_name(name).check_seconds(wait_s).raise_mistakes()
        deadline = self._build_table_deadline(name, wait_s)
        try:
            is_enabled = self._build_state_check(name, TableState.ENABLED, deadline)
            self._run_procedure(name, EnableTable(name), deadline, is_enabled)
        except TableNotDisabled as error:
            remedy = "Use the table as it is."
            raise TableNotDisabled(
                name,
                "the table is enabled already",
                remedy=remedy,
                java_class=error.java_class,
                remote_message=error.remote_message,
            ) from error

    def disable_table(self, name: str, *, wait_s: float | None = None) -> None:
        """Disable a table; return when its regions are closed.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled already.
        """
        ArgumentChecks().check_name(name).check_seconds(wait_s).raise_mistakes()
        deadline = self._build_table_deadline(name, wait_s)
        try:
            self._run_disable(name, deadline)
        except TableNotEnabled as error:
            remedy = "Go on: the regions of the table are closed."
            raise TableNotEnabled(
                name,
                "the table is disabled already",
                remedy=remedy,
                java_class=error.java_class,
                remote_message=error.remote_message,
            ) from error
        self._caller.locator.forget_table(name)

    def truncate_table(
        self,
        name: str,
        keep_splits: bool = True,
        *,
        disable: bool = False,
        wait_s: float | None = None,
    ) -> None:
        """Delete all rows of a disabled table, which is enabled afterwards.

        Args:
            keep_splits: whether it keeps its split keys; otherwise it has one region afterwards.
            disable: whether an enabled table is disabled first.
            wait_s: seconds to wait; see `TableAdmin`.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled already.
        """
        checks = ArgumentChecks().check_name(name).check_bool("keep_splits", keep_splits)
        checks.check_bool("disable", disable).check_seconds(wait_s).raise_mistakes()
        deadline = self._build_table_deadline(name, wait_s, 1 + disable)
        if disable:
            self._run_disable_if_enabled(name, deadline)
        is_truncated = self._build_state_check(name, TableState.ENABLED, deadline)
        self._run_procedure(name, TruncateTable(name, keep_splits), deadline, is_truncated)
        self._caller.locator.forget_table(name)

    def delete_table(
        self, name: str, *, disable: bool = False, wait_s: float | None = None
    ) -> None:
        """Delete a disabled table and its data.

        Called again after it failed between disabling and deleting, it continues there.

        Args:
            disable: whether an enabled table is disabled first.
            wait_s: seconds to wait; see `TableAdmin`.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled already.
        """
        ArgumentChecks().check_name(name).check_bool("disable", disable).check_seconds(
            wait_s
        ).raise_mistakes()
        deadline = self._build_table_deadline(name, wait_s, 1 + disable)
        if disable:
            self._run_disable_if_enabled(name, deadline)

        def is_deleted() -> bool:
            return self._find_schema(name, deadline) is None

        self._run_procedure(name, DeleteTable(name), deadline, is_deleted)
        self._caller.locator.forget_table(name)

    def _run_disable(self, name: str, deadline: Deadline) -> None:
        """Disable a table, and wait until that is done."""
        is_disabled = self._build_state_check(name, TableState.DISABLED, deadline)
        self._run_procedure(name, DisableTable(name), deadline, is_disabled)

    def _run_disable_if_enabled(self, name: str, deadline: Deadline) -> None:
        with suppress(TableNotEnabled):
            self._run_disable(name, deadline)

    def alter_families(
        self, name: str, families: Sequence[Family], *, wait_s: float | None = None
    ) -> TableDescriptor:
        """Change families and add missing ones; families that are not given stay as they are.

        Each given family replaces the present one; attributes that `Family` has no field for are
        kept. Families are changed one after the other, each atomically.

        Args:
            name: the table, enabled or not.
            families: the complete new families.
            wait_s: seconds to wait for all of it; see `TableAdmin`.

        Returns:
            The table as it was read back.

        Raises:
            InvalidDesign: there are mistakes in the families; nothing was sent.
            TableNotFound: there is no such table.
            CatalogMismatch: the table read back differs, since another client changed it too.

        Cost: all regions are reopened for each family that changes.
        """
        checks = ArgumentChecks().check_name(name)
        declared = checks.check_list("families", families, "families")
        collect_family_mistakes(checks.mistakes, declared)
        checks.check_seconds(wait_s).mistakes.raise_any()
        deadline = self._build_table_deadline(name, wait_s, len(declared))
        current = {family.name: family for family in self._get_schema(name, deadline).families}
        for family in declared:
            schema = build_family_schema(family, current.get(family.name))
            if family.name not in current:
                self._run_procedure(name, AddColumn(name, schema), deadline, _assume_done)
            elif schema != current[family.name]:
                self._run_procedure(name, ModifyColumn(name, schema), deadline, _assume_done)
        described = TableDescriptor.from_schema(self._get_schema(name, deadline))
        _raise_if_different(name, list(find_family_differences(declared, described.families)))
        return described

    def remove_families(
        self, name: str, families: Sequence[str], *, wait_s: float | None = None
    ) -> None:
        """Delete families and their data, one after the other.

        Args:
            name: the table, enabled or not.
            families: names of the families; at least one family must remain.
            wait_s: seconds to wait for all of it; see `TableAdmin`.

        Raises:
            InvalidArgument: not a list of names, or a name occurs twice; nothing was sent.
            TableNotFound: there is no such table.
            InvalidFamilyOperation: a family is unknown, or none would remain; nothing was deleted.

        Cost: all regions are reopened for each family.
        """
        checks = ArgumentChecks().check_name(name)
        names = checks.check_list("families", families, "names")
        _collect_name_mistakes(checks, names)
        checks.check_seconds(wait_s).raise_mistakes()
        deadline = self._build_table_deadline(name, wait_s, len(names))
        _require_remaining_family(name, names, self._list_family_names(name, deadline))
        for family in names:

            def is_deleted(family: str = family) -> bool:
                return family not in self._list_family_names(name, deadline)

            self._run_procedure(name, DeleteColumn(name, family), deadline, is_deleted)

    def _list_family_names(self, name: str, deadline: Deadline) -> list[str]:
        return [family.name for family in self._get_schema(name, deadline).families]

    def set_attributes(
        self,
        name: str,
        attributes: Mapping[str, str | None],
        *,
        wait_s: float | None = None,
    ) -> TableDescriptor:
        """Set and remove attributes of a table; attributes that are not given stay.

        HBase can only replace a whole schema, so the schema is read, changed and sent back. A
        change by another client in between is lost: the last writer wins.

        Args:
            name: the table, enabled or not.
            attributes: new values by name; None removes an attribute.
            wait_s: seconds to wait; see `TableAdmin`.

        Returns:
            The table as it was read back.

        Raises:
            InvalidDesign: there are mistakes in the attributes; nothing was sent.
            TableNotFound: there is no such table.
            CatalogMismatch: the attributes read back differ.

        Cost: all regions are reopened if anything changes.
        """
        checks = ArgumentChecks().check_name(name)
        attributes = checks.check_mapping("attributes", attributes)
        collect_attribute_mistakes(checks.mistakes, "attributes", attributes)
        checks.check_seconds(wait_s).mistakes.raise_any()
        deadline = self._build_table_deadline(name, wait_s)
        schema = self._get_schema(name, deadline)
        expanded = expand_split_policy({key: value for key, value in attributes.items() if value})
        requested = {key: expanded.get(key, value) for key, value in attributes.items()}
        merged = {**schema.attributes, **requested}
        remaining = {key: value for key, value in merged.items() if value is not None}
        if remaining == schema.attributes:
            return TableDescriptor.from_schema(schema)
        changed = TableSchema(schema.name, schema.families, remaining, schema.configuration)
        self._run_procedure(name, ModifyTable(changed), deadline, _assume_done)
        schema = self._get_schema(name, deadline)
        _raise_if_different(name, list(find_attribute_differences(requested, schema.attributes)))
        return TableDescriptor.from_schema(schema)

    def _build_state_check(
        self, name: str, state: TableState, deadline: Deadline
    ) -> Callable[[], bool]:
        """Return a function that asks the master whether a table is in this state."""
        return lambda: self._caller.call_master(GetTableState(name), deadline) is state

    def _get_schema(self, name: str, deadline: Deadline) -> TableSchema:
        """Return the schema of a table, or raise `TableNotFound`."""
        schema = self._find_schema(name, deadline)
        if schema is None:
            raise TableNotFound(name, "the table does not exist")
        return schema

    def _find_schema(self, name: str, deadline: Deadline) -> TableSchema | None:
        return self._caller.call_master(GetTableDescriptors(name), deadline)


def _raise_if_different(name: str, differences: list[Mistake]) -> None:
    """Raise `CatalogMismatch` if a table that was read back differs from the request."""
    if differences:
        raise CatalogMismatch(name, differences, ALTERED_MEANWHILE_REMEDY)


def _assume_done() -> bool:
    """Return True: the caller reads the table back and compares it afterwards."""
    return True


def _collect_name_mistakes(checks: ArgumentChecks, names: Sequence[object]) -> None:
    """Collect the mistakes in a list of family names: invalid names, and repetitions."""
    for index, name in enumerate(names):
        checks.check_name(name, f"families[{index}]", "family")
        if name in names[:index]:
            checks.mistakes.add(
                f"families[{index}]", f"{format_value(name)} occurs twice", "each name once"
            )


def _require_remaining_family(table: str, names: Sequence[str], families: Sequence[str]) -> None:
    """Raise unless a table has all families to remove, and at least one other."""
    unknown = [repr(name) for name in names if name not in families]
    if unknown:
        what = f"the table has no family {', '.join(unknown)}"
        raise InvalidFamilyOperation(
            table, what, f"one of {', '.join(families)}", "Name only families that the table has."
        )
    if names and len(names) == len(families):
        what = f"{', '.join(names)} are all families of the table"
        remedy = "Keep one of them, or delete the table."
        raise InvalidFamilyOperation(table, what, "at least one family that remains", remedy)
