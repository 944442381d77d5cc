"""A writer of linked lists, killed and followed by others, and the proof that no link is broken.

Each node names one that was acknowledged before, so a name without a node is a node that was lost.
A loop writes sets of nodes, each naming those of the set before; in the end the first set names the
last one, so that every node is named by exactly one. Source: IntegrationTestBigLinkedList.
Run as a program it is such a writer: `PLACE LOOP WIDTH WRAP CLIENT DIES`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import rowkey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.table import Table

BUCKETS = 16
SENT = 500
"""Nodes that are sent together."""


def design() -> rowkey.Design:
    """Nodes behind a random salt: whoever writes one again writes it elsewhere."""
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
        """The id of a node: 16 bytes without a pattern, no two alike."""
        return blake2b(b"%d,%d,%d" % (self.loop, at, index), digest_size=16).digest()

    def rows(self, at: int, client: int) -> Iterator[dict[str, object]]:
        """What is put of one set; set `wrap` is the first one again, naming the last."""
        for index in range(self.width):
            if at == self.wrap:
                yield {"id": self.node(0, index), "prev": self.node(at - 1, index)}
                continue
            row = {"id": self.node(at, index), "client": client, "count": at * self.width + index}
            if at:
                row["prev"] = self.node(at - 1, index)
            yield row


def write_on(place: Path, lists: Lists, client: int, dies: int) -> None:
    """Go on with a loop behind the last set that is noted as acknowledged.

    Args:
        place: where the table and the notes lie.
        lists: the loop.
        client: the writer's number.
        dies: rows after which it kills itself; 0 if somebody else does.
    """
    notes = place / f"loop{lists.loop}"
    done = len(notes.read_text().splitlines()) if notes.exists() else 0
    put = 0
    with rowkey.open(design(), f"rocks:{place / 'data'}") as table, notes.open("a") as noted:
        for at in range(done, lists.wrap + 1):
            with table.batch(SENT) as batch:
                for row in lists.rows(at, client):
                    batch.put(row)
                    put += 1
                    if put == dies:
                        os.kill(os.getpid(), signal.SIGKILL)
            noted.write(f"{at}\n")
            noted.flush()


@dataclass(frozen=True)
class Verdict:
    """What a walk over all nodes finds.

    Args:
        nodes: nodes in the table.
        referenced: nodes that are named.
        unreferenced: nodes that nobody names.
        undefined: names without a node: what was lost.
        repeated: nodes that more than one names.
        headless: nodes without their number or writer: a row of which a part was lost.
        misplaced: nodes that come behind a greater one, or twice.
    """

    nodes: int
    referenced: int
    unreferenced: int
    undefined: int
    repeated: int
    headless: int
    misplaced: int


def verdict_of(table: Table) -> Verdict:
    """Walk over the table in order."""
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
    return Verdict(
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
    write_on(Path(where), Lists(loop, width, wrap), client, dies)
