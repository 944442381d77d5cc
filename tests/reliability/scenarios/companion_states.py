"""The state of a companion: its catalog entry, which names its main table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, ClassVar

import rowkey
from reliability.scenarios.contract import Scenario, StoredObject
from reliability.scenarios.embedded_table import fork
from rowkey.table import repair_companions
from table.companion_tables import get_identity, read_all_tables, write_designs

ROWS = 40
COMPANION = "orders_by_number"


def build_row(number: int, text: str = "own") -> dict[str, Any]:
    """Return the order of a number."""
    return {
        "user": f"u{number % 5}",
        "at": 1_700_000_000 + number,
        "number": number,
        "note": f"{text} {number}",
        "amount": number,
    }


def write_orders(place: Path, text: str) -> None:
    """Create the main table and its companions, and put orders."""
    place.mkdir()
    design = write_designs(place)
    with rowkey.open(design, f"rocks:{place / 'data'}") as table:
        for number in range(ROWS):
            table.put(build_row(number, text))
            if number == ROWS // 2 and text == "own":
                shutil.copytree(place, place.with_name(f"{place.name}.earlier"))


class OpenOrders:
    """The main table, and the orders that were acknowledged."""

    def __init__(self, place: Path) -> None:
        design = rowkey.Design.read(place / "orders.toml")
        self.table = rowkey.open(design, f"rocks:{place / 'data'}", create=False)
        self.numbers = set(range(ROWS))

    def close(self) -> None:
        """Close the tables."""
        self.table.close()


class Companions(Scenario):
    """A table with two companions."""

    calls: ClassVar[tuple[str, ...]] = ("scan", "put", "delete", "scan again")

    def build(self, folder: Path) -> None:
        """Write two such tables alike."""
        for text, name in (("own", "closed"), ("other", "closed.other")):
            fork(lambda: write_orders(folder / name, text))  # noqa: B023 - it runs at once

    def open(self, place: Path) -> OpenOrders:
        """Open the main table."""
        return OpenOrders(place)

    def run(self, session: OpenOrders, call: str) -> str:
        """Change a row, or compare all tables with the acknowledged rows."""
        if call == "put":
            session.table.put(build_row(ROWS))
            session.numbers.add(ROWS)
        elif call == "delete":
            order = build_row(3)
            session.table.delete({name: order[name] for name in ("user", "at", "number")})
            session.numbers.discard(3)
        else:
            expected = {get_identity(build_row(one)): build_row(one) for one in session.numbers}
            for name, rows in read_all_tables(session.table).items():
                if rows != expected:
                    return f"{name} has {len(rows)} rows of {len(expected)}, or other ones"
        return ""

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Make the companions equal, as after each crash, and compare all tables."""
        design = rowkey.Design.read(place / "orders.toml")
        repair_companions(design, f"rocks:{place / 'data'}", apply=True)
        session = self.open(place)
        try:
            if call == "put" and (is_acknowledged or self.run(session, "scan")):
                session.numbers.add(ROWS)
            if call == "delete" and (is_acknowledged or self.run(session, "scan")):
                session.numbers.discard(3)
            return self.run(session, "scan")
        finally:
            session.close()

    def list_names(self, place: Path, path: Path) -> list[str]:
        """Return the texts of which an error has at least one."""
        return [path.name, str(place), COMPANION]


OBJECTS = (
    StoredObject(
        "companion", "state of a companion", Companions, (f"data/.catalog/{COMPANION}.json",),
        (f"data/.catalog/{COMPANION}.json", "data/.catalog/catalog.new", f"data/{COMPANION}/*"),
    ),
)  # fmt: skip
