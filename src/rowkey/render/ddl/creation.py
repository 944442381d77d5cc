"""What a text that creates a table has to say, whatever its dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.design import Design
    from rowkey.hbase import TableSchema

TOLD = ("VERSIONS", "TTL", "COMPRESSION", "BLOOMFILTER", "BLOCKSIZE", "DATA_BLOCK_ENCODING")
"""What a text says of each family although it is the default: what its reader will ask first."""


@dataclass(frozen=True, slots=True)
class Creation:
    """A table that is to be created.

    Args:
        table: the table in HBase's words.
        splits: the row keys its regions begin with, ascending; none makes one region.
        remarks: what stands above, a line each; any text.
        drawn: words of the table that are drawn when it is made: 16 hexadecimal digits each.
    """

    table: TableSchema
    splits: Sequence[bytes] = ()
    remarks: Sequence[str] = ()
    drawn: Sequence[str] = ()

    @property
    def namespace(self) -> str:
        """The namespace that has to be there; empty if it always is."""
        return self.table.name.rpartition(":")[0]


def creation_of(design: Design, splits: Sequence[bytes], source: str = "") -> Creation:
    """The table of a design as `rowkey create` makes it on a cluster.

    The words among its attributes are those that `create` writes. By them `rowkey.open` knows a
    table that was made by hand; `rowkey.born` is drawn when it is made.

    Args:
        design: the design.
        splits: the row keys its regions begin with, ascending.
        source: where the design is from, for whoever reads the text.

    Raises:
        Refused: a cluster cannot have this table under this name; `create` says the same.

    >>> from rowkey.design import Design
    >>> design = Design("shop:orders", "[id]", fields={"id": "u64"})
    >>> made = creation_of(design, [b"\\x80"], "orders.toml")
    >>> made.namespace, made.remarks
    ('shop', ('Design: orders.toml', 'Key: [id]', '2 regions'))
    """
    from rowkey.catalog import BORN
    from rowkey.engines import check_cluster_spec
    from rowkey.hbase import table_schema
    from rowkey.table import spec_of

    spec = spec_of(design, splits)
    check_cluster_spec(spec, {})
    table = table_schema(spec.name, spec.families, spec.attributes, told=TOLD)
    count = len(splits) + 1
    regions = "1 region" if count == 1 else f"{count:,} regions"
    said = [f"Design: {source}"] if source else []
    return Creation(table, tuple(splits), (*said, f"Key: {design.key}", regions), (BORN,))


def commented(text: str) -> str:
    r"""A text as it may stand in a line of comment: ASCII, and never the end of the line.

    Java reads `\u` even there, so a backslash of the text is doubled.

    >>> print(commented("c:\\users\n\N{SNOWMAN}"))
    c:\\users\n\u2603
    """
    return text.encode("unicode_escape").decode("ascii")
