"""The verb `report`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rowkey.cli.options import FORMAT, PROGRESS, SAMPLE, SEED, print_aside, progress_to

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rowkey.design import Design
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

    The file needs no network and no other file. Several designs stand side by side on one scale,
    judged by the same events: if the splits of one follow from the sample, all are replayed on its
    second half.

    \b
    rowkey report logs.toml -o logs.html
    rowkey report logs.toml --sample events.csv --redact --lang zh -o logs.html
    """
    from secrets import token_bytes

    from rowkey.cli.outputs import Destination
    from rowkey.design import Design
    from rowkey.render import KEY_BYTES, Redaction, report_document, report_page

    destination = Destination.of("html", output, ["html"])
    if destination.path is None and sys.stdout.isatty():
        raise click.UsageError("A page is for a browser, not a terminal: give -o FILE.")
    words = None if sample_format is None else {"kind": sample_format}
    read = [Design.read(path) for path in designs]
    half = second_half or any(one.cut.needs_sample for one in read)
    judged = []
    for name, design in zip(_names(designs), read, strict=True):
        judged.append(_judged(name, design, sample, words, half, seed, progress))
    redaction = Redaction(token_bytes(KEY_BYTES) if redact else None)
    page = report_page(report_document(judged, redaction), lang)
    with destination.text() as stream:
        stream.write(page)
    if destination.path is not None:
        print_aside([f"{output}: {len(page.encode()) / 1000:,.0f} kB, open it in a browser"])


def _judged(
    name: str,
    design: Design,
    sample: str | None,
    words: Mapping[str, Any] | None,
    half: bool,
    seed: int,
    progress: str,
) -> Judged:
    from rowkey.render import judged
    from rowkey.simulate import run

    is_sampled = sample is not None or design.sample_path is not None
    with progress_to(progress, "replaying") as shown:
        found = run(
            design,
            sample,
            format_words=words,
            second_half=half and is_sampled,
            seed=seed,
            progress=shown,
        )
    return judged(name, found, sample, words)


def _names(paths: tuple[str, ...]) -> list[str]:
    """What each design is called: the name of its file, or its path where two are the same."""
    from pathlib import Path

    stems = [Path(path).stem for path in paths]
    return [
        path if stems.count(stem) > 1 else stem for path, stem in zip(paths, stems, strict=True)
    ]
