"""The content of a script that creates a table, independent of its dialect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.hbase import TableSchema

EXPLICIT_ATTRIBUTES = (
    "VERSIONS",
    "TTL",
    "COMPRESSION",
    "BLOOMFILTER",
    "BLOCKSIZE",
    "DATA_BLOCK_ENCODING",
)
"""What a text says of each family although it is the default: what its reader will ask first."""


@dataclass(frozen=True, slots=True)
class CreateStatement:
    """What a script needs to create a table: schema, split keys and comments.

    Args:
        table: the table in HBase's words.
        splits: the row keys its regions begin with, ascending; none makes one region.
        remarks: what stands above, a line each; any text.
        random_attributes: words of the table that are drawn when it is made: 16 hexadecimal digits
            each.
    """

    table: TableSchema
    splits: Sequence[bytes] = ()
    remarks: Sequence[str] = ()
    random_attributes: Sequence[str] = ()

    @property
    def namespace(self) -> str:
        """The namespace that must exist before the table; empty for the default one."""
        return self.table.name.rpartition(":")[0]


def build_create_statement(
    design: Design, splits: Sequence[bytes], source: str = "", companion_of: str = ""
) -> CreateStatement:
    """Return the statement that creates the same table as `rowkey create` on a cluster.

    The words among its attributes are those that `create` writes. By them `rowkey.open` knows a
    table that was made by hand; `rowkey.table_id` is drawn when it is made.

    Args:
        splits: the row keys its regions begin with, ascending.
        source: the file of the design, for readers of the text.
        companion_of: the main table that it is a companion of; empty if the design is no companion.

    Raises:
        InvalidArgument: a cluster cannot have this table under this name; `create` says the same.

    >>> from rowkey.design import Design
    >>> design = Design("shop:orders", "[id]", fields={"id": "u64"})
    >>> made = build_create_statement(design, [b"\\x80"], "orders.toml")
    >>> made.namespace, made.remarks
    ('shop', ('Design: orders.toml', 'Key: [id]', '2 regions'))
    """
    from rowkey.catalog import TABLE_ID_ATTRIBUTE
    from rowkey.engines import check_cluster_spec
    from rowkey.hbase import build_table_schema
    from rowkey.table import build_table_spec

    spec = build_table_spec(design, splits, companion_of)
    check_cluster_spec(spec, {})
    table = build_table_schema(
        spec.name, spec.families, spec.attributes, explicit_defaults=EXPLICIT_ATTRIBUTES
    )
    count = len(splits) + 1
    regions = "1 region" if count == 1 else f"{count:,} regions"
    remarks = [f"Design: {source}"] if source else []
    return CreateStatement(
        table, tuple(splits), (*remarks, f"Key: {design.key}", regions), (TABLE_ID_ATTRIBUTE,)
    )


def escape_comment(text: str) -> str:
    r"""Return a text as one comment line of ASCII characters.

    Java reads `\u` even there, so a backslash of the text is doubled.

    >>> print(escape_comment("c:\\users\n\N{SNOWMAN}"))
    c:\\users\n\u2603
    """
    return text.encode("unicode_escape").decode("ascii")
