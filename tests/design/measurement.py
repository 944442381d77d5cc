"""Runs `rowkey COMMAND FILE` for many files in forked processes and measures each run.

This is a program of its own, so that rowkey is measured without the test runner. It imports rowkey
once and forks. A child is limited to ten seconds and to a gigabyte, or to the values of the
environment variables MEASURED_SECONDS and MEASURED_BYTES.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import IO, Any

DEADLINE_S = int(os.environ.get("MEASURED_SECONDS", "10"))
ENOUGH_YARDS = 15
ADDRESS_SPACE = int(os.environ.get("MEASURED_BYTES", str(1 << 30)))


@cache
def measure_yard_s() -> float:
    """Return the processor seconds that tomllib takes for 256 kB of short lines, one yard.

    Results are given in yards, since a second is a different amount of work on each machine.
    """
    text = "".join(f"word_{number} = {number}\n" for number in range(14_950))
    took = []
    for _ in range(3):
        start = process_time()
        tomllib.loads(text)
        took.append(process_time() - start)
    return min(took)


def _run_child(verb: str, path: str, out: IO[bytes], err: IO[bytes]) -> None:
    """Run the command in the forked child and exit with its code."""
    from rowkey.cli import main

    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    signal.alarm(DEADLINE_S)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    sys.argv = ["rowkey", *verb.split(), path]
    try:
        main()
    except SystemExit as left:
        sys.stdout.flush()
        os._exit(left.code if isinstance(left.code, int) else 70)
    except BaseException:  # noqa: BLE001 - shown as what it is
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    os._exit(70)


def measure_run(verb: str, path: str) -> dict[str, Any]:
    """Return the output, processor time, memory and exit code of one run of the command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            _run_child(verb, path, out, err)
        _, status, used = os.wait4(pid, 0)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return {
        "code": os.waitstatus_to_exitcode(status),
        "yards": (used.ru_utime + used.ru_stime) / measure_yard_s(),
        "megabytes": used.ru_maxrss / 1024,
        "out": texts[0],
        "err": texts[1],
    }


def measure_best(tries: int, verb: str, path: str) -> dict[str, Any]:
    """Return the fastest of a few runs, since other processes only slow a run down.

    A run that is well within what is allowed is not repeated.
    """
    runs = [measure_run(verb, path)]
    while runs[-1]["yards"] > ENOUGH_YARDS and len(runs) < tries:
        runs.append(measure_run(verb, path))
    return min(runs, key=lambda run: float(run["yards"]))


def main() -> None:
    """Measure commands with every file of a folder each, and print the measurements as JSON."""
    for package in ("design", "hotspots", "keys", "lint", "regions", "render", "rows", "simulate"):
        module = import_module(f"rowkey.{package}")
        for value in [getattr(module, name) for name in module.__all__]:
            if isinstance(value, Mapping):
                dict(value)  # a registry loads its plugins
    import_module("rowkey.cli.group")
    import_module("rowkey").Design("t", "[n]", fields={"n": "u8"})  # makes pydantic's validators
    tries, *pairs = sys.argv[1:]
    found = {
        f"{verb} {path.name}": measure_best(int(tries), verb, str(path))
        for verb, folder in zip(pairs[::2], pairs[1::2], strict=True)
        for path in sorted(Path(folder).iterdir())
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
