"""The parts of a report that are read: reads, families, and the skew by window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.page.figures import count, share, times
from rowkey.render.page.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.render.page.words import Words


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], label: str) -> Html:
    """A table that scrolls by itself where it is too broad; the first cell of a row names it."""
    head = tag("thead", tag("tr", [tag("th", one, scope="col") for one in heads]))
    body = [
        tag("tr", tag("th", row[0], scope="row"), [tag("td", cell) for cell in row[1:]])
        for row in rows
    ]
    inner = tag("table", head, tag("tbody", body))
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=label)


def reads_block(one: Mapping[str, Any], words: Words) -> Html:
    """What each read of a design opens, and how it runs."""
    if not one["reads"]:
        return tag("p", words("reads.none"), class_="none")
    return tag("div", [_read(read, words) for read in one["reads"]], class_="reads")


def _read(read: Mapping[str, Any], words: Words) -> Html:
    cost = read["cost"] or {}
    figures = [
        ("opens", _opens(read, words)),
        ("regions", count(cost.get("regions"))),
        ("per_row", count(cost.get("amplification"))),
        ("returned", count(cost.get("returned"))),
        ("order", words(f"reads.{read['served']}")),
    ]
    is_whole = read["runs"] == "full scan"
    return tag(
        "article",
        tag("h4", read["name"]),
        tag("p", tag("code", _asked(read, words)), class_="notation"),
        tag(
            "dl",
            [tag("div", tag("dt", words(f"reads.{n}")), tag("dd", said)) for n, said in figures],
        ),
        _plan(read, words),
        class_="read whole" if is_whole else "read",
    )


def _asked(read: Mapping[str, Any], words: Words) -> str:
    """The read as it was declared."""
    said = [" and ".join(read["where"]) or words("reads.all_rows")]
    if read["order"]:
        said.append(words("reads.ordered", order=", ".join(read["order"])))
    if read["limit"] is not None:
        said.append(words("reads.limit", limit=f"{read['limit']:,}"))
    return ", ".join(said)


def _opens(read: Mapping[str, Any], words: Words) -> str:
    if read["runs"] == "full scan":
        return words("reads.whole_table")
    if read["runs"] == "nothing":
        return words("reads.nothing")
    number = read["cost"]["fan_out"] if read["cost"] else read["fan_out"]
    if number == 1:
        return words("reads.range")
    return words("reads.keys" if read["runs"] == "get" else "reads.ranges", count=count(number))


def _plan(read: Mapping[str, Any], words: Words) -> Html | None:
    said: list[str] = []
    if read["pinned"]:
        said.append(words("reads.pinned", parts=", ".join(read["pinned"])))
    if read["narrowed"]:
        said.append(words("reads.narrowed", part=read["narrowed"]))
    if read["residual"]:
        said.append(words("reads.residual", fields=", ".join(read["residual"])))
    said += [tag("code", words.phrase(one)) for one in read["ranges"]]
    if read["ranges"] and read["more"]:
        said.append(words("reads.more", count=f"{read['more']:,}"))
    if read["proposal"]:
        said.append(words("reads.proposal", key=read["proposal"]))
    if not said:
        return None
    inner = tag("ul", [tag("li", one) for one in said])
    return tag("details", tag("summary", words("reads.plan")), inner)


def storage_block(one: Mapping[str, Any], words: Words) -> Html:
    """The families of a design, and the cells of an event."""
    heads = ("family", "versions", "ttl", "compression", "bloom", "block", "more")
    rows = [
        (
            f["name"], f["versions"], _ttl(f["ttl_s"], words), f["compression"], f["bloom"],
            _block(f["block_size"]), ", ".join(f"{w} = {v}" for w, v in f["more"].items()),
        )
        for f in one["families"]
    ]  # fmt: skip
    told = len(heads) if any(f["more"] for f in one["families"]) else len(heads) - 1
    families = table(
        [words(f"storage.{head}") for head in heads[:told]],
        [row[:told] for row in rows],
        words("storage.family"),
    )
    cells = table(
        [words(f"storage.{head}") for head in ("cell", "fields", "value", "written")],
        [
            (
                f"{c['family']}:{c['qualifier'] or words('storage.marker')}",
                ", ".join(c["fields"]),
                count(c["value_bytes"]),
                share(c["share"]),
            )
            for c in one["cells"]
        ],
        words("storage.cell"),
    )
    size = {name: count(value) for name, value in one["bytes"].items()}
    return tag("div", tag("p", words("storage.per_event", **size)), families, cells)


def _ttl(seconds: int | None, words: Words) -> str:
    if seconds is None:
        return words("storage.forever")
    whole = (("d", 86_400), ("h", 3_600), ("min", 60))
    for unit, length in whole:
        if seconds % length == 0:
            return f"{seconds // length:,} {unit}"
    return f"{seconds:,} s"


def _block(size: int) -> str:
    return f"{size // 1024:,} KiB" if size % 1024 == 0 else f"{size:,} B"


def figures_block(one: Mapping[str, Any], words: Words) -> Html:
    """The skew at each width of window, and the shares of the busiest region."""
    heads = [words(f"figures.{name}") for name in ("width", "skew", "even", "regions", "others")]
    rows = [_skew(skew) for skew in one["skews"] if skew["servers"] is not None]
    thin = [f"{skew['width_s']} s" for skew in one["skews"] if skew["servers"] is None]
    shares = one["shares"]
    said = words(
        "figures.shares",
        regions=f"{one['regions']:,}",
        total=share(shares["total"]),
        median=share(shares["median"]),
        worst=share(shares["worst"]),
        windows=shares["windows"],
        fair=share(1 / one["regions"]),
    )
    return tag(
        "div",
        table(heads, rows, words("section.figures")) if rows else None,
        tag("p", words("figures.thin", widths=", ".join(thin)), class_="small") if thin else None,
        tag("p", said, class_="small"),
    )


def _skew(skew: Mapping[str, Any]) -> tuple[object, ...]:
    width = f"{skew['width_s']} s"
    low, high = times(skew["low"]), times(skew["high"])
    return (
        width,
        f"{times(skew['servers'])}×",
        f"{times(skew['even'])}×",
        f"{times(skew['regions'])}×",
        f"{low}–{high}×",
    )
