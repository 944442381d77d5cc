"""Tables as a whole: which there are, how they are described, and what is done to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import DriftError, shown
from rowkey.hbase.admin.declared import Given, note_families, note_words
from rowkey.hbase.admin.descriptors import (
    Described,
    family_differences,
    family_schema,
    word_differences,
)
from rowkey.hbase.admin.procedures import Procedures
from rowkey.hbase.admin.words import as_hbase_says
from rowkey.hbase.errors import (
    InvalidFamilyOperation,
    TableNotDisabled,
    TableNotEnabled,
    TableNotFound,
)
from rowkey.hbase.messages.schema import TableSchema
from rowkey.hbase.requests.add_column import AddColumn
from rowkey.hbase.requests.delete_column import DeleteColumn
from rowkey.hbase.requests.delete_table import DeleteTable
from rowkey.hbase.requests.disable_table import DisableTable
from rowkey.hbase.requests.enable_table import EnableTable
from rowkey.hbase.requests.modify_column import ModifyColumn
from rowkey.hbase.requests.modify_table import ModifyTable
from rowkey.hbase.requests.table_descriptors import GetTableDescriptors
from rowkey.hbase.requests.table_names import GetTableNames
from rowkey.hbase.requests.table_state import GetTableState, TableState
from rowkey.hbase.requests.truncate_table import TruncateTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.cells import Family
    from rowkey.errors import Mistake
    from rowkey.hbase.settings import Deadline

_ENABLED = TableState.ENABLED


class Tables(Procedures):
    """What is asked of tables, and done to them.

    `wait_s` is seconds to wait for the master; by default `operation_s` and 0.25 s for each region,
    as often as all of them are opened or closed.
    """

    def tables(self, namespace: str | None = None) -> list[str]:
        """The names of all tables but HBase's own, ascending.

        Args:
            namespace: only of this one; None for all.

        Raises:
            NamespaceNotFound: there is no such namespace.
        """
        if namespace is not None:
            Given().name(namespace, "namespace", "namespace").refuse()
        return self._caller.on_master(GetTableNames(namespace))

    def exists(self, name: str) -> bool:
        """Whether there is such a table, enabled or not."""
        Given().name(name).refuse()
        return self._schema_or_none(name, self._deadline(None)) is not None

    def state(self, name: str) -> TableState:
        """Whether a table is enabled, disabled or on its way there.

        Raises:
            TableNotFound: there is no such table.
        """
        Given().name(name).refuse()
        return self._caller.on_master(GetTableState(name))

    def is_enabled(self, name: str) -> bool:
        """Whether a table can be used.

        Raises:
            TableNotFound: there is no such table.
        """
        return self.state(name) is TableState.ENABLED

    def describe(self, name: str) -> Described:
        """A table as HBase has it.

        Raises:
            TableNotFound: there is no such table.
        """
        Given().name(name).refuse()
        return Described.of(self._schema(name, self._deadline(None)))

    def enable(self, name: str, *, wait_s: float | None = None) -> None:
        """Opens the regions of a disabled table; returns when they are open.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled.
        """
        Given().name(name).seconds(wait_s).refuse()
        deadline = self._deadline_of(name, wait_s)
        try:
            self._run(name, EnableTable(name), deadline, self._is(name, _ENABLED, deadline))
        except TableNotDisabled as error:
            remedy = "It can be used as it is."
            raise TableNotDisabled(
                name, "is enabled already", remedy=remedy, java=error.java, says=error.says
            ) from error

    def disable(self, name: str, *, wait_s: float | None = None) -> None:
        """Closes the regions of a table; returns when they are closed.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.
        """
        Given().name(name).seconds(wait_s).refuse()
        deadline = self._deadline_of(name, wait_s)
        try:
            self._disable(name, deadline)
        except TableNotEnabled as error:
            remedy = "Its regions are closed."
            raise TableNotEnabled(
                name, "is disabled already", remedy=remedy, java=error.java, says=error.says
            ) from error
        self._caller.locations.forget_table(name)

    def truncate(
        self,
        name: str,
        keep_splits: bool = True,
        *,
        disable: bool = False,
        wait_s: float | None = None,
    ) -> None:
        """Empties a disabled table, which is enabled afterwards.

        Args:
            name: the table.
            keep_splits: whether its regions begin where they did; else it has one.
            disable: whether it is disabled first if it is not.
            wait_s: seconds to wait.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled.
        """
        given = Given().name(name).truth("keep_splits", keep_splits).truth("disable", disable)
        given.seconds(wait_s).refuse()
        deadline = self._deadline_of(name, wait_s, 1 + disable)
        if disable:
            self._disable_if_enabled(name, deadline)
        emptied = self._is(name, _ENABLED, deadline)  # it was disabled before
        self._run(name, TruncateTable(name, keep_splits), deadline, emptied)
        self._caller.locations.forget_table(name)

    def delete(self, name: str, *, disable: bool = False, wait_s: float | None = None) -> None:
        """Removes a disabled table and all that it holds.

        Asked again after it broke off between the two, it goes on where it was.

        Args:
            name: the table.
            disable: whether it is disabled first if it is not.
            wait_s: seconds to wait.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled.
        """
        Given().name(name).truth("disable", disable).seconds(wait_s).refuse()
        deadline = self._deadline_of(name, wait_s, 1 + disable)
        if disable:
            self._disable_if_enabled(name, deadline)

        def gone() -> bool:
            return self._schema_or_none(name, deadline) is None

        self._run(name, DeleteTable(name), deadline, gone)
        self._caller.locations.forget_table(name)

    def _disable(self, name: str, deadline: Deadline) -> None:
        disabled = self._is(name, TableState.DISABLED, deadline)
        self._run(name, DisableTable(name), deadline, disabled)

    def _disable_if_enabled(self, name: str, deadline: Deadline) -> None:
        try:
            self._disable(name, deadline)
        except TableNotEnabled:
            return  # which is what was wanted

    def alter(
        self, name: str, families: Sequence[Family], *, wait_s: float | None = None
    ) -> Described:
        """Changes families, or adds those that are not there; others stay as they are.

        Each family is replaced by what is given here; words of it that no field of `Family` stands
        for are kept. Families are changed one after the other, each of them at once or not at all.

        Args:
            name: the table, enabled or not.
            families: as they shall be.
            wait_s: seconds to wait for all of it.

        Returns:
            The table as it was read back.

        Raises:
            DeclarationError: with every mistake in the families; nothing was sent.
            TableNotFound: there is no such table.
            DriftError: the table is not what was asked for: somebody else changed it too.

        Cost: all regions are opened anew for each family that changes.
        """
        given = Given().name(name)
        asked = given.several("families", families, "families")
        note_families(given.found, asked)
        given.seconds(wait_s).found.raise_any()
        deadline = self._deadline_of(name, wait_s, len(asked))
        known = {family.name: family for family in self._schema(name, deadline).families}
        for family in asked:
            schema = family_schema(family, known.get(family.name))
            if family.name not in known:
                self._run(name, AddColumn(name, schema), deadline, _read_back)
            elif schema != known[family.name]:
                self._run(name, ModifyColumn(name, schema), deadline, _read_back)
        described = Described.of(self._schema(name, deadline))
        _raise_drift(name, list(family_differences(asked, described.families)))
        return described

    def remove_families(
        self, name: str, families: Sequence[str], *, wait_s: float | None = None
    ) -> None:
        """Removes families, and all that they hold, one after the other.

        Args:
            name: the table, enabled or not.
            families: their names; one family at least must stay.
            wait_s: seconds to wait for all of it.

        Raises:
            Refused: they are no list of names, or one is given twice; nothing was sent.
            TableNotFound: there is no such table.
            InvalidFamilyOperation: it has none of these, or no others; nothing was removed.

        Cost: all regions are opened anew for each family.
        """
        given = Given().name(name)
        names = given.several("families", families, "names")
        _note_names(given, names)
        given.seconds(wait_s).refuse()
        deadline = self._deadline_of(name, wait_s, len(names))
        _require_others(name, names, self._families(name, deadline))
        for family in names:

            def gone(family: str = family) -> bool:
                return family not in self._families(name, deadline)

            self._run(name, DeleteColumn(name, family), deadline, gone)

    def _families(self, name: str, deadline: Deadline) -> list[str]:
        return [family.name for family in self._schema(name, deadline).families]

    def annotate(
        self,
        name: str,
        attributes: Mapping[str, str | None],
        *,
        wait_s: float | None = None,
    ) -> Described:
        """Sets and removes words of a table; those that are not named stay.

        HBase can only replace a whole descriptor. It is read, changed and sent back: what somebody
        else changes in between is undone, and the one who comes last wins.

        Args:
            name: the table, enabled or not.
            attributes: its words; None removes one.
            wait_s: seconds to wait.

        Returns:
            The table as it was read back.

        Raises:
            DeclarationError: with every mistake in the words; nothing was sent.
            TableNotFound: there is no such table.
            DriftError: the words are not what was asked for.

        Cost: all regions are opened anew if anything changes.
        """
        given = Given().name(name)
        attributes = given.words("attributes", attributes)
        note_words(given.found, "attributes", attributes)
        given.seconds(wait_s).found.raise_any()
        deadline = self._deadline_of(name, wait_s)
        schema = self._schema(name, deadline)
        kept = as_hbase_says({word: value for word, value in attributes.items() if value})
        asked = {word: kept.get(word, value) for word, value in attributes.items()}
        words = {**schema.attributes, **asked}
        told = {word: value for word, value in words.items() if value is not None}
        if told == schema.attributes:
            return Described.of(schema)
        changed = TableSchema(schema.name, schema.families, told, schema.configuration)
        self._run(name, ModifyTable(changed), deadline, _read_back)
        schema = self._schema(name, deadline)
        _raise_drift(name, list(word_differences(asked, schema.attributes)))
        return Described.of(schema)

    def _is(self, name: str, state: TableState, deadline: Deadline) -> Callable[[], bool]:
        """Tells whether a table has come into a state."""
        return lambda: self._caller.on_master(GetTableState(name), deadline) is state

    def _schema(self, name: str, deadline: Deadline) -> TableSchema:
        found = self._schema_or_none(name, deadline)
        if found is None:
            raise TableNotFound(name, "there is no such table")
        return found

    def _schema_or_none(self, name: str, deadline: Deadline) -> TableSchema | None:
        return self._caller.on_master(GetTableDescriptors(name), deadline)


def _raise_drift(name: str, differences: list[Mistake]) -> None:
    if differences:
        raise DriftError(name, differences)


def _read_back() -> bool:
    """That a forgotten change was made: the table is read back and compared in any case."""
    return True


def _note_names(given: Given, names: Sequence[object]) -> None:
    """Note every name that no family can have, and those given twice."""
    for index, name in enumerate(names):
        given.name(name, f"families[{index}]", "family")
        if name in names[:index]:
            given.found.add(f"families[{index}]", f"{shown(name)} is given twice", "each name once")


def _require_others(table: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise unless these are families of a table, and not all of them."""
    unknown = [repr(name) for name in names if name not in known]
    if unknown:
        what = f"has no family {', '.join(unknown)}"
        raise InvalidFamilyOperation(table, what, ", ".join(known))
    if names and len(names) == len(known):
        what = f"would be left without families: {', '.join(names)} are all it has"
        raise InvalidFamilyOperation(table, what, "one that stays")
