"""The text in Java: one class with a `main`, for HBase's official client; ASCII only."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from rowkey.regions import to_binary
from rowkey.render.ddl.creation import commented

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rowkey.hbase import FamilySchema
    from rowkey.render.ddl.creation import Creation

LITERAL_MOST = 16_000
"""Most characters of one string: in a class file it has at most 65,535 bytes, 3 for each of them.

Source: The Java Virtual Machine Specification, 4.4.7."""

KEYS_MOST = 200
"""Most keys of one string: javac reads a sum of strings by calling itself."""

LINES_MOST = 1_000
"""Most lines of a text that stand one by one: a method has at most 65,535 bytes of code, and each
takes about ten of them."""

_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) - frozenset('"\\')
_IMPORTS = (
    "java.io.IOException",
    "org.apache.hadoop.hbase.HBaseConfiguration",
    "org.apache.hadoop.hbase.TableName",
    "org.apache.hadoop.hbase.client.Admin",
    "org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder",
    "org.apache.hadoop.hbase.client.Connection",
    "org.apache.hadoop.hbase.client.ConnectionFactory",
    "org.apache.hadoop.hbase.client.TableDescriptor",
    "org.apache.hadoop.hbase.client.TableDescriptorBuilder",
    "org.apache.hadoop.hbase.util.Bytes",
)
_FOR_DRAWN = ("java.security.SecureRandom",)
_FOR_NAMESPACES = ("java.util.Arrays", "org.apache.hadoop.hbase.NamespaceDescriptor")


def program(creation: Creation) -> Iterator[str]:
    """A class whose `main` creates a table, line by line; it compiles with Java 8 and newer.

    The cluster is the one of the `hbase-site.xml` on the class path. Keys go through
    `Bytes.toBytesBinary`, and are joined when the class runs: a string of a class file is short,
    and there may be a hundred thousand of them.

    Source: hbase-client 2.6: Admin, TableDescriptorBuilder, ColumnFamilyDescriptorBuilder.
    """
    name = class_name(creation.table.name)
    yield f"// Creates one table. Save as {name}.java; it needs hbase-client 2.5 or newer,"
    yield "// and the hbase-site.xml of the cluster on the class path."
    yield from (f"// {commented(remark)}" for remark in creation.remarks)
    more = (_FOR_NAMESPACES if creation.namespace else ()) + (_FOR_DRAWN if creation.drawn else ())
    imports = (*_IMPORTS, *more)
    yield from (f"import {one};" for one in sorted(imports))
    yield ""
    yield f"public final class {name} {{"
    yield from _indented(_table(creation))
    yield ""
    yield from _indented(_splits(creation.splits))
    yield ""
    yield from _indented(_main(creation))
    yield "}"


def class_name(table: str) -> str:
    """The name of the class for a table.

    >>> class_name("shop:server_logs")
    'CreateShopServerLogs'
    """
    pieces = re.findall("[A-Za-z0-9]+", table)
    return "Create" + ("".join(piece[0].upper() + piece[1:] for piece in pieces) or "Table")


def _table(creation: Creation) -> Iterator[str]:
    """The method that gives the table's descriptor."""
    table = creation.table
    yield "static TableDescriptor table() {"
    yield f"  return TableDescriptorBuilder.newBuilder(TableName.valueOf({literal(table.name)}))"
    for family in table.families:
        yield from _indented(_family(family), "      ")
    kept = {**table.attributes, **table.configuration}  # a table keeps both alike
    yield from _calls("setValue", kept, "      ")
    for word in creation.drawn:
        drawn = 'String.format("%016x", new SecureRandom().nextLong())'
        yield f"      .setValue({literal(word)}, {drawn})"
    yield "      .build();"
    yield "}"


def _family(family: FamilySchema) -> Iterator[str]:
    """The call that adds a family."""
    name = f"Bytes.toBytes({literal(family.name)})"
    yield f".setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder({name})"
    yield from _calls("setValue", family.attributes, "    ")
    yield from _calls("setConfiguration", family.configuration, "    ")
    yield "    .build())"


