"""Resolve the dependencies and write requirements/*.lock.

Each file lists every package with its version and the hashes of its files, for all platforms and
supported Python versions, without the URL of a package index.
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
    "run.lock": ("--group", "build", "--extra", "portal"),
    "dev.lock": ("--group", "dev"),
    "bench.lock": ("--group", "dev", "--group", "bench"),
    "site.lock": ("--group", "site"),
}
"""Options of each lock file that add dependencies to those of the package."""


def main() -> None:
    """Write all lock files with a resolver in a temporary environment."""
    with TemporaryDirectory() as place:
        resolver = _install_resolver(Path(place))
        for name, more in LOCKS.items():
            _write_lock_file(resolver, FOLDER / name, more)
            sys.stdout.write(f"requirements/{name}: {_count_packages(FOLDER / name)} packages\n")


def _install_resolver(place: Path) -> Path:
    """Install `uv` into a new environment, and return the path of the program."""
    EnvBuilder(with_pip=True).create(place)
    folder = place / ("Scripts" if sys.platform == "win32" else "bin")
    install = [str(folder / "python"), "-m", "pip", "install", "--quiet", "uv"]
    subprocess.run([*install, "--disable-pip-version-check"], check=True)
    return folder / "uv"


def _write_lock_file(resolver: Path, file: Path, more: tuple[str, ...]) -> None:
    """Resolve the dependencies of one lock file without using earlier versions."""
    arguments = ["pyproject.toml", *more, "--python-version", _read_oldest_python()]
    completed = subprocess.run(
        [str(resolver), "pip", "compile", *arguments, *OPTIONS],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    file.write_text(completed.stdout, encoding="utf-8")


def _read_oldest_python() -> str:
    """Return the oldest supported Python version from pyproject.toml."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(declared["project"]["requires-python"]).removeprefix(">=")


def _count_packages(file: Path) -> int:
    """Return the number of packages in a lock file."""
    return sum("==" in line for line in file.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    main()
