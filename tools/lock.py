"""Resolve the dependencies and write requirements/*.lock.

The files name every package with its version and the hashes of its files, for all platforms and
all Pythons from the oldest supported one on, and never an index: each
machine has its own.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from venv import EnvBuilder

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "requirements"
OPTIONS = ("--universal", "--generate-hashes", "--no-emit-index-url", "--no-header", "--quiet")
LOCKS = {
    "run.lock": ("--group", "build"),
    "dev.lock": ("--group", "dev"),
    "bench.lock": ("--group", "dev", "--group", "bench"),
    "site.lock": ("--group", "site"),
}
"""What each file holds beside the package's own dependencies."""


def main() -> None:
    """Write all files with a resolver that is installed into a temporary environment."""
    with TemporaryDirectory() as place:
        resolver = _resolver(Path(place))
        for name, more in LOCKS.items():
            _write(resolver, FOLDER / name, more)
            sys.stdout.write(f"requirements/{name}: {_count(FOLDER / name)} packages\n")


def _resolver(place: Path) -> Path:
    """The program `uv` in an environment of its own."""
    EnvBuilder(with_pip=True).create(place)
    folder = place / ("Scripts" if sys.platform == "win32" else "bin")
    install = [str(folder / "python"), "-m", "pip", "install", "--quiet", "uv"]
    subprocess.run([*install, "--disable-pip-version-check"], check=True)
    return folder / "uv"


def _write(resolver: Path, file: Path, more: tuple[str, ...]) -> None:
    """Resolve from nothing, so that no earlier version is kept."""
    given = ["pyproject.toml", *more, "--python-version", _oldest_python()]
    found = subprocess.run(
        [str(resolver), "pip", "compile", *given, *OPTIONS],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    file.write_text(found.stdout, encoding="utf-8")


def _oldest_python() -> str:
    """The oldest Python the package runs on, as its own declaration says."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(declared["project"]["requires-python"]).removeprefix(">=")


def _count(file: Path) -> int:
    return sum("==" in line for line in file.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    main()
