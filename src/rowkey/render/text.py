"""Results as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.terminal_map import heat_map, instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from rowkey.design import Design, PartProperties, Properties, ReadProperties
    from rowkey.heat import Finding, Skew
    from rowkey.regions import Sizing
    from rowkey.simulate import ReadResult, Simulation

STYLES = {"even": "bold green", "warm": "bold yellow", "hot": "bold red"}


def print_simulation(found: Simulation, console: Console) -> None:
    """Print a simulation: the verdict first, then why, then the figures."""
    from rich.text import Text

    verdict = found.verdict
    head = Text(f"{found.design.table}  {found.design.key}\n")
    head.append(verdict.word.upper(), STYLES[verdict.word])
    head.append(
        f": the fullest of {found.design.cluster.servers} servers takes {verdict.skew:.2f}× its "
        f"fair share in {verdict.basis} (an even design: {verdict.even:.2f}×)"
    )
    console.print(head, soft_wrap=True)
    for (joint, reason), cause in zip(reasons(found), found.causes, strict=True):
        console.print(Text.assemble((f"  {joint} ", "bold"), reason), soft_wrap=True)
        console.print(Text(f"    {cause.remedy}"), soft_wrap=True)
    console.print()
    for line in heat_map(found, console.width, colour=console.is_terminal and not console.no_color):
        console.print(line, no_wrap=True, overflow="crop")
    console.print()
    for text in _figures(found):
        console.print(text, highlight=False, markup=False, soft_wrap=True)


def reasons(found: Simulation) -> Iterator[tuple[str, str]]:
    """The causes of a verdict as they go on after it, each with the word that joins it.

    Returns:
        `because`, or `though` where it is even all the same; and the cause with its code.
    """
    joint = "though" if found.verdict.word == "even" else "because"
    for cause in found.causes:
        yield joint, f"{_within(cause.message, found.design.fields)} [{cause.code}]"


def _within(message: str, names: Iterable[str]) -> str:
    """A sentence as it stands within another; what begins with a name keeps its first letter.

    >>> _within("Keys rise.", ["ts"]), _within("Host a is hot.", ["Host"]), _within("NaN.", [])
    ('keys rise.', 'Host a is hot.', 'NaN.')
    """
    first = message.split(" ", maxsplit=1)[0]
    is_word = first[:1].isupper() and first[1:].islower() and first not in set(names)
    return message[0].lower() + message[1:] if is_word else message


def _figures(found: Simulation) -> Iterator[str]:
    source = found.source
    name = source.name or "events made from the design file"
    yield f"{found.operations:,} operations of {source.total:,} events: {name}"
    if source.left_out.count:
        first = source.left_out.first
        yield f"  {source.left_out.count:,} values left out with their rows; {first}"
    yield from (f"  assumed: {said}" for said in source.assumed)
    yield from (f"  {remark}" for remark in found.remarks)
    yield ""
    yield "skew      servers  (even)  regions  (even)  other placements   peak"
    yield from map(_skew_line, found.skews)
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
        f"busiest of {len(found.regions)} regions: {total} of all, {median} of a typical and "
        f"{worst} of the worst of {found.windows} equal windows; a fair share is {fair:.0f} %"
    )
    yield from _more(found)


def _skew_line(skew: Skew) -> str:
    width = f"{skew.width_s:>4} s"
    if skew.servers is None:
        return f"{width}         –  {skew.reason}"
    peak = f"{skew.peak[1]:.2f}× at {instant(skew.peak[0] // 1000)}" if skew.peak else ""
    return (
        f"{width}    {skew.servers:7.2f}  {skew.even_servers:6.2f}  {skew.regions:7.2f}  "
        f"{skew.even_regions:6.2f}  {skew.other_low:.2f} {skew.other_median:.2f} "
        f"{skew.other_high:.2f}     {peak}"
    )


def _more(found: Simulation) -> Iterator[str]:
    if found.dead:
        yield f"{found.dead} of {len(found.regions)} regions got no write"
    if found.overwritten:
        about = "" if found.overwritten_exact else "about "
        share = found.overwritten / found.operations
        yield f"{about}{found.overwritten:,} events ({share:.1%}) wrote a row that stood already"
    key, event = found.key_bytes, found.event_bytes
    yield f"a row key has {key:.1f} bytes, an event adds {event:.0f} to a store"
    if found.late:
        yield f"{found.late:,} operations came too late for their window and are in no skew"
    if found.growth is not None:
        yield (
            f"full, the table has {found.growth.regions} regions, {found.growth.fill:.0%} filled, "
            f"{found.growth.idle:.0%} of them idle"
        )
    if found.scaled is not None:
        yield f"at the declared {found.scaled.rate:,.0f} events a second:"
        yield from (f"  {_skew_line(skew)}" for skew in found.scaled.skews)
    yield from (_read_line(read) for read in found.reads)


def _read_line(read: ReadResult) -> str:
    if read.error:
        return f"read {read.name}: {read.error}"
    each = f"{read.amplification:.1f}" if read.amplification is not None else "–"
    ranges, regions = _counted(read.fan_out[0], "range"), _counted(read.regions[0], "region")
    text = (
        f"read {read.name}: {ranges} in {regions}, "
        f"{each} rows read for each of {read.returned:,.0f} returned"
    )
    if read.is_full_scan:
        text += "; nothing in the key narrows it"
    if read.residual:
        text += f"; filtered by {', '.join(read.residual)}"
    if not read.serves_order:
        text += "; not in the order asked for"
    return f"{text}; {read.assumed}" if read.assumed else text


def _counted(mean: float, what: str) -> str:
    """A mean with its noun.

    >>> _counted(1.0, "range"), _counted(1.04, "range"), _counted(16.0, "range")
    ('1 range', '1.0 ranges', '16 ranges')
    """
    if mean == 1:
        return f"1 {what}"
    return f"{mean:,.0f} {what}s" if mean == int(mean) else f"{mean:,.1f} {what}s"


def check_lines(
    path: str, design: Design, found: Properties, foreseen: Iterable[Finding]
) -> Iterator[str]:
    """A sound design file: what follows from it."""
    yield f"{path}: {design.table}  {design.key}"
    yield from map(_part_line, found.parts)
    yield f"  a row key has {_size(found.key_least, found.key_most)}"
    yield from (f"  does not decode: {why}" for why in found.ambiguous)
    if found.decodes:
        yield f"  decodes: {', '.join(found.recovered) or 'no field is whole'}"
    if found.kept:
        yield f"  stored as columns too: {', '.join(found.kept)}"
    yield from (f"  not unique: of {name}, {why}" for name, why in found.lossy.items())
    yield f"  rows come in the order: {', '.join(found.order) or 'of their bytes only'}"
    if found.chance:
        yield "  its key depends on chance: a get reads every salt, a second put is a second row"
    if found.regions is not None:
        yield f"  {found.regions} regions"
    for read in found.reads:
        yield f"  read {read.name}: {_read_words(read)}"
    for cause in foreseen:
        yield f"  foreseen: {cause.message} [{cause.code}]"
        yield f"    {cause.remedy}"
    yield from (f"  {remark}" for remark in found.remarks)


def _size(least: int, most: int | None) -> str:
    """A length in bytes, or from one to another.

    >>> _size(1, 1), _size(2, 40), _size(1, None)
    ('1 byte', '2 to 40 bytes', '1 byte or more')
    """
    if most is None:
        return f"{_counted(least, 'byte')} or more"
    return _counted(least, "byte") if least == most else f"{least:,} to {most:,} bytes"


def _part_line(part: PartProperties) -> str:
    lost = "".join(f"; loses {what} of {name}" for name, what in part.loses.items())
    return f"  [{part.notation}]  {_size(part.least, part.most)}, order {part.order}{lost}"


def _read_words(read: ReadProperties) -> str:
    if read.error:
        return read.error
    words = [_counted(read.fan_out, "range")]
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
        yield values
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
