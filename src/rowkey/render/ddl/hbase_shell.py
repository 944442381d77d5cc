"""Scripts for HBase's shell, which is Ruby: ASCII only, so that no terminal can change them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.regions import to_string_binary
from rowkey.render.ddl.create_statement import CreateStatement, escape_comment

if TYPE_CHECKING:
    from rowkey.hbase import FamilySchema

_ATTRIBUTES_BY_NAME = {row.hbase_name: row for row in ATTRIBUTES.values()}
_PRINTABLE_ASCII = frozenset(map(chr, range(0x20, 0x7F)))
_ESCAPED_CHARACTERS = frozenset('"\\#')


def format_script(statement: CreateStatement) -> Iterator[str]:
    r"""Yield the lines of a script for `hbase shell -n FILE` that creates a table.

    A name is a Ruby string in which nothing is replaced. Split keys are written as the shell itself
    prints them, in the spelling of `Bytes.toStringBinary`, which `create` turns into bytes.

    Source: HBase 2.6, hbase-shell, admin.rb: `create` and `hcd` for what each word takes.

    >>> from rowkey.cells import Family
    >>> from rowkey.hbase import build_table_schema
    >>> from rowkey.render.ddl.create_statement import CreateStatement
    >>> table = build_table_schema("t", [Family("#{d}", ttl_s=60)], {"rowkey.counts": "0=2"})
    >>> print(*format_script(CreateStatement(table, [b"\x80'"], ["Design: t.toml"])), sep="\n")
    # Creates one table: hbase shell -n FILE
    # Design: t.toml
    create 't',
      {NAME => '#{d}', TTL => 60},
      {METADATA => {
        'rowkey.counts' => '0=2'
      }},
      {SPLITS => [
        '\x80\x27'
      ]}
    """
    # Ruby takes orders from a first line of comment, so no text of others stands there.
    yield "# Creates one table: hbase shell -n FILE"
    yield from (f"# {escape_comment(remark)}" for remark in statement.remarks)
    if statement.namespace:
        yield "begin"
        yield f"  create_namespace {quote_ruby(statement.namespace)}"
        yield "rescue => problem"
        yield '  puts "The namespace was not created: #{problem.message}"'
        yield "end"
    if statement.random_attributes:
        yield "require 'securerandom'"
    table = statement.table
    arguments = [[_format_family(family)] for family in table.families]
    table_attributes = {**table.attributes, **table.configuration}  # HBase stores both the same way
    pairs = [
        *map(_format_attribute, table_attributes.items()),
        *map(_format_random_attribute, statement.random_attributes),
    ]
    if pairs:
        arguments.append(["{METADATA => {", *_format_list(pairs), "}}"])
    if statement.splits:
        arguments.append(["{SPLITS => [", *_format_list(map(_format_key, statement.splits)), "]}"])
    yield f"create {quote_ruby(table.name)},"
    for number, lines in enumerate(arguments, 1):
        *before, last = lines
        yield from (f"  {line}" for line in before)
        yield f"  {last}{',' if number < len(arguments) else ''}"


def _format_list(items: Iterable[str]) -> list[str]:
    """Return the lines of a comma-separated list whose items may have several lines."""
    return ",\n".join(f"  {item}" for item in items).split("\n")


def _format_family(family: FamilySchema) -> str:
    """Return a column family as an argument of the shell's `create`."""
    pairs = [f"{name} => {_format_value(name, value)}" for name, value in family.attributes.items()]
    if family.configuration:
        pairs.append(f"CONFIGURATION => {{{', '.join(_format_pairs(family.configuration))}}}")
    return f"{{{', '.join((f'NAME => {quote_ruby(family.name)}', *pairs))}}}"


def _format_value(name: str, value: str) -> str:
    """Return an attribute value for the shell: names quoted, numbers and booleans not."""
    if name == "TTL" and value == str(FOREVER_S):
        return "'FOREVER'"
    return quote_ruby(value) if _ATTRIBUTES_BY_NAME[name].choices else value


def _format_pairs(attributes: Mapping[str, str]) -> Iterator[str]:
    """Yield each attribute as a pair of a Ruby hash."""
    return (f"{quote_ruby(name)} => {quote_ruby(value)}" for name, value in attributes.items())


def _format_attribute(pair: tuple[str, str]) -> str:
    """Return a table attribute as a Ruby pair, with a long text split into lines."""
    name, text = pair
    *lines, last = text.split("\n")
    pieces = [*(f"{line}\n" for line in lines), *([last] if last else [])]
    if len(pieces) < 2:
        return f"{quote_ruby(name)} => {quote_ruby(text)}"
    joined = " \\\n    ".join(map(quote_ruby, pieces))
    return f"{quote_ruby(name)} =>\n    {joined}"


def _format_random_attribute(name: str) -> str:
    """Return a table attribute whose value is drawn when the script runs."""
    return f"{quote_ruby(name)} => SecureRandom.hex(8)"


def _format_key(key: bytes) -> str:
    r"""Return a split key as a Ruby string in single quotes."""
    spelled = to_string_binary(key).replace("'", r"\x27")
    return f"'{spelled}'"


def quote_ruby(text: str) -> str:
    r"""Return a text as a Ruby string literal.

    >>> print(quote_ruby("it's #{x}"), quote_ruby('"#{x}"\N{SNOWMAN}'))
    'it\'s #{x}' "\"\#{x}\"\u{2603}"
    """
    if _PRINTABLE_ASCII.issuperset(text):
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return f'"{"".join(map(_escape_character, text))}"'


def _escape_character(letter: str) -> str:
    """Return a character escaped for a Ruby string in double quotes."""
    if letter in _ESCAPED_CHARACTERS:
        return f"\\{letter}"
    if letter == "\n":
        return r"\n"
    return letter if letter in _PRINTABLE_ASCII else f"\\u{{{ord(letter):x}}}"
