from io import StringIO

import pytest
from rich.console import Console

from rowkey import Design, Simulation
from rowkey.render import print_simulation, reasons
from rowkey.simulate import run

EVENTS = {"rate": "500/s", "for": "20s"}
FIELDS = {"host": {"type": "text", "distinct": 500}, "ts": "timestamp_s"}


def simulated(key: str, splits: object) -> Simulation:
    """A simulation of a key over events made from its declaration."""
    design = Design("logs", key, fields=FIELDS, splits=splits, writes=EVENTS)
    return run(design, seed=1)


EVEN = simulated("[bucket(host, ts, 16)][host][ts]", "per_bucket")
HOT = simulated("[ts][host]", {"algorithm": "uniform", "regions": 16})
NEARLY = simulated("[bucket(host, ts, 33)][host][ts]", "per_bucket")


def shown(found: Simulation, width: int) -> list[str]:
    """What is printed on a page of so many characters."""
    page = StringIO()
    print_simulation(found, Console(file=page, width=width))
    return page.getvalue().splitlines()


def map_of(found: Simulation, width: int) -> list[str]:
    """The lines of the heat map: from the legend to the times below it."""
    lines = shown(found, width)
    start = next(n for n, line in enumerate(lines) if line.startswith("a column is "))
    return lines[start : lines.index("", start)]


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("found", [EVEN, HOT], ids=["even", "hot"])
def test_the_map_fits_whole(found: Simulation, width: int) -> None:
    """On pages from 80 characters on nothing of it is cut: legend, shares and both times."""
    lines = map_of(found, width)
    assert 2 + len(found.regions) + 1 == len(lines)
    assert [] == [line for line in lines if len(line) > width]
    assert lines[1].endswith("# >12")
    assert all(line.endswith("%") for line in lines[2:-1])
    assert ["2024-01-01", "00:00:00", "2024-01-01", "00:00:20"] == lines[-1].split()


def test_the_map_shows_where_writes_are() -> None:
    """A region without writes has a blank line, one that has them all a full one."""
    rows = [line.rsplit(maxsplit=1)[1] for line in map_of(HOT, 100)[2:-1]]
    assert [region.writes / HOT.operations for region in HOT.regions] == [
        float(share.rstrip("%")) / 100 for share in rows
    ]


def test_the_verdict_comes_first() -> None:
    """The design, then its verdict, then why: because of a cause, or though there is one."""
    lines = shown(HOT, 100)
    assert "logs  [ts][host]" == lines[0]
    assert lines[1].startswith("HOT: the fullest of 8 servers takes 8.00× its fair share")
    assert lines[2].startswith("  because ")
    assert {"because"} == {joint for joint, _ in reasons(HOT)}


def test_what_is_even_has_no_reason_to_be_hot() -> None:
    """A cause that does not make it warm stands against the verdict, not for it."""
    assert [] == list(reasons(EVEN))
    assert "even" == NEARLY.verdict.word
    ((joint, reason),) = reasons(NEARLY)
    assert ("though", True) == (joint, reason.endswith("[integer_imbalance]"))


def test_the_regions_have_names() -> None:
    """A line of the map has the region's number, its server, and the key it begins with."""
    third = EVEN.regions[3]
    assert (b"\3", 3) == (third.start, third.server)
    assert map_of(EVEN, 100)[5].startswith("   3 s3  bucket 3 ")
