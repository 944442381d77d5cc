"""Results as text for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rowkey.messages import escape_text, format_mean, format_number, pluralize
from rowkey.regions import MAX_FILE_SIZE
from rowkey.render.findings import format_findings
from rowkey.render.packing import format_packing
from rowkey.render.terminal_map import draw_heat_map, format_instant
from rowkey.render.verdict import GRADE_STYLES, format_verdict

if TYPE_CHECKING:
    from rich.console import Console

    from rowkey.advise import JudgedDesign
    from rowkey.design import Design, DesignProperties, PartProperties, ReadProperties
    from rowkey.hotspots import Skew
    from rowkey.lint import LintResult
    from rowkey.regions import Sizing
    from rowkey.simulate import MapLoad, ReadCost, ReadLoad, Simulation
    from rowkey.workload import PackingSavings

_UNBREAKABLE_PATTERN = re.compile(r'"[^"]*"|(?:\[[^\]"]*\])+')
_HARD_SPACE = "\0"
NO_FIGURE_MARK = "  –  "
"""Stands before the reason why a width of window has no figures."""
TIME_START_OFFSETS = (0, 5, 11)
"""Where a time is cut so that it fits: with its year, with its day, or alone."""


def print_simulation(judged: JudgedDesign, console: Console, map_load: MapLoad = "writes") -> None:
    """Print a judged design: verdict, causes, heat map, then all figures.

    Args:
        console: where the text goes.
        map_load: whose operations the heat map shows.
    """
    simulation = judged.simulation
    _print_wrapped(console, f"{simulation.design.table}  {simulation.design.key}", 2)
    print_verdict(judged, console)
    console.print()
    colour = console.is_terminal and not console.no_color
    for row in draw_heat_map(simulation, console.width, colour=colour, load=map_load):
        console.print(row, no_wrap=True, overflow="crop")
    console.print()
    for text in chain(_format_figures(simulation, console.width), format_packing(judged.packing)):
        _print_wrapped(
            console,
            text,
            text.find(NO_FIGURE_MARK) + len(NO_FIGURE_MARK)
            if NO_FIGURE_MARK in text
            else _compute_indent(text),
        )


def print_verdict(judged: JudgedDesign, console: Console, *, is_short: bool = False) -> None:
    """Print the verdict on a design, the worst first.

    Args:
        console: where the text goes.
        is_short: whether what is good is left out, unless all is.
    """
    for number, line in enumerate(format_verdict(judged.verdict, judged.simulation)):
        if is_short and number and line.style == GRADE_STYLES["good"]:
            return
        _print_wrapped(console, line.text, line.indent, line.style, line.styled_width)


def _print_wrapped(
    console: Console, text: str, indent: int, style: str = "", styled_width: int = 0
) -> None:
    """Print a text wrapped to the console's width, its first characters in a style."""
    from rich.text import Text

    for number, line in enumerate(wrap_text(text, console.width, indent)):
        styled_line = Text(line)
        if style and number == 0:
            start = len(line) - len(line.lstrip())
            styled_line.stylize(style, start, start + styled_width)
        console.print(styled_line, soft_wrap=True)


def _compute_indent(text: str) -> int:
    """Return the indent of the further lines of a wrapped line."""
    return len(text) - len(text.lstrip()) + 2