def _calls(method: str, words: Mapping[str, str], margin: str) -> Iterator[str]:
    for word, value in words.items():
        lines = value.split("\n")
        if not 2 < len(lines) <= LINES_MOST:
            yield f"{margin}.{method}({literal(word)}, {literal(value)})"
            continue
        yield f'{margin}.{method}({literal(word)}, String.join("\\n",'
        yield from (f"{margin}    {literal(line)}," for line in lines[:-1])
        yield f"{margin}    {literal(lines[-1])}))"


def _splits(splits: Iterable[bytes]) -> Iterator[str]:
    """The method that gives the row keys that regions begin with."""
    keys = [to_binary(key).replace(" ", r"\x20") for key in splits]
    yield "/** The row keys that regions begin with, ascending; none makes one region. */"
    yield "static byte[][] splits() {"
    if not keys:
        yield "  return new byte[0][];"
        yield "}"
        return
    yield '  String[] keys = String.join("",'
    strings = [list(_sum(pieces)) for pieces in _packed(keys)]
    for number, lines in enumerate(strings, 1):
        end = ').split(" ");' if number == len(strings) else ","
        yield from (f"      {line}" for line in lines[:-1])
        yield f"      {lines[-1]}{end}"
    yield "  byte[][] splits = new byte[keys.length][];"
    yield "  for (int i = 0; i < keys.length; i++) splits[i] = Bytes.toBytesBinary(keys[i]);"
    yield "  return splits;"
    yield "}"


def _packed(keys: Iterable[str]) -> Iterator[list[str]]:
    """Keys with a space between them, cut into pieces, as many as one string holds at a time."""
    pieces = (piece for key in _spaced(keys) for piece in _cut(key))
    packed: list[str] = []
    size = 0
    for piece in pieces:
        if packed and (size + len(piece) > LITERAL_MOST or len(packed) == KEYS_MOST):
            yield packed
            packed, size = [], 0
        packed.append(piece)
        size += len(piece)
    yield packed


def _spaced(keys: Iterable[str]) -> Iterator[str]:
    """Each key with a space before it, but for the first."""
    rest = iter(keys)
    yield from islice(rest, 1)
    yield from (f" {key}" for key in rest)


def _sum(pieces: list[str]) -> Iterator[str]:
    """One string as a sum, a piece a line."""
    first, *more = pieces
    yield _plain_literal(first)
    yield from (f"    + {_plain_literal(piece)}" for piece in more)


def _main(creation: Creation) -> Iterator[str]:
    """The method that creates the table, and its namespace where that is missing."""
    yield "public static void main(String[] arguments) throws IOException {"
    yield "  try (Connection connection ="
    yield "          ConnectionFactory.createConnection(HBaseConfiguration.create());"
    yield "      Admin admin = connection.getAdmin()) {"
    if creation.namespace:
        yield f"    String namespace = {literal(creation.namespace)};"
        yield "    if (!Arrays.asList(admin.listNamespaces()).contains(namespace)) {"
        yield "      admin.createNamespace(NamespaceDescriptor.create(namespace).build());"
        yield "    }"
    given = "table(), splits()" if creation.splits else "table()"
    yield f"    admin.createTable({given});"
    yield "  }"
    yield "}"


def literal(text: str) -> str:
    r"""A text as an expression of Java that is this text and nothing else.

    >>> print(literal('"\\u0041\n'), literal("\N{GRINNING FACE}"))
    "\"\\u0041\012" "\ud83d\ude00"
    """
    if len(text) <= LITERAL_MOST:
        return _plain_literal(text)
    return f'String.join("", {", ".join(map(_plain_literal, _cut(text)))})'


def _plain_literal(text: str) -> str:
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(letter: str) -> str:
    r"""A character of a string; below 80 in octal, since `\u000a` would end the line."""
    if letter in _PLAIN:
        return letter
    if letter in '"\\':
        return f"\\{letter}"
    if ord(letter) < 0x80:
        return f"\\{ord(letter):03o}"
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _cut(text: str) -> Iterator[str]:
    """A text in pieces that one string can hold."""
    yield from (text[at : at + LITERAL_MOST] for at in range(0, len(text), LITERAL_MOST))


def _indented(lines: Iterable[str], margin: str = "  ") -> Iterator[str]:
    return (f"{margin}{line}" if line else "" for line in lines)
