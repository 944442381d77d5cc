"""Results as text for people."""

from __future__ import annotations

import re
from itertools import chain
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rowkey.errors import counted, escaped
from rowkey.render.findings import finding_lines
from rowkey.render.packing import packing_lines
from rowkey.render.terminal_map import heat_map, instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from rowkey.design import Design, PartProperties, Properties, ReadProperties
    from rowkey.heat import Skew
    from rowkey.lint import Findings
    from rowkey.regions import Sizing
    from rowkey.simulate import ReadResult, Simulation
    from rowkey.workload import Packing

NO_CAUSE = "no single cause explains it: it is how the values of this key fall on its regions"
_WHOLE = re.compile(r'"[^"]*"|(?:\[[^\]"]*\])+')
_HARD_SPACE = "\0"
NO_FIGURE = "  –  "
"""Stands before the reason why a width of window has no figures."""
SHORTENED = (0, 5, 11)
"""Where a time is cut so that it fits: with its year, with its day, or alone."""
STYLES = {"even": "bold green", "warm": "bold yellow", "hot": "bold red"}


def print_simulation(found: Simulation, console: Console, packing: Packing | None = None) -> None:
    """Print a simulation: the verdict first, then why, then the figures."""
    from rich.text import Text

    def told(text: str, indent: int = 0, bold: tuple[int, int, str] | None = None) -> None:
        for number, line in enumerate(wrapped(text, console.width, indent)):
            shown = Text(line)
            if bold is not None and number == 0:
                shown.stylize(bold[2], bold[0], bold[1])
            console.print(shown, soft_wrap=True)

    word = found.verdict.word
    told(f"{found.design.table}  {found.design.key}", 2)
    told(f"{word.upper()}: {verdict_words(found)}", 2, (0, len(word), STYLES[word]))
    for (joint, reason), cause in zip(reasons(found), found.causes, strict=True):
        told(f"  {joint} {reason}", 4, (2, 2 + len(joint), "bold"))
        told(f"    {cause.remedy}", 4)
    if not found.causes and word != "even" and not found.is_thin:
        told(f"  {NO_CAUSE}", 4)
    console.print()
    for line in heat_map(found, console.width, colour=console.is_terminal and not console.no_color):
        console.print(line, no_wrap=True, overflow="crop")
    console.print()
    for text in chain(_figures(found, console.width), packing_lines(packing)):
        told(text, text.find(NO_FIGURE) + len(NO_FIGURE) if NO_FIGURE in text else _indent(text))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip()) + 2


def verdict_words(found: Simulation) -> str:
    """What the word of a verdict is from."""
    verdict, servers = found.verdict, found.design.cluster.servers
    if servers == 1:
        return "one server takes everything; there is nothing to spread over"
    return (
        f"the fullest of {counted(servers, 'server')} takes {verdict.skew:.2f}× its fair share in "
        f"{verdict.basis} (an even design: {verdict.even:.2f}×)"
    )


