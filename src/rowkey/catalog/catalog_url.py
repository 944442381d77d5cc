"""Find the catalog of a table; attributes of a table lead only to a catalog that the user named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rowkey.catalog.catalog_entry import CATALOG_ATTRIBUTE
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from rowkey.engines import Engine

TABLE_CATALOG = "table"
"""The catalog that lies on the engine that has the table."""


def find_catalog_url(
    table: str, attributes: Mapping[str, str], engine: Engine, *trusted_urls: str | None
) -> str:
    """Return the URL of a table's catalog.

    An attribute of the table names its catalog, if it is not the usual one of its engine. The
    client that created the table has written it, and it may name any directory or server: it is
    used only if the caller names the same one.

    Args:
        table: the table's name.
        trusted_urls: the catalogs that the caller has named, in the design or otherwise.

    Raises:
        InvalidArgument: the table names another catalog than the caller.
    """
    own_url = attributes.get(CATALOG_ATTRIBUTE)
    named_urls = [url for url in trusted_urls if url]
    if not own_url:
        return named_urls[0] if named_urls else engine.catalog_url
    if own_url in (*named_urls, TABLE_CATALOG, engine.catalog_url):
        return own_url
    what = f"the attributes of table {table} name another catalog, {own_url}"
    allowed = " or ".join([*dict.fromkeys(named_urls), engine.catalog_url])
    remedy = (
        f"If you trust that catalog, give --catalog {own_url}, or catalog= in Python or in the "
        "design file."
    )
    raise InvalidArgument("catalog", what, allowed, remedy)
