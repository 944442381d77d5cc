"""Which catalog a table is looked up in: nobody else's words lead anywhere that was not named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.catalog.entry import CATALOG_WORD
from rowkey.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.engines import Engine

NEXT_TO_TABLE = "table"
"""The catalog that lies on the engine that has the table."""


def find_catalog_url(
    table: str, words: Mapping[str, str], engine: Engine, *named: str | None
) -> str:
    """Return the URL of a table's catalog.

    A table tells its catalog itself, if it is not the usual one of its place. Whoever has made the
    table has written that, and it may be any directory or server: it is believed if the caller
    names the same one.

    Args:
        table: the table's name.
        words: the table's own.
        engine: the place where it is.
        named: the catalogs that the caller has named, in the design or otherwise.

    Raises:
        Refused: the table tells another catalog than the caller.
    """
    told = words.get(CATALOG_WORD)
    asked = [url for url in named if url]
    if not told:
        return asked[0] if asked else engine.catalog_url
    if told in (*asked, NEXT_TO_TABLE, engine.catalog_url):
        return told
    what = f"{table} says that its catalog is {told}"
    allowed = " or ".join([*dict.fromkeys(asked), engine.catalog_url])
    remedy = f"If you trust that, name it: --catalog {told}, or catalog= in Python or the design."
    raise Refused("catalog", what, allowed, remedy)
