"""Tables as a whole: which there are, how they are described, and what is done to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import DriftError, Mistakes, Refused, shown
from rowkey.hbase.admin.declared import note_families, note_words
from rowkey.hbase.admin.descriptors import (
    Described,
    family_differences,
    family_schema,
    word_differences,
)
from rowkey.hbase.admin.procedures import Procedures
from rowkey.hbase.admin.words import as_hbase_says, is_text
from rowkey.hbase.errors import TableNotDisabled, TableNotEnabled, TableNotFound
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
    from collections.abc import Mapping, Sequence

    from rowkey.cells import Family
    from rowkey.errors import Mistake
    from rowkey.hbase.settings import Deadline


class Tables(Procedures):
    """What is asked of tables, and done to them; `wait_s` is seconds to wait for the master."""

    def tables(self, namespace: str | None = None) -> list[str]:
        """The names of all tables but HBase's own, ascending.

        Args:
            namespace: only of this one; None for all.

        Raises:
            NamespaceNotFound: there is no such namespace.
        """
        return self._caller.on_master(GetTableNames(namespace))

    def exists(self, name: str) -> bool:
        """Whether there is such a table, enabled or not."""
        return self._schema_or_none(name, self._deadline(None)) is not None

    def state(self, name: str) -> TableState:
        """Whether a table is enabled, disabled or on its way there.

        Raises:
            TableNotFound: there is no such table.
        """
        return self._caller.on_master(GetTableState(_checked(name)))

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
        return Described.of(self._schema(name, self._deadline(None)))

    def enable(self, name: str, *, wait_s: float | None = None) -> None:
        """Opens the regions of a disabled table; returns when they are open.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled.
        """
        try:
            self._run(name, EnableTable(_checked(name)), self._deadline(wait_s))
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
        try:
            self._run(name, DisableTable(_checked(name)), self._deadline(wait_s))
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
        deadline = self._deadline(wait_s)
        if disable:
            self._disable_if_enabled(name, deadline)
        self._run(name, TruncateTable(_checked(name), keep_splits), deadline)
        self._caller.locations.forget_table(name)

    def delete(self, name: str, *, disable: bool = False, wait_s: float | None = None) -> None:
        """Removes a disabled table and all that it holds.

        Args:
            name: the table.
            disable: whether it is disabled first if it is not.
            wait_s: seconds to wait.

        Raises:
            TableNotFound: there is no such table.
            TableNotDisabled: it is enabled.
        """
        deadline = self._deadline(wait_s)
        if disable:
            self._disable_if_enabled(name, deadline)
        self._run(name, DeleteTable(_checked(name)), deadline)
        self._caller.locations.forget_table(name)

    def _disable_if_enabled(self, name: str, deadline: Deadline) -> None:
        try:
            self._run(name, DisableTable(_checked(name)), deadline)
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
        asked = tuple(families)
        found = Mistakes()
        note_families(found, asked)
        found.raise_any()
        deadline = self._deadline(wait_s)
        known = {family.name: family for family in self._schema(name, deadline).families}
        for family in asked:
            schema = family_schema(family, known.get(family.name))
            if family.name not in known:
                self._run(name, AddColumn(name, schema), deadline)
            elif schema != known[family.name]:
                self._run(name, ModifyColumn(name, schema), deadline)
        described = Described.of(self._schema(name, deadline))
        _raise_drift(name, list(family_differences(asked, described.families)))
        return described

    def remove_families(
        self, name: str, families: Sequence[str], *, wait_s: float | None = None
    ) -> None:
        """Removes families, and all that they hold, one after the other.

        Raises:
            TableNotFound: there is no such table.
            InvalidFamilyOperation: there is no such family.
        """
        deadline = self._deadline(wait_s)
        self._schema(name, deadline)  # of an unknown table HBase only says that the family is
        for family in families:
            self._run(name, DeleteColumn(name, family), deadline)

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
        found = Mistakes()
        note_words(found, "attributes", attributes)
        found.raise_any()
        deadline = self._deadline(wait_s)
        schema = self._schema(name, deadline)
        kept = as_hbase_says({word: value for word, value in attributes.items() if value})
        asked = {word: kept.get(word, value) for word, value in attributes.items()}
        words = {**schema.attributes, **asked}
        told = {word: value for word, value in words.items() if value is not None}
        if told == schema.attributes:
            return Described.of(schema)
        changed = TableSchema(schema.name, schema.families, told, schema.configuration)
        self._run(name, ModifyTable(changed), deadline)
        schema = self._schema(name, deadline)
        _raise_drift(name, list(word_differences(asked, schema.attributes)))
        return Described.of(schema)

    def _schema(self, name: str, deadline: Deadline) -> TableSchema:
        found = self._schema_or_none(name, deadline)
        if found is None:
            raise TableNotFound(name, "there is no such table")
        return found

    def _schema_or_none(self, name: str, deadline: Deadline) -> TableSchema | None:
        return self._caller.on_master(GetTableDescriptors(_checked(name)), deadline)


def _raise_drift(name: str, differences: list[Mistake]) -> None:
    if differences:
        raise DriftError(name, differences)


def _checked(name: str) -> str:
    """A name that can be asked for; whether there is such a table HBase says."""
    if not is_text(name):
        raise Refused("name", f"{shown(name)} is no name of a table", "a text that is not empty")
    return name
