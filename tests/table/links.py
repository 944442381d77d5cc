"""A writer of linked lists that is killed and continued, and the check for broken links.

Each node names one that was acknowledged before, so a name without a node is a node that was lost.
A loop writes sets of nodes, each naming those of the set before; in the end the first set names the
last one, so that every node is named by exactly one. Source: IntegrationTestBigLinkedList.
Run as a program, this module is such a writer: `PLACE LOOP WIDTH WRAP CLIENT DIES`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import rowkey
from rowkey.pandas_guard import skip_pandas

if TYPE_CHECKING:
    from rowkey.table import Table

BUCKETS = 16
BATCH_SETS = 500
"""Nodes that are sent together."""


def build_design() -> rowkey.Design:
    """Build the design of nodes with a random salt."""
    fields = {
        "id": "bytes",
        "prev": {"type": "bytes", "nullable": True},
        "client": "u32",
        "count": "u64",
    }
    return rowkey.Design(
        "links", f"[salt({BUCKETS})][id:fixed(16)]", fields=fields, splits="per_bucket"
    )


@dataclass(frozen=True)
class Lists:
    """The circular lists of one loop.

    Args:
        loop: its number.
        width: nodes of a set, and lists.
        wrap: sets, and nodes of a list.
    """

    loop: int
    width: int
    wrap: int

    def node(self, at: int, index: int) -> bytes:
        """Return the id of a node: 16 pseudorandom bytes, unique per node."""
        return blake2b(b"%d,%d,%d" % (self.loop, at, index), digest_size=16).digest()

    def rows(self, at: int, client: int) -> Iterator[dict[str, object]]:
        """Return the rows of one set; set `wrap` is the first set again, linked to the last."""
        for index in range(self.width):
            if at == self.wrap:
                yield {"id": self.node(0, index), "prev": self.node(at - 1, index)}
                continue
            row = {"id": self.node(at, index), "client": client, "count": at * self.width + index}
            if at:
                row["prev"] = self.node(at - 1, index)
            yield row


def continue_lists(place: Path, lists: Lists, client: int, dies: int) -> None:
    """Continue a loop after the last set that is noted as acknowledged.

    Args:
        place: the directory of the table and the notes.
        lists: the loop.
        client: the writer's number.
        dies: the number of rows after which the writer kills itself; 0 for never.
    """
    notes = place / f"loop{lists.loop}"
    done = len(notes.read_text().splitlines()) if notes.exists() else 0
    put = 0
    with rowkey.open(build_design(), f"rocks:{place / 'data'}") as table, notes.open("a") as noted:
        for at in range(done, lists.wrap + 1):
            with table.batch(BATCH_SETS) as batch:
                for row in lists.rows(at, client):
                    batch.put(row)
                    put += 1
                    if put == dies:
                        os.kill(os.getpid(), signal.SIGKILL)
            noted.write(f"{at}\n")
            noted.flush()


@dataclass(frozen=True)
class ListVerdict:
    """The result of a walk over all nodes.

    Args:
        nodes: the number of nodes in the table.
        referenced: nodes that other nodes name.
        unreferenced: nodes that no node names.
        undefined: named nodes that are lost.
        repeated: nodes that more than one names.
        headless: nodes without number or writer, of whose rows a part was lost.
        misplaced: nodes that are out of order or repeated in the scan.
    """

    nodes: int
    referenced: int
    unreferenced: int
    undefined: int
    repeated: int
    headless: int
    misplaced: int


def verify_lists(table: Table) -> ListVerdict:
    """Walk over the table in order, and return the verdict."""
    named: Counter[bytes] = Counter()
    nodes: set[bytes] = set()
    last, misplaced, headless = b"", 0, 0
    for row in table.scan():
        misplaced += row["id"] <= last
        last = row["id"]
        nodes.add(last)
        headless += row["count"] is None or row["client"] is None
        if row["prev"] is not None:
            named[row["prev"]] += 1
    referenced = len(nodes & named.keys())
    return ListVerdict(
        len(nodes),
        referenced,
        len(nodes) - referenced,
        len(named) - referenced,
        sum(count > 1 for count in named.values()),
        headless,
        misplaced,
    )


if __name__ == "__main__":
    where, *numbers = sys.argv[1:]
    loop, width, wrap, client, dies = map(int, numbers)
    with skip_pandas():
        continue_lists(Path(where), Lists(loop, width, wrap), client, dies)
