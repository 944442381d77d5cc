"""Write the small recordings of `examples/sources`, always the same bytes of CSV.

Recordings have what a design file cannot declare: times in whole seconds as milliseconds, names
that are written again, numbers and digests as text.

`python tests/sources/recordings.py` writes the files again.
"""

from __future__ import annotations

import gzip
import hashlib
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

FOLDER = Path(__file__).parents[2] / "examples" / "sources"
START_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z."""
SECONDS = 60


def write_logs() -> Iterator[str]:
    """Yield 160 lines a second of 2,000 hosts, in whole seconds as milliseconds, all different."""
    chance = Random(1)
    hosts = [
        f"{role}-{n}.example" for role in ("web", "db", "cache", "gateway") for n in range(500)
    ]
    lines = [(host, event) for host in hosts for event in ("start", "stop", "warn", "fail")]
    yield "ts,host,event"
    for second in range(SECONDS):
        for host, event in chance.sample(lines, 160):
            yield f"{START_MS + 1_000 * second},{host},{event}"


def write_names() -> Iterator[str]:
    """Yield foo0001 to foo6000 in order, then 400 distant ones of them a second time."""
    chance = Random(2)
    again = sorted(chance.sample(range(1, 6_001), 400))
    yield "ts,name"
    for at, number in enumerate([*range(1, 6_001), *again]):
        yield f"{START_MS + 25 * at // 4},foo{number:04d}"


def write_follows() -> Iterator[str]:
    """Yield 160 different pairs a second for 40 s, a quarter each following uid1 and uid2.

    One in 25 fans has a name that begins with byte 7E or above, as in real names.
    """
    chance = Random(5)
    stars = [f"uid{n}" for n in range(3, 3_003)]
    seen: set[tuple[str, str]] = set()
    yield "since,star,fan,pair"
    while len(seen) < 40 * 160:
        star = chance.choice(["uid1", "uid2", chance.choice(stars), chance.choice(stars)])
        first = chance.choice("~\u00e9\u674e") if chance.random() < 0.04 else "uid"
        fan = f"{first}{chance.randrange(50_000)}"
        if (star, fan) not in seen:
            yield f"{START_MS + len(seen) * 25 // 4},{star},{fan},{star}~{fan}"
            seen.add((star, fan))


def write_scores() -> Iterator[str]:
    """Yield 160 scores a second for 40 s, of one to four digits, each of another player."""
    chance = Random(3)
    yield "ts,player,score"
    for player in range(40 * 160):
        score = chance.randrange(10 ** chance.randint(1, 4))
        yield f"{START_MS + player * 25 // 4},p{player},{score}"


def write_ids() -> Iterator[str]:
    """Yield numbers of nineteen digits and MD5 as hexadecimal digits, both as text."""
    chance = Random(4)
    yield "serial,trace,state"
    for state in range(300):
        serial = chance.randrange(10**18, 9 * 10**18)
        trace = hashlib.md5(str(serial).encode(), usedforsecurity=False).hexdigest()
        yield f"{serial},{trace},{state % 5}"


RECORDINGS: dict[str, Callable[[], Iterator[str]]] = {
    "logs/recorded": write_logs,
    "salted/names": write_names,
    "follows/recorded": write_follows,
    "leaderboard/scores": write_scores,
    "ids/recorded": write_ids,
}
"""What is written, by the file's name below the folder, without `.csv.gz`."""


def format_recording(name: str) -> str:
    """Return a recording as CSV."""
    return "".join(f"{line}\n" for line in RECORDINGS[name]())


def main() -> None:
    """Write every recording."""
    parser = ArgumentParser(description="Write the recordings of examples/sources.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder: Path = parser.parse_args().folder
    for name in RECORDINGS:
        path = folder / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(format_recording(name).encode(), mtime=0))


if __name__ == "__main__":
    main()