def wrap_text(text: str, width: int, indent: int) -> list[str]:
    """Return a text as lines of a maximum width; keys and quoted text stay unbroken.

    Args:
        text: what it says, with its own indent.
        width: characters of a line; only a word that is longer by itself exceeds it.
        indent: spaces before the further lines.

    >>> wrap_text("a key is [bucket(host, 16)][host] here", 20, 2)
    ['a key is', '  [bucket(host, 16)][host]', '  here']
    >>> wrap_text("  [bucket(host, 16)][host] here", 20, 4)
    ['  [bucket(host, 16)][host]', '    here']
    """
    text = escape_text(text)
    if len(text) <= width:
        return [text]
    whole = _UNBREAKABLE_PATTERN.sub(lambda found: found[0].replace(" ", _HARD_SPACE), text)
    own_indent = whole[: len(whole) - len(whole.lstrip(" "))]
    lines = wrap(
        whole.lstrip(" "),
        width,
        initial_indent=own_indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    return [line.replace(_HARD_SPACE, " ") for line in lines]


def _format_figures(simulation: Simulation, width: int) -> Iterator[str]:
    source = simulation.source
    name = source.name or "events made from the design file"
    yield (
        f"{pluralize(simulation.operation_count, 'operation')} of "
        f"{pluralize(source.total_count, 'event')}: {name}"
    )
    if source.skipped_rows.count:
        yield (
            f"  {pluralize(source.skipped_rows.count, 'row')} left out; "
            f"{source.skipped_rows.first_problem}"
        )
    yield from (f"  assumed: {said}" for said in source.assumptions)
    yield from (f"  {remark}" for remark in simulation.remarks)
    yield ""
    yield from _format_skew_table(simulation.skews, width)
    total, mean, worst = (
        f"{100 * value:.0f} %"
        for value in (
            simulation.region_shares.total,
            simulation.region_shares.mean,
            simulation.region_shares.worst,
        )
    )
    fair = 100 / len(simulation.regions)
    yield (
        f"busiest of {pluralize(len(simulation.regions), 'region')}: {total} of all, {mean} of a "
        f"window on average and {worst} at most, in {pluralize(simulation.window_count, 'window')} "
        f"of equal numbers of events; a fair share is {fair:.0f} %"
    )
    yield from _format_other_figures(simulation, width)


def _format_skew_table(skews: Sequence[Skew], width: int) -> list[str]:
    """Return the table of skews by window width, with times shortened to fit.

    Reasons why there is no figure are not cut here: they are wrapped like any other line. Without
    any figure there is no table, and the reason for the widest windows holds for all.
    """
    reasons = {skew.reason.replace(f" {skew.width_s} s ", " ") for skew in skews}
    if len(reasons) == 1 and all(skew.server_skew is None for skew in skews):
        return [format_missing_skews(skews)]
    tables = (_format_skew_lines(skews, since) for since in TIME_START_OFFSETS)
    for lines in tables:
        if all(
            len(line) <= width or one.reason for one, line in zip(skews, lines[1:], strict=True)
        ):
            return lines
    return lines


def format_missing_skews(skews: Sequence[Skew]) -> str:
    """Return why there is no skew for some widths of windows: the reason for the widest."""
    widths = ", ".join(f"{skew.width_s} s" for skew in skews)
    return f"no skew is known for windows of {widths}: {skews[-1].reason}"


def _format_skew_lines(skews: Sequence[Skew], time_offset: int) -> list[str]:
    """Return the table of skews by window width, with times cut at an offset."""
    rows = [("servers (even)", "regions (even)", "other placements")]
    rows += [_format_skew_cells(skew) for skew in skews if skew.server_skew is not None]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def join_cells(first: str, cells: Sequence[str], last: str) -> str:
        placed = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        return "  ".join((first, *placed, last)).rstrip()

    lines = [join_cells(" skew", rows[0], "peak")]
    for skew in skews:
        first = f"{skew.width_s:>3} s"
        if skew.server_skew is None:
            lines.append(f"{first}{NO_FIGURE_MARK}{skew.reason}")
            continue
        peak = skew.peak
        at = (
            ""
            if peak is None
            else f"{peak[1]:.2f}× at {format_instant(peak[0] // 1000)[time_offset:]}"
        )
        lines.append(join_cells(first, _format_skew_cells(skew), at))
    return lines


def _format_skew_cells(skew: Skew) -> tuple[str, str, str]:
    return (
        f"{skew.server_skew:.2f} {f'({skew.even_server_skew:.2f})':>6}",
        f"{skew.region_skew:.2f} {f'({skew.even_region_skew:.2f})':>6}",
        f"{skew.balanced_low:.2f} {skew.balanced_median:.2f} {skew.balanced_high:.2f}",
    )


def _format_other_figures(simulation: Simulation, width: int) -> Iterator[str]:
    """Yield lines about regions, overwrites, bytes, growth and reads."""
    if simulation.empty_region_count:
        yield (
            f"{simulation.empty_region_count} of {pluralize(len(simulation.regions), 'region')} "
            "got no write"
        )
    if simulation.overwrite_count:
        about = "" if simulation.is_overwrite_exact else "about "
        share = simulation.overwrite_count / simulation.operation_count
        yield (
            f"{about}{pluralize(simulation.overwrite_count, 'event')} ({share:.1%}) overwrote an "
            f"existing row{_format_versions(simulation.design)}"
        )
    key, event = simulation.key_bytes, simulation.event_bytes
    yield (
        f"a row key has {key:.1f} bytes, an event adds {event:.0f} bytes to a store before "
        "compression"
    )
    if simulation.late_count:
        yield (
            f"{pluralize(simulation.late_count, 'operation')} came too late for their window and "
            "are left out of the skew"
        )
    if simulation.growth is not None:
        growth = simulation.growth
        fill = f"{growth.mean_fill:.0%} filled"
        if growth.mean_fill > 1:
            mean_gib = format_number(growth.mean_fill * MAX_FILE_SIZE / 2**30)
            fill = (
                f"of {mean_gib} GiB on average, because the events have too few different row keys "
                "to split them at 10 GiB"
            )
        yield (
            f"once full, the table has {pluralize(growth.region_count, 'region')}, {fill}, "
            f"{growth.idle_share:.0%} of them idle"
        )
    if simulation.scaled_run is not None:
        rate = format_number(simulation.scaled_run.rate)
        yield f"at the declared {rate} event{'s' * (rate != '1')} a second:"
        yield from (
            f"  {line}" for line in _format_skew_table(simulation.scaled_run.skews, width - 2)
        )
    noun = "event" if simulation.design.layout.has_shared_rows else "row"
    yield from (_format_read(read, noun) for read in simulation.reads)
    if simulation.total_read_load is not None:
        yield _format_read_load(simulation.total_read_load)


def _format_versions(design: Design) -> str:
    """Return which versions of overwritten rows are kept, if a field is the cell timestamp."""
    placed = design.layout.placed_fields.get("timestamp", ())
    if not placed:
        return ""
    kept = max(family.versions for family in design.families.values())
    verb = "is" if kept == 1 else "are"
    return f", as versions apart by {placed[0]}; {pluralize(kept, 'version')} of a cell {verb} kept"


def _format_read(read: ReadCost, noun: str) -> str:
    """Return the line about the simulated cost of one read: means with their margins.

    Args:
        noun: what it reads: rows, or events that share rows.
    """
    if read.error:
        return f"read {read.name}: {read.error}"
    margins = read.margins
    text = (
        f"read {read.name}, mean: {_format_mean(read.fan_out[0], margins.fan_out, 'range')} "
        f"(at most {read.fan_out[1]:,}), "
        f"{_format_mean(read.regions[0], margins.regions, 'region')} (at most "
        f"{read.regions[1]:,}), {_format_mean(read.read_rows, margins.read_rows, noun)} read for "
        f"{_format_mean(read.returned_rows, margins.returned_rows, noun)} returned"
    )
    if read.is_full_scan:
        text += "; nothing in the key narrows it"
    if read.residual_fields:
        text += f"; filtered by {', '.join(read.residual_fields)}"
    if not read.serves_order:
        text += "; not in the order asked for"
    return f"{text}; {read.assumption}" if read.assumption else text


def _format_read_load(load: ReadLoad) -> str:
    """Return the line about where all reads together fall."""
    rates = "their rates" if load.is_rate_declared else "their rates, 1/s where none is declared"
    region, region_margin = load.regions.busiest_share
    server, server_margin = load.servers.busiest_share
    return (
        f"all reads at {rates}: {pluralize(round(load.regions.total, 1), 'operation')} a second; "
        f"{_format_percent(region, region_margin)} of them on region {load.regions.busiest_place}, "
        f"{_format_percent(server, server_margin)} on server s{load.servers.busiest_place}, "
        f"{load.servers.skew:.2f}× its fair share (even reads: {load.servers.even_skew:.2f}×)"
    )


def _format_percent(share: float, margin: float) -> str:
    """Return a share in percent with its margin.

    >>> _format_percent(0.157, 0.0123), _format_percent(1.0, 0.0), _format_percent(0.97, 0.24)
    ('15.7 % ± 1.2 %', '100 %', 'at least 73 %')
    >>> _format_percent(0.1, 0.2), _format_percent(0.53, 0.6)  # as of two values that are asked for
    ('10 % (at most 30 %)', '53 % (of too few values to bound it)')
    """
    digits = 1 if 0 < margin < 0.1 else 0
    text = f"{share:.{digits}%} ± {margin:.{digits}%}" if margin else f"{share:.0%}"
    if margin and share + margin >= 1:
        text = f"at least {share - margin:.{digits}%}"
        if share <= margin:
            text = f"{share:.0%} (of too few values to bound it)"
    elif share < margin:
        text = f"{share:.{digits}%} (at most {share + margin:.{digits}%})"
    return text.replace("%", " %")


def _format_mean(mean: float, margin: float, noun: str) -> str:
    """Return a mean with its margin, both to the digit that the margin leaves certain.

    >>> _format_mean(8, 0, "range"), _format_mean(6.8112, 0.4, "region")
    ('8 ranges', '6.8 ± 0.4 regions')
    >>> _format_mean(8_495.53, 61.2, "row")
    '8,496 ± 61 rows'
    >>> _format_mean(12, 20, "row")  # nothing is less than none
    '12 (at most 32) rows'
    """
    if not margin:
        return pluralize(round(mean, 1), noun)
    if margin >= mean:
        return f"{format_mean(mean)} (at most {format_mean(mean + margin)}) {noun}s"
    digits = 0 if margin >= 1 else 1 if margin >= 0.1 else 2
    return f"{mean:,.{digits}f} ± {margin:,.{digits}f} {noun}s"


def format_check(
    path: str,
    design: Design,
    properties: DesignProperties,
    lint_result: LintResult,
    packing: PackingSavings | None = None,
) -> Iterator[str]:
    """Yield a valid design as lines: its properties, then the findings of the rules."""
    yield escape_text(f"{path}: {design.table}  {design.key}")
    yield from map(escape_text, _format_properties(properties, packing))
    for cause in lint_result.unreported_causes:
        yield escape_text(f"  foreseen: {cause.message} [{cause.code}]")
        yield escape_text(f"    {cause.remedy}")
    yield from format_findings(path, lint_result)


_SEVERITY_STYLES = {"error": "bold red", "warning": "bold yellow", "remark": "bold cyan"}
_SEVERITY_HEADING = re.compile(r"[\d,]+ (error|warning|remark)s?")


def print_check(path: str, judged: JudgedDesign, console: Console) -> None:
    """Print the result for one valid design file on a terminal: wrapped, the severities coloured.

    Args:
        path: the design file, as it was given.
        console: where the text goes.
    """
    from rich.text import Text

    lines = format_check(path, judged.design, judged.properties, judged.lint_result, judged.packing)
    for line in lines:
        heading = _SEVERITY_HEADING.fullmatch(line)
        style = _SEVERITY_STYLES[heading[1]] if heading else ""
        for part in wrap_text(line, console.width, _compute_indent(line)):
            console.print(Text(part, style), soft_wrap=True)


def _format_properties(
    properties: DesignProperties, packing: PackingSavings | None
) -> Iterator[str]:
    """Yield the lines about a key's properties: parts, order, losses and reads."""
    yield from map(_format_part, properties.parts)
    yield f"  a row key has {_format_size(properties.min_key_bytes, properties.max_key_bytes)}"
    yield from (f"  cannot be decoded: {why}" for why in properties.ambiguities)
    if properties.can_decode:
        yield f"  decodes to: {', '.join(properties.recovered_fields) or 'no complete field'}"
    if properties.stored_fields:
        yield f"  also stored as columns: {', '.join(properties.stored_fields)}"
    yield from (f"  {said}" for said in format_packing(packing))
    yield from (f"  not unique in {name}: {why}" for name, why in properties.losses.items())
    yield f"  rows come in the order: {', '.join(properties.row_order) or 'of their bytes only'}"
    if properties.is_salted:
        yield (
            "  the key has a random salt: a get tries every salt; a second put of a row may store "
            "a second copy under another salt, which reads merge and other clients see as two rows"
        )
    if properties.region_count is not None:
        yield f"  {pluralize(properties.region_count, 'region')}"
    for read in properties.reads:
        yield f"  read {read.name}, for example values: {_format_read_properties(read)}"


def _format_size(min_bytes: int, max_bytes: int | None) -> str:
    """Return a length in bytes, or the range of lengths, as text.

    >>> _format_size(1, 1), _format_size(2, 40), _format_size(1, None)
    ('1 byte', '2 to 40 bytes', '1 byte or more')
    """
    if max_bytes is None:
        return f"{pluralize(min_bytes, 'byte')} or more"
    return (
        pluralize(min_bytes, "byte")
        if min_bytes == max_bytes
        else f"{min_bytes:,} to {max_bytes:,} bytes"
    )


def _format_part(part: PartProperties) -> str:
    losses = "".join(f"; loses {what} of {name}" for name, what in part.losses.items())
    return (
        f"  [{part.notation}]  {_format_size(part.min_bytes, part.max_bytes)}, order "
        f"{part.order}{losses}"
    )


def _format_read_properties(read: ReadProperties) -> str:
    """Return how a declared read runs: its ranges, filters and order."""
    if read.error:
        return read.error
    words = [pluralize(read.fan_out, "range")]
    if read.is_full_scan:
        words.append("nothing in the key narrows it")
    if read.residual_fields:
        words.append(f"filtered by {', '.join(read.residual_fields)}")
    if not read.serves_order:
        words.append("not in the order asked for")
    return ", ".join(words)


def format_vectors(document: dict[str, Any]) -> Iterator[str]:
    """Yield the byte format of a key, then example rows with their keys."""
    yield document["key"]
    for part in document["parts"]:
        yield f"  [{part['notation']}]  {part['description']}"
    for vector in document["vectors"]:
        values = ", ".join(f"{name} = {value}" for name, value in vector["row"].items())
        yield ""
        yield escape_text(values)
        yield f"  {' '.join(vector['parts']) or vector['key']}"


def format_sizing(sizing: Sizing, region_count: int) -> Iterator[str]:
    """Yield the recommended number of regions and why, then each source's opinion.

    Args:
        region_count: how many regions the design has.
    """
    regions = pluralize(sizing.regions, "region")
    if region_count == sizing.regions:
        yield f"Recommended: {regions}, as the design has."
    else:
        has = pluralize(region_count, "region")
        yield f"Recommended: {regions}; the design has {has}."
    yield from (f"  {reason}" for reason in sizing.reasons)
    yield from (f"  but: {warning}" for warning in sizing.warnings)
    yield "What each source says:"
    for opinion in sizing.opinions:
        least = "" if opinion.min_regions is None else f"{opinion.min_regions:,}"
        most = "" if opinion.max_regions is None else f"{opinion.max_regions:,}"
        count = least if least == most else f"{least}–{most}"
        yield f"  {count or 'no number':>14}  {opinion.source}: {opinion.reason}"