def wrapped(text: str, width: int, indent: int) -> list[str]:
    """A line as lines that fit, the further ones indented; keys and quoted words stay whole.

    Args:
        text: what it says, with its own indent.
        width: characters of a line; only a word that is longer by itself exceeds it.
        indent: spaces before the further lines.

    >>> wrapped("a key is [bucket(host, 16)][host] here", 20, 2)
    ['a key is', '  [bucket(host, 16)][host]', '  here']
    """
    text = escaped(text)
    if len(text) <= width:
        return [text]
    whole = _WHOLE.sub(lambda found: found[0].replace(" ", _HARD_SPACE), text)
    lines = wrap(
        whole,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    return [line.replace(_HARD_SPACE, " ") for line in lines]


def reasons(found: Simulation) -> Iterator[tuple[str, str]]:
    """The causes of a verdict as they go on after it, each with the word that joins it.

    Returns:
        `because`, or `though` where it is even all the same; and the cause with its code.
    """
    joint = "though" if found.verdict.word == "even" else "because"
    for cause in found.causes:
        yield joint, f"{within(cause.message, found.design.fields)} [{cause.code}]"


def within(message: str, names: Iterable[str]) -> str:
    """A sentence as it stands within another; what begins with a name keeps its first letter.

    Args:
        message: the sentence.
        names: the names of fields.

    >>> within("Keys rise.", ["ts"]), within("Host a is hot.", ["Host"]), within("NaN.", [])
    ('keys rise.', 'Host a is hot.', 'NaN.')
    """
    first = message.split(" ", maxsplit=1)[0]
    is_word = first[:1].isupper() and first[1:].islower() and first not in set(names)
    return message[0].lower() + message[1:] if is_word else message


def _figures(found: Simulation, width: int) -> Iterator[str]:
    source = found.source
    name = source.name or "events made from the design file"
    yield f"{counted(found.operations, 'operation')} of {counted(source.total, 'event')}: {name}"
    if source.left_out.count:
        yield f"  {counted(source.left_out.count, 'row')} left out; {source.left_out.first}"
    yield from (f"  assumed: {said}" for said in source.assumed)
    yield from (f"  {remark}" for remark in found.remarks)
    yield ""
    yield from _skew_table(found.skews, width)
    total, median, worst = (
        f"{100 * value:.0f} %"
        for value in (
            found.region_shares.total,
            found.region_shares.median,
            found.region_shares.worst,
        )
    )
    fair = 100 / len(found.regions)
    yield (
        f"busiest of {counted(len(found.regions), 'region')}: {total} of all, {median} of a "
        f"typical and {worst} of the worst of {found.windows} equal windows; a fair share is "
        f"{fair:.0f} %"
    )
    yield from _more(found, width)


def _skew_table(skews: Sequence[Skew], width: int) -> list[str]:
    """The skew at each width of window, in lines that fit; a day is shown if there is room.

    Reasons why there is no figure are not cut here: they are wrapped like any other line.
    """
    tables = (_skew_lines(skews, since) for since in SHORTENED)
    for lines in tables:
        if all(
            len(line) <= width or one.reason for one, line in zip(skews, lines[1:], strict=True)
        ):
            return lines
    return lines


def _skew_lines(skews: Sequence[Skew], since: int) -> list[str]:
    """The same, with times from one of their characters on."""
    rows = [("servers (even)", "regions (even)", "other placements")]
    rows += [_skew_cells(skew) for skew in skews if skew.servers is not None]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def joined(first: str, cells: Sequence[str], last: str) -> str:
        placed = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        return "  ".join((first, *placed, last)).rstrip()

    lines = [joined(" skew", rows[0], "peak")]
    for skew in skews:
        first = f"{skew.width_s:>3} s"
        if skew.servers is None:
            lines.append(f"{first}{NO_FIGURE}{skew.reason}")
            continue
        peak = skew.peak
        at = "" if peak is None else f"{peak[1]:.2f}× at {instant(peak[0] // 1000)[since:]}"
        lines.append(joined(first, _skew_cells(skew), at))
    return lines


def _skew_cells(skew: Skew) -> tuple[str, str, str]:
    return (
        f"{skew.servers:.2f} {f'({skew.even_servers:.2f})':>6}",
        f"{skew.regions:.2f} {f'({skew.even_regions:.2f})':>6}",
        f"{skew.other_low:.2f} {skew.other_median:.2f} {skew.other_high:.2f}",
    )


def _more(found: Simulation, width: int) -> Iterator[str]:
    if found.dead:
        yield f"{found.dead} of {counted(len(found.regions), 'region')} got no write"
    if found.overwritten:
        about = "" if found.overwritten_exact else "about "
        share = found.overwritten / found.operations
        yield (
            f"{about}{counted(found.overwritten, 'event')} ({share:.1%}) wrote a row that stood "
            f"already{_as_versions(found.design)}"
        )
    key, event = found.key_bytes, found.event_bytes
    yield f"a row key has {key:.1f} bytes, an event adds {event:.0f} to a store"
    if found.late:
        yield (
            f"{counted(found.late, 'operation')} came too late for their window and are in no skew"
        )
    if found.growth is not None:
        yield (
            f"full, the table has {counted(found.growth.regions, 'region')}, "
            f"{found.growth.fill:.0%} filled, "
            f"{found.growth.idle:.0%} of them idle"
        )
    if found.scaled is not None:
        yield f"at the declared {counted(round(found.scaled.rate), 'event')} a second:"
        yield from (f"  {line}" for line in _skew_table(found.scaled.skews, width - 2))
    yield from (_read_line(read) for read in found.reads)


def _as_versions(design: Design) -> str:
    """What becomes of rows written again where a field is the time of their cells."""
    placed = design.layout.stored.get("timestamp", ())
    if not placed:
        return ""
    kept = max(family.versions for family in design.families.values())
    verb = "is" if kept == 1 else "are"
    return f", as versions apart by {placed[0]}; {counted(kept, 'version')} of a cell {verb} kept"


def _read_line(read: ReadResult) -> str:
    if read.error:
        return f"read {read.name}: {read.error}"
    each = f"{read.amplification:.1f}" if read.amplification is not None else "–"
    ranges, regions = counted(read.fan_out[0], "range"), counted(read.regions[0], "region")
    text = (
        f"read {read.name}: {ranges} over {regions}, "
        f"{each} rows read for each of {read.returned:,.0f} returned"
    )
    if read.is_full_scan:
        text += "; nothing in the key narrows it"
    if read.residual:
        text += f"; filtered by {', '.join(read.residual)}"
    if not read.serves_order:
        text += "; not in the order asked for"
    return f"{text}; {read.assumed}" if read.assumed else text


def check_lines(
    path: str,
    design: Design,
    found: Properties,
    judged: Findings,
    packing: Packing | None = None,
) -> Iterator[str]:
    """A sound design file: what follows from it, then what the rules say of it."""
    yield escaped(f"{path}: {design.table}  {design.key}")
    yield from map(escaped, _property_lines(found, packing))
    for cause in judged.untold:
        yield escaped(f"  foreseen: {cause.message} [{cause.code}]")
        yield escaped(f"    {cause.remedy}")
    yield from finding_lines(path, judged)


def _property_lines(found: Properties, packing: Packing | None) -> Iterator[str]:
    yield from map(_part_line, found.parts)
    yield f"  a row key has {_size(found.key_least, found.key_most)}"
    yield from (f"  does not decode: {why}" for why in found.ambiguous)
    if found.decodes:
        yield f"  decodes: {', '.join(found.recovered) or 'no field is whole'}"
    if found.kept:
        yield f"  stored as columns too: {', '.join(found.kept)}"
    yield from (f"  {said}" for said in packing_lines(packing))
    yield from (f"  not unique: of {name}, {why}" for name, why in found.lossy.items())
    yield f"  rows come in the order: {', '.join(found.order) or 'of their bytes only'}"
    if found.chance:
        yield "  its key depends on chance: a get reads every salt, a second put is a second row"
    if found.regions is not None:
        yield f"  {counted(found.regions, 'region')}"
    for read in found.reads:
        yield f"  read {read.name}: {_read_words(read)}"


def _size(least: int, most: int | None) -> str:
    """A length in bytes, or from one to another.

    >>> _size(1, 1), _size(2, 40), _size(1, None)
    ('1 byte', '2 to 40 bytes', '1 byte or more')
    """
    if most is None:
        return f"{counted(least, 'byte')} or more"
    return counted(least, "byte") if least == most else f"{least:,} to {most:,} bytes"


def _part_line(part: PartProperties) -> str:
    lost = "".join(f"; loses {what} of {name}" for name, what in part.loses.items())
    return f"  [{part.notation}]  {_size(part.least, part.most)}, order {part.order}{lost}"


def _read_words(read: ReadProperties) -> str:
    if read.error:
        return read.error
    words = [counted(read.fan_out, "range")]
    if read.is_full_scan:
        words.append("nothing in the key narrows it")
    if read.residual:
        words.append(f"filtered by {', '.join(read.residual)}")
    if not read.serves_order:
        words.append("not in the order asked for")
    return ", ".join(words)


def vector_lines(document: dict[str, Any]) -> Iterator[str]:
    """The byte format in words, then each row with its key."""
    yield document["key"]
    for part in document["parts"]:
        yield f"  [{part['notation']}]  {part['words']}"
    for vector in document["vectors"]:
        values = ", ".join(f"{name} = {value}" for name, value in vector["row"].items())
        yield ""
        yield escaped(values)
        yield f"  {' '.join(vector['parts']) or vector['key']}"


def sizing_lines(sizing: Sizing) -> Iterator[str]:
    """How many regions and why, each source beside the others."""
    for opinion in sizing.opinions:
        least = "" if opinion.least is None else f"{opinion.least:,}"
        most = "" if opinion.most is None else f"{opinion.most:,}"
        count = least if least == most else f"{least}–{most}"
        yield f"  {count or 'says nothing':>14}  {opinion.source}: {opinion.reason}"
    yield from (f"  {reason}" for reason in sizing.reasons)
    yield from (f"  but: {warning}" for warning in sizing.warnings)
