"""A design: all words of one file, bound to each other, ready to be judged and run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rowkey.cells import FOREVER_S, Family, bind_family, check_family, check_table
from rowkey.design.cutting import bind_splits, prefixes_of
from rowkey.design.dump import dumped
from rowkey.design.load import parsed
from rowkey.design.placing import check_places, families_of
from rowkey.design.sentences import note_all
from rowkey.errors import DeclarationError, Mistake, Mistakes, Refused
from rowkey.keys import Key, bind_fields, bound_key
from rowkey.plan import Read, bind_reads
from rowkey.regions import Demand
from rowkey.rows import lay_out
from rowkey.schema import Cluster, Declaration, Term, parse, print_key, read_rate, read_size
from rowkey.workload import bind_writes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rowkey.keys import Field
    from rowkey.schema import Facts


class Design:
    """One table: its fields, row key, families, boundaries, writes and reads.

    Args:
        table: its name.
        key: the row key in bracket notation, or its terms.
        words: the other words of a design file, as they stand there: `fields`, `families`,
            `splits`, `cluster`, `writes`, `reads`, `sample`, `catalog`.

    Raises:
        DeclarationError: with every mistake found.

    >>> design = Design("logs", "[bucket(host, 16)][host][ts]",
    ...     fields={"host": "text", "ts": "timestamp_ms"}, splits="per_bucket")
    >>> design.key.encode({"host": "web-1", "ts": 1609459200000}).hex()
    '097765622d310000000176bb3e7000'
    >>> len(design.cut.boundaries(design.key))
    16
    """

    def __init__(self, table: str, key: str | tuple[Term, ...], **words: Any) -> None:
        notation = key if isinstance(key, str) else print_key(key)
        self._bind({"table": table, "key": notation, **words}, Path())

    @classmethod
    def read(cls, path: str | Path) -> Design:
        """The design of a file.

        Raises:
            DeclarationError: with every mistake, each with its line; or the file cannot be read.
        """
        path = Path(path)
        try:
            text = path.read_bytes().decode()
        except OSError as problem:
            what = f"cannot be read: {problem.strerror}"
            raise DeclarationError([Mistake("", what)], str(path)) from None
        except UnicodeDecodeError as problem:
            what = f"byte {problem.start} is not UTF-8"
            raise DeclarationError([Mistake("", what, "TOML, which is UTF-8")], str(path)) from None
        return cls.loads(text, source=str(path), directory=path.parent)

    @classmethod
    def loads(cls, text: str, *, source: str = "", directory: Path | None = None) -> Design:
        """The design of a text.

        Args:
            text: what stands in the file.
            source: its name, printed before line numbers.
            directory: what the path of a sample is relative to.

        Raises:
            DeclarationError: with every mistake, each with its line.
        """
        words, lines = parsed(text, source)
        design = cls.__new__(cls)
        try:
            design._bind(words, directory or Path())  # noqa: SLF001 - its own
        except DeclarationError as problem:
            placed = sorted(map(lines.placed, problem.mistakes), key=lambda one: one.line)
            raise DeclarationError(placed, source) from None
        return design

    def dumps(self) -> str:
        """The design as the text of a file; `loads` gives it back.

        >>> print(Design("t", "[id]", fields={"id": "u64"}).dumps())
        table = "t"
        key   = "[id]"
        <BLANKLINE>
        [fields]
        id = "u64"
        <BLANKLINE>
        """
        return dumped(self.declaration)

    def __repr__(self) -> str:
        """The design as Python would declare it."""
        words = self.declaration.model_dump(by_alias=True, exclude_defaults=True)
        table, key = words.pop("table"), words.pop("key")
        more = "".join(f", {word}={value!r}" for word, value in words.items())
        return f"Design({table!r}, {key!r}{more})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.declaration == other.declaration

    __hash__ = None  # type: ignore[assignment]

    def _bind(self, words: Mapping[str, Any], directory: Path) -> None:
        """Bind every word; what is wrong with any of them is raised together."""
        mistakes = Mistakes()
        declaration: Declaration | None
        try:
            declaration = Declaration.model_validate(words)
        except ValidationError as problem:
            note_all(problem, mistakes)
            declaration = _without_mistakes(words, problem)
        if declaration is None:
            raise DeclarationError(mistakes.found)
        self.declaration = declaration
        self.directory = directory
        self._bind_words(declaration, mistakes)
        mistakes.raise_any()

    def _bind_words(self, declaration: Declaration, mistakes: Mistakes) -> None:
        for refusal in check_table(declaration.table):
            mistakes.refused("table", refusal)
        self.table = declaration.table
        self.fields = bind_fields(declaration.fields, mistakes)
        unknown = frozenset(declaration.fields) - self.fields.keys()
        terms = self._terms(declaration.key, mistakes)
        key = bound_key(terms, self.fields, mistakes, unknown=unknown) if terms else None
        self.families = self._families(declaration, mistakes)
        self.cut = bind_splits(declaration.splits, mistakes)
        self.cluster = self._cluster(declaration, mistakes)
        reads = [read for read in declaration.reads if not _names_any(read, unknown)]
        self.reads: tuple[Read, ...] = bind_reads(reads, self.fields, mistakes)
        self.writes = bind_writes(declaration.writes, self.fields, mistakes)
        check_places(self.fields, self.families, mistakes)
        if key is not None:
            self._complete(key)

    def _complete(self, key: Key) -> None:
        self.key = key
        self.layout = lay_out(key, self.fields, next(iter(self.families)))

    def _terms(self, text: str, mistakes: Mistakes) -> tuple[Term, ...]:
        try:
            return parse(text)
        except Refused as refusal:
            mistakes.refused("key", refusal)
            return ()

    def _families(self, declaration: Declaration, mistakes: Mistakes) -> dict[str, Family]:
        bound = {}
        for name, words in families_of(declaration).items():
            before = len(mistakes.found)
            attributes = _in_seconds(words)
            for refusal in check_family(name, attributes):
                mistakes.refused(f"families.{name[:80]}", refusal)
            if len(mistakes.found) == before:
                bound[name] = bind_family(name, attributes)
        return bound or {"d": Family("d")}

    def _cluster(self, declaration: Declaration, mistakes: Mistakes) -> Cluster:
        words = declaration.cluster

        def number(path: str, text: str | None, parse_it: Callable[[str], Any]) -> Any:
            try:
                return None if text is None else parse_it(text)
            except Refused as refusal:
                mistakes.refused(f"cluster.{path}", refusal)
                return None

        capacity = number("capacity", words.capacity, read_rate)
        return Cluster(words.servers, capacity, number("heap", words.heap, read_size))

    @property
    def sample_path(self) -> Path | None:
        """The declared sample, relative to where the design lies."""
        sample = self.declaration.sample
        return None if sample is None else self.directory / sample.path

    @property
    def sample_format(self) -> Mapping[str, Any] | None:
        """How the declared sample is read, if that was said."""
        sample = self.declaration.sample
        return None if sample is None else sample.format

    def wanted_fields(self) -> dict[str, Field]:
        """The fields that judging needs of each event: those of the key, of reads, and the time."""
        names = dict.fromkeys(self.key.fields)
        for read in self.reads:
            names |= dict.fromkeys(read.asked)
        if self.writes.time is not None:
            names[self.writes.time.name] = None
        return {name: self.fields[name] for name in names}

    def demand(self, facts: Mapping[str, Facts] | None = None) -> Demand:
        """What the table will hold and stand, as far as the file tells.

        Args:
            facts: what is known of the fields.
        """
        prefixes = prefixes_of(self.key)
        size_each = self.layout.event_bytes(self.key_bytes(facts), facts)
        rate = self.writes.rate
        kept_s = max(family.ttl_s for family in self.families.values())
        size = 0 if rate is None or kept_s == FOREVER_S else int(rate * kept_s * size_each)
        return Demand(
            size=min(size, 2**62),
            servers=self.cluster.servers,
            families=len(self.families),
            heap=self.cluster.heap,
            writes=None if rate is None else int(rate * size_each),
            capacity=None,
            scans=any(read.limit is None for read in self.reads),
            prefixes=None if prefixes is None else len(prefixes),
        )

    def key_bytes(self, facts: Mapping[str, Facts] | None = None) -> float:
        """Mean bytes of a row key, from the widths of its parts and what is known of the fields."""
        total = 0.0
        for part in self.key.parts:
            framing = part.framing
            if framing.width is not None:
                total += framing.width
                continue
            known = [(facts or {}).get(name) for name in part.fields]
            widths = [f.bytes_mean for f in known if f is not None and f.bytes_mean is not None]
            top = framing.most if framing.most is not None else framing.least + 32
            total += framing.least + sum(widths) if widths else (framing.least + top) / 2
        return total


def _names_any(read: Any, names: frozenset[str]) -> bool:
    """Whether a read mentions a field that could not be bound."""
    return any(name in f"{read.where} {read.order}" for name in names)


def _in_seconds(words: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a family with a `ttl` such as `30d` in seconds."""
    from rowkey.schema import read_duration

    found = dict(words)
    ttl = found.get("ttl")
    if isinstance(ttl, str) and ttl.upper() == "FOREVER":
        found["ttl"] = FOREVER_S
    elif isinstance(ttl, str):
        try:
            found["ttl"] = read_duration(ttl).nanoseconds // 1_000_000_000
        except Refused:
            return found
    return found


def _without_mistakes(words: Mapping[str, Any], problem: ValidationError) -> Declaration | None:
    """What is left of a tree without its wrong branches, so that the rest is checked as well."""
    kept = dict(words)
    for detail in problem.errors(include_url=False, include_input=False):
        branch = detail["loc"]
        if len(branch) > 1 and branch[0] == "fields" and isinstance(kept.get("fields"), dict):
            kept["fields"] = {n: f for n, f in kept["fields"].items() if n != branch[1]}
        elif branch:
            kept.pop(str(branch[0]), None)
    try:
        return Declaration.model_validate(kept)
    except ValidationError:
        return None
