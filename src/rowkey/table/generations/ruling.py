"""How a generation that is announced comes to rule, and how long everyone waits for that.

A client goes by an entry for some seconds after it has read it. So once as much time has passed as
any client may have, everyone has read of the announced generation, or has stopped until it does.
Then it may rule: whoever reads and deletes does so in it by then, before anyone writes there.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from rowkey.catalog import is_told, lapse, last_told, telling
from rowkey.errors import Conflict, Refused, Unsupported

if TYPE_CHECKING:
    from rowkey.catalog import Catalog, Entry, Generation
    from rowkey.engines import Engine, Store

MARGIN = 1.1
"""How many times the longest time of a client is waited: for clocks that do not run alike, and for
calls that are on their way."""
ALONE_S = 1.0
"""Seconds that are waited where nobody but this process can have the table open: for its threads
that are amid a call."""
AGAIN = "Try again."
TRIES = 1_000
"""Times that the entry is written again because somebody else wrote it meanwhile."""

ROUNDS = 5
"""Times that the words of one entry are written: each alters a table of HBase. Others may have put
back older ones between, but each of them once."""


def patience_s(entry: Entry, engine: Engine) -> float:
    """Seconds until everyone who uses a table goes by an entry, or by none."""
    longest_s = entry.longest_s * MARGIN
    return min(ALONE_S, longest_s) if engine.exclusive else longest_s


def keep_told(store: Store, entry: Entry) -> bool:
    """Have a table's own words repeat an entry, so that a lost catalog can be put back by them.

    Words that tell of a generation which the entry has not stay: whoever comes with it is behind,
    or his catalog has lost some. And one that is about to rule is told before, so that what they
    tell of it stays as well.

    Args:
        store: the engine's table.
        entry: what the catalog has of it, or is about to have.

    Returns:
        Whether they had to be changed.
    """
    kept = store.described[1]
    if lapse("", entry, kept):
        return False
    if entry.announced is not None and last_told(kept) == entry.announced.number:
        entry = entry.ruled()
    if is_told(kept, entry):
        return False
    store.annotate(telling(kept, entry))
    return True


def settle_told(catalog: Catalog, table: str, store: Store) -> None:
    """Have a table's own words repeat what the catalog has, whoever else writes either meanwhile.

    Words are written over without a comparison: who stood still before he wrote may have put back
    older ones. So whoever wrote some reads the catalog again, until both agree.

    Raises:
        Unsupported: the catalog does not answer, the words may not be written, or they are not
            read as they were written.
        Conflict: the entry changes faster than it can be read.
    """
    version, alike = 0, 0
    for _ in range(TRIES):
        entry = catalog.read(table)
        if entry is None or not keep_told(store, entry):
            return
        alike = alike + 1 if entry.version == version else 1
        version = entry.version
        if alike == ROUNDS:
            what = f"its words were written {ROUNDS} times, and are not read as they were written"
            raise Unsupported(f"table {table}", what, remedy="Look at rowkey describe.")
    raise Conflict(f"table {table}", f"{TRIES:,} changes of its words were overtaken", "", AGAIN)


def let_rule(
    catalog: Catalog,
    table: str,
    announced: Generation,
    store: Store,
    *,
    must_tell: bool = True,
) -> Entry:
    """Let a generation rule that everyone knows of; one that rules already is left as it is.

    The table's own words say so first: should the catalog be lost, nobody takes the number before
    for the only one.

    Args:
        catalog: where the table is remembered.
        table: its name.
        announced: the generation, as it was when its time began. Another one of its number, as a
            catalog that was lost may have, is not let rule: nobody has waited for it.
        store: the engine's table.
        must_tell: whether its words must say so. Who has only waited for the generation may lack
            the right to alter the table; whoever announced it, or opens it, tells them later.

    Raises:
        Unsupported: the catalog does not answer, or knows no such generation; the table's words
            tell of another one, or must say so and cannot.
        Conflict: the entry changes faster than it can be read.
    """
    told = nullcontext() if must_tell else suppress(Refused, Unsupported)
    for _ in range(TRIES):
        entry = catalog.read(table)
        if entry is None or not any(map(announced.is_of, entry.generations)):
            what = f"the catalog does not know its generation {announced.number} any more"
            allowed, remedy = "that one, as it was announced", "Look at rowkey buckets history."
            raise Unsupported(f"table {table}", what, allowed, remedy)
        if entry.announced is None or not announced.is_of(entry.announced):
            with told:
                settle_told(catalog, table, store)
            return entry
        ruled = entry.ruled()
        if what := lapse(table, ruled, store.described[1]):
            allowed, remedy = "what the table itself tells", "Open it again: that tells more."
            raise Unsupported(f"table {table}", what, allowed, remedy)
        with told:
            keep_told(store, ruled)
        try:
            ruled = replace(ruled, version=catalog.write(table, ruled, entry.version))
        except Conflict:
            continue  # an id was given out meanwhile, or somebody else has let it rule
        with told:
            settle_told(catalog, table, store)
        return ruled
    raise Conflict(f"table {table}", f"{TRIES:,} changes were overtaken", "", AGAIN)
