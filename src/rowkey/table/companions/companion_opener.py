"""Open and create the companions of a table, on the engine that it has open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing

from rowkey.design import Design
from rowkey.engines import Engine
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.table.table import Table
from rowkey.table.table_location import TableLocation
from rowkey.table.table_spec import has_rows


class CompanionOpener:
    """Opens and creates the companions of one table.

    Args:
        stack: closes what was opened if opening the tables fails.
        main_table: the name of the main table.
        url: the URL of the engine, for messages.
        max_stale_s: as for `rowkey.open`.
        catalog: as for `rowkey.open`.
    """

    def __init__(
        self,
        stack: ExitStack,
        engine: Engine,
        main_table: str,
        url: str,
        max_stale_s: float | None = None,
        catalog: str | None = None,
    ) -> None:
        self._stack, self._engine, self._url = stack, engine, url
        self._main_table = main_table
        self._options = (max_stale_s, catalog)

    def create_missing(
        self,
        designs: Mapping[str, Design],
        clock: Callable[[], int],
        *,
        splits: Mapping[str, Sequence[bytes]] | None = None,
        are_filling: bool = False,
    ) -> None:
        """Create the companions that do not exist.

        Args:
            designs: their designs by name.
            clock: milliseconds since 1970.
            splits: the row keys their regions begin with, by name; by their designs if not given.
            are_filling: whether the main table has rows, which are copied to them later.

        Raises:
            InvalidArgument: one has rows, but the main table is missing.
        """
        for name, design in designs.items():
            with self._locate(design, is_filling=are_filling) as location:
                if not location.is_made:
                    location.create_table_once(
                        design, (splits or {}).get(name), clock, may_create=True
                    )
                    continue
                table = location.open_by_design(design, clock)
                with closing(table.lease), closing(table.store):
                    is_in_use = has_rows(table.store)
            # Another client that creates the tables may have written rows since.
            if is_in_use and not self._engine.has_table(self._main_table):
                what = (
                    f"the table {name} has rows, but its main table {self._main_table} is missing"
                )
                remedy = f"Drop it: rowkey drop {name} --on {self._url}."
                raise InvalidArgument(self._url, what, remedy=remedy)

    def open_all(
        self, designs: Mapping[str, Design | None], clock: Callable[[], int]
    ) -> dict[str, Table]:
        """Return the open companions by name.

        Args:
            designs: their designs by name; None for the design that the catalog has.
            clock: milliseconds since 1970.

        Raises:
            Unavailable: one does not exist.
            CatalogMismatch: a design is not the one its table was created with.
        """
        tables = {}
        for name, design in designs.items():
            location = self._stack.enter_context(self._locate(design or name))
            if not location.is_made:
                what = f"the table {name}, a companion of {self._main_table}, is missing"
                remedy = (
                    f"Run rowkey repair DESIGN --on {self._url} --yes with the design file of "
                    f"{self._main_table}: it creates the table and copies the rows."
                )
                raise Unavailable(self._url, what, remedy=remedy)
            if design is None:
                table = location.open_by_name(clock)
            else:
                design.key.check_decodable()
                table = location.open_by_design(design, clock)
            self._close_on_failure(table)
            tables[name] = table
        return tables

    def _locate(self, design: Design | str, *, is_filling: bool = False) -> TableLocation:
        return TableLocation(
            self._engine,
            design,
            self._url,
            *self._options,
            companion_of=self._main_table,
            is_filling=is_filling,
        )

    def _close_on_failure(self, table: Table) -> None:
        """Close a table's lease and store if the stack is closed."""
        self._stack.callback(table.lease.close)
        self._stack.callback(table.store.close)
