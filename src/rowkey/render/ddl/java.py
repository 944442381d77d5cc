"""Java programs for HBase's official client: one class with a `main`, ASCII only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from rowkey.regions import to_string_binary
from rowkey.render.ddl.create_statement import CreateStatement, escape_comment

if TYPE_CHECKING:
    from rowkey.hbase import FamilySchema

MAX_LITERAL_LENGTH = 16_000
"""Most characters of one string: in a class file it has at most 65,535 bytes, 3 for each of them.

Source: The Java Virtual Machine Specification, 4.4.7."""

MAX_KEYS_PER_LITERAL = 200
"""Most keys of one string: javac reads a sum of strings by calling itself."""

MAX_JOINED_LINES = 1_000
"""Most lines of a text that stand one by one: a method has at most 65,535 bytes of code, and each
takes about ten of them."""

_UNESCAPED_CHARACTERS = frozenset(map(chr, range(0x20, 0x7F))) - frozenset('"\\')
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
_RANDOM_IMPORTS = ("java.security.SecureRandom",)
_NAMESPACE_IMPORTS = ("java.util.Arrays", "org.apache.hadoop.hbase.NamespaceDescriptor")


def format_program(statement: CreateStatement) -> Iterator[str]:
    """Yield the lines of a Java class whose `main` creates a table.

    The cluster is the one of the `hbase-site.xml` on the class path. Keys go through
    `Bytes.toBytesBinary`, and are joined when the class runs: a string of a class file is short,
    and there may be a hundred thousand of them.

    Source: hbase-client 2.6: Admin, TableDescriptorBuilder, ColumnFamilyDescriptorBuilder.
    """
    name = build_class_name(statement.table.name)
    yield f"// Creates one table. Save as {name}.java; it needs hbase-client 2.5 or newer,"
    yield "// and the hbase-site.xml of the cluster on the class path."
    yield from (f"// {escape_comment(remark)}" for remark in statement.remarks)
    extra_imports = (_NAMESPACE_IMPORTS if statement.namespace else ()) + (
        _RANDOM_IMPORTS if statement.random_attributes else ()
    )
    imports = (*_IMPORTS, *extra_imports)
    yield from (f"import {one};" for one in sorted(imports))
    yield ""
    yield f"public final class {name} {{"
    yield from _indent_lines(_format_table_method(statement))
    yield ""
    yield from _indent_lines(_format_splits_method(statement.splits))
    yield ""
    yield from _indent_lines(_format_main_method(statement))
    yield "}"


def build_class_name(table: str) -> str:
    """Return the name of the Java class that creates a table.

    >>> build_class_name("shop:server_logs")
    'CreateShopServerLogs'
    """
    pieces = re.findall("[A-Za-z0-9]+", table)
    return "Create" + ("".join(piece[0].upper() + piece[1:] for piece in pieces) or "Table")


def _format_table_method(statement: CreateStatement) -> Iterator[str]:
    """Yield the Java method that returns the table descriptor."""
    table = statement.table
    yield "static TableDescriptor table() {"
    yield (
        "  return "
        f"TableDescriptorBuilder.newBuilder(TableName.valueOf({format_literal(table.name)}))"
    )
    for family in table.families:
        yield from _indent_lines(_format_family(family), "      ")
    table_attributes = {**table.attributes, **table.configuration}  # HBase stores both the same way
    yield from _format_setters("setValue", table_attributes, "      ")
    for name in statement.random_attributes:
        drawn = 'String.format("%016x", new SecureRandom().nextLong())'
        yield f"      .setValue({format_literal(name)}, {drawn})"
    yield "      .build();"
    yield "}"


def _format_family(family: FamilySchema) -> Iterator[str]:
    """Yield the Java call that adds a column family."""
    name = f"Bytes.toBytes({format_literal(family.name)})"
    yield f".setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder({name})"
    yield from _format_setters("setValue", family.attributes, "    ")
    yield from _format_setters("setConfiguration", family.configuration, "    ")
    yield "    .build())"


def _format_setters(method: str, attributes: Mapping[str, str], margin: str) -> Iterator[str]:
    """Yield a Java setter call for each attribute."""
    for name, value in attributes.items():
        lines = value.split("\n")
        if not 2 < len(lines) <= MAX_JOINED_LINES:
            yield f"{margin}.{method}({format_literal(name)}, {format_literal(value)})"
            continue
        yield f'{margin}.{method}({format_literal(name)}, String.join("\\n",'
        yield from (f"{margin}    {format_literal(line)}," for line in lines[:-1])
        yield f"{margin}    {format_literal(lines[-1])}))"


def _format_splits_method(splits: Iterable[bytes]) -> Iterator[str]:
    """Yield the Java method that returns the split keys."""
    keys = [to_string_binary(key).replace(" ", r"\x20") for key in splits]
    yield "/** The row keys that regions begin with, ascending; none makes one region. */"
    yield "static byte[][] splits() {"
    if not keys:
        yield "  return new byte[0][];"
        yield "}"
        return
    yield '  String[] keys = String.join("",'
    strings = [list(_format_sum(pieces)) for pieces in _pack_keys(keys)]
    for number, lines in enumerate(strings, 1):
        end = ').split(" ");' if number == len(strings) else ","
        yield from (f"      {line}" for line in lines[:-1])
        yield f"      {lines[-1]}{end}"
    yield "  byte[][] splits = new byte[keys.length][];"
    yield "  for (int i = 0; i < keys.length; i++) splits[i] = Bytes.toBytesBinary(keys[i]);"
    yield "  return splits;"
    yield "}"


def _pack_keys(keys: Iterable[str]) -> Iterator[list[str]]:
    """Yield lists of split keys that each fit one Java string literal."""
    pieces = (piece for key in _prepend_spaces(keys) for piece in _split_text(key))
    packed: list[str] = []
    size = 0
    for piece in pieces:
        if packed and (
            size + len(piece) > MAX_LITERAL_LENGTH or len(packed) == MAX_KEYS_PER_LITERAL
        ):
            yield packed
            packed, size = [], 0
        packed.append(piece)
        size += len(piece)
    yield packed


def _prepend_spaces(keys: Iterable[str]) -> Iterator[str]:
    """Yield each key, with a space in front except for the first."""
    rest = iter(keys)
    yield from islice(rest, 1)
    yield from (f" {key}" for key in rest)


def _format_sum(pieces: list[str]) -> Iterator[str]:
    """Yield a Java string as a sum with one piece per line."""
    first, *more = pieces
    yield _format_short_literal(first)
    yield from (f"    + {_format_short_literal(piece)}" for piece in more)


def _format_main_method(statement: CreateStatement) -> Iterator[str]:
    """Yield the Java `main` method, which creates the namespace and the table."""
    yield "public static void main(String[] arguments) throws IOException {"
    yield "  try (Connection connection ="
    yield "          ConnectionFactory.createConnection(HBaseConfiguration.create());"
    yield "      Admin admin = connection.getAdmin()) {"
    if statement.namespace:
        yield f"    String namespace = {format_literal(statement.namespace)};"
        yield "    if (!Arrays.asList(admin.listNamespaces()).contains(namespace)) {"
        yield "      admin.createNamespace(NamespaceDescriptor.create(namespace).build());"
        yield "    }"
    arguments = "table(), splits()" if statement.splits else "table()"
    yield f"    admin.createTable({arguments});"
    yield "  }"
    yield "}"


def format_literal(text: str) -> str:
    r"""Return a text as a Java string expression.

    >>> print(format_literal('"\\u0041\n'), format_literal("\N{GRINNING FACE}"))
    "\"\\u0041\012" "\ud83d\ude00"
    """
    if len(text) <= MAX_LITERAL_LENGTH:
        return _format_short_literal(text)
    return f'String.join("", {", ".join(map(_format_short_literal, _split_text(text)))})'


def _format_short_literal(text: str) -> str:
    """Return a text as one Java string literal."""
    return f'"{"".join(map(_escape_character, text))}"'


def _escape_character(letter: str) -> str:
    r"""Return a character escaped for a Java string: ASCII in octal, others as \uXXXX."""
    if letter in _UNESCAPED_CHARACTERS:
        return letter
    if letter in '"\\':
        return f"\\{letter}"
    if ord(letter) < 0x80:
        return f"\\{ord(letter):03o}"
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _split_text(text: str) -> Iterator[str]:
    """Yield the pieces of a text that each fit one Java string literal."""
    yield from (
        text[at : at + MAX_LITERAL_LENGTH] for at in range(0, len(text), MAX_LITERAL_LENGTH)
    )


def _indent_lines(lines: Iterable[str], margin: str = "  ") -> Iterator[str]:
    """Yield lines with an indent; empty lines stay empty."""
    return (f"{margin}{line}" if line else "" for line in lines)
