"""The text for HBase's shell, which is Ruby: ASCII only, so that no terminal can change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.regions import to_binary
from rowkey.render.ddl.creation import commented

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rowkey.hbase import FamilySchema
    from rowkey.render.ddl.creation import Creation

_ATTRIBUTES = {row.hbase: row for row in ATTRIBUTES.values()}
_PLAIN = frozenset(map(chr, range(0x20, 0x7F)))
_MARKED = frozenset('"\\#')


def script(creation: Creation) -> Iterator[str]:
    r"""The commands that create a table, for `hbase shell -n FILE`, line by line.

    A name is a Ruby string in which nothing is replaced. Split keys are written as the shell itself
    prints them, in the spelling of `Bytes.toStringBinary`, which `create` turns into bytes.

    Source: HBase 2.6, hbase-shell, admin.rb: `create` and `hcd` for what each word takes.

    >>> from rowkey.cells import Family
    >>> from rowkey.hbase import table_schema
    >>> from rowkey.render.ddl.creation import Creation
    >>> table = table_schema("t", [Family("#{d}", ttl_s=60)], {"rowkey.counts": "0=2"})
    >>> print(*script(Creation(table, [b"\x80'"], ["Design: t.toml"])), sep="\n")
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
    yield from (f"# {commented(remark)}" for remark in creation.remarks)
    if creation.namespace:
        yield "begin"
        yield f"  create_namespace {quoted(creation.namespace)}"
        yield "rescue => problem"
        yield '  puts "The namespace was not created: #{problem.message}"'
        yield "end"
    if creation.drawn:
        yield "require 'securerandom'"
    table = creation.table
    arguments = [[_family(family)] for family in table.families]
    kept = {**table.attributes, **table.configuration}  # a table keeps both alike
    words = [*map(_word, kept.items()), *map(_drawn, creation.drawn)]
    if words:
        arguments.append(["{METADATA => {", *_listed(words), "}}"])
    if creation.splits:
        arguments.append(["{SPLITS => [", *_listed(map(_key, creation.splits)), "]}"])
    yield f"create {quoted(table.name)},"
    for number, lines in enumerate(arguments, 1):
        *before, last = lines
        yield from (f"  {line}" for line in before)
        yield f"  {last}{',' if number < len(arguments) else ''}"


def _listed(items: Iterable[str]) -> list[str]:
    """The lines of a list of items, which may have several each."""
    return ",\n".join(f"  {item}" for item in items).split("\n")


def _family(family: FamilySchema) -> str:
    """A family as `create` takes it: its attributes under the shell's own constants."""
    words = [f"{word} => {_value(word, value)}" for word, value in family.attributes.items()]
    if family.configuration:
        words.append(f"CONFIGURATION => {{{', '.join(_pairs(family.configuration))}}}")
    return f"{{{', '.join((f'NAME => {quoted(family.name)}', *words))}}}"


def _value(word: str, value: str) -> str:
    """A value as the shell's own help writes it: numbers and truths bare, names quoted."""
    if word == "TTL" and value == str(FOREVER_S):
        return "'FOREVER'"
    return quoted(value) if _ATTRIBUTES[word].choices else value


def _pairs(words: Mapping[str, str]) -> Iterator[str]:
    return (f"{quoted(word)} => {quoted(value)}" for word, value in words.items())


def _word(pair: tuple[str, str]) -> str:
    """A word of the table; a text of several lines a line each, joined by Ruby."""
    word, text = pair
    *lines, last = text.split("\n")
    pieces = [*(f"{line}\n" for line in lines), *([last] if last else [])]
    if len(pieces) < 2:
        return f"{quoted(word)} => {quoted(text)}"
    joined = " \\\n    ".join(map(quoted, pieces))
    return f"{quoted(word)} =>\n    {joined}"


def _drawn(word: str) -> str:
    return f"{quoted(word)} => SecureRandom.hex(8)"


def _key(key: bytes) -> str:
    r"""A row key in single quotes, in which a backslash before an `x` stays one."""
    spelled = to_binary(key).replace("'", r"\x27")
    return f"'{spelled}'"


def quoted(text: str) -> str:
    r"""A text as a Ruby string that is this text and nothing else.

    >>> print(quoted("it's #{x}"), quoted('"#{x}"\N{SNOWMAN}'))
    'it\'s #{x}' "\"\#{x}\"\u{2603}"
    """
    if _PLAIN.issuperset(text):
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(letter: str) -> str:
    """A character of a string in double quotes."""
    if letter in _MARKED:
        return f"\\{letter}"
    if letter == "\n":
        return r"\n"
    return letter if letter in _PLAIN else f"\\u{{{ord(letter):x}}}"
