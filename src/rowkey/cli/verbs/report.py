"""The verb `report`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from rowkey.cli.options import FORMAT, PROGRESS, SAMPLE, SEED, print_aside, progress_to

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rowkey.advise import Comparison
    from rowkey.design import Design
    from rowkey.errors import Incomparable
    from rowkey.render import Judged


@click.command(short_help="Designs as one page to send to a colleague.")
@click.argument("designs", nargs=-1, required=True)
@SAMPLE
@FORMAT
@click.option("-o", "--output", metavar="FILE", help="The HTML file; standard output if not given.")
@click.option(
    "--redact", is_flag=True, help="Show hashes instead of values: who was hot stays hidden."
)
@click.option(
    "--lang",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    help="The language of the page.",
)
@click.option("--second-half", is_flag=True, help="Replay only the second half of the sample.")
@SEED
@PROGRESS
def command(
    designs: tuple[str, ...],
    sample: str | None,
    sample_format: str | None,
    output: str | None,
    lang: str,
    seed: int,
    progress: str,
    *,
    redact: bool,
    second_half: bool,
) -> None:
    """Write designs, what they cost and where they run hot as one HTML file.

    The file needs no network and no other file. Two to eight designs are compared as `rowkey
    compare` does, on one sample and one scale, before each is told by itself. Where they cannot be
    compared, the page says why and tells each by itself.

    \b
    rowkey report logs.toml -o logs.html
    rowkey report by_time.toml by_host.toml --sample events.csv -o both.html
    rowkey report logs.toml --sample events.csv --redact --lang zh -o logs.html
    """
    from secrets import token_bytes

    from rowkey.advise import MOST_DESIGNS
    from rowkey.cli.outputs import Destination
    from rowkey.design import Design
    from rowkey.render import KEY_BYTES, Redaction, report_document, report_page

    destination = Destination.of("html", output, ["html"])
    if destination.path is None and sys.stdout.isatty():
        raise click.UsageError("A page is for a browser, not a terminal: give -o FILE.")
    if len(designs) > MOST_DESIGNS:
        raise click.UsageError(
            f"{len(designs)} designs are given; a page has {MOST_DESIGNS} or fewer."
        )
    read = [(n, Design.read(path)) for n, path in zip(names_of(designs), designs, strict=True)]
    words = None if sample_format is None else {"kind": sample_format}
    asked = _Asked(sample, words, second_half, seed, progress)
    judged, comparison = _all_judged(read, asked)
    redaction = Redaction(token_bytes(KEY_BYTES) if redact else None)
    page = report_page(report_document(judged, redaction, comparison), lang)
    with destination.text() as stream:
        stream.write(page)
    if destination.path is not None:
        print_aside([f"{output}: {len(page.encode()) / 1000:,.0f} kB, open it in a browser"])


class _Asked(NamedTuple):
    """How designs are to be judged."""

    sample: str | None
    words: Mapping[str, Any] | None
    second_half: bool
    seed: int
    progress: str


def _all_judged(
    read: Sequence[tuple[str, Design]], asked: _Asked
) -> tuple[list[Judged], Comparison | Incomparable | None]:
    """Every design, and what came of comparing them: nothing where there is one."""
    from rowkey.errors import Incomparable
    from rowkey.render import judged_together

    refusal = None
    if len(read) > 1:
        try:
            found = _compared(read, asked)
            return judged_together(found), found
        except Incomparable as problem:
            refusal = problem
            print_aside(["There is no comparison, each design is judged by itself:"])
            print_aside([f"  {mistake}" for mistake in problem.mistakes])
    half = asked.second_half or any(one.cut.needs_sample for _, one in read)
    return [_judged(name, design, asked, half=half) for name, design in read], refusal


def _compared(read: Sequence[tuple[str, Design]], asked: _Asked) -> Comparison:
    from time import perf_counter

    from rowkey.advise import compare

    with progress_to(asked.progress, "replaying") as shown:
        return compare(
            [design for _, design in read],
            asked.sample,
            names=[name for name, _ in read],
            format_words=asked.words,
            second_half=asked.second_half,
            seed=asked.seed,
            clock=perf_counter,
            progress=shown,
        )


def _judged(name: str, design: Design, asked: _Asked, *, half: bool) -> Judged:
    from rowkey.render import judged
    from rowkey.simulate import run

    is_sampled = asked.sample is not None or design.sample_path is not None
    with progress_to(asked.progress, "replaying") as shown:
        found = run(
            design,
            asked.sample,
            format_words=asked.words,
            second_half=half and is_sampled,
            seed=asked.seed,
            progress=shown,
        )
    return judged(name, found, asked.sample, asked.words)


def names_of(paths: Sequence[str]) -> list[str]:
    """What each design is called: as much of its file's path, from the end, as tells it apart.

    A design that is given twice gets a number.

    >>> names_of(["a/logs.toml", "b/logs.toml", "b/hosts.toml", "b/hosts.toml"])
    ['a/logs', 'b/logs', 'hosts', 'hosts#2']
    """
    from pathlib import Path

    parts = [(*Path(path).parent.parts, Path(path).stem) for path in paths]
    names = []
    for number, own in enumerate(parts):
        others = {one for one in parts if one != own}
        least = next(
            n
            for n in range(1, len(own) + 1)
            if n == len(own) or all(one[-n:] != own[-n:] for one in others)
        )
        again = parts[:number].count(own)
        names.append("/".join(own[-least:]).replace("//", "/") + f"#{again + 1}" * bool(again))
    return names
