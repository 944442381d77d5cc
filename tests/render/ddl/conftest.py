"""A Ruby with a recording `create` and a Java compiler, which run the generated texts."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from cluster import find_programs
from oracles.build import FLAGS, MIN_JAVA, OracleUnavailable
from oracles.plugin import give_up

HERE = Path(__file__).parent
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Java:
    """A compiler, and the JVM that runs its classes.

    Args:
        java: the JVM.
        jars: HBase and its client.
    """

    java: str
    jars: str

    def compile(self, folder: Path, sources: list[Path], *flags: str) -> None:
        """Compile sources into a folder; a warning is an error."""
        javac = Path(self.java).resolve().with_name("javac")
        order = [str(javac), *(f"-J{flag}" for flag in FLAGS), "-proc:none", "-Werror", *flags]
        _run_command([*order, "-cp", self.jars, "-d", str(folder), *map(str, sources)])

    def run(self, folder: Path, *arguments: str, conf: Path | None = None) -> str:
        """Return the output of a class in a folder.

        Args:
            folder: the class path, before HBase's jars.
            arguments: the class and its arguments.
            conf: a folder with the `hbase-site.xml` of a cluster.
        """
        path = ":".join((*([str(conf)] if conf else []), str(folder), self.jars))
        return _run_command(
            [self.java, *FLAGS, "-Djava.net.preferIPv4Stack=true", "-cp", path, *arguments]
        )


def _run_command(order: list[str]) -> str:
    done = subprocess.run(order, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def java() -> Java:
    """A compiler with HBase's client; skipped loudly, or failed, as the cluster's tests are."""
    try:
        built = find_programs()
    except OracleUnavailable as absent:
        give_up(str(absent))
    return Java(built.java, built.class_path)


@pytest.fixture(scope="session")
def ruby() -> str:
    """A Ruby; skipped loudly where there is none, failed under ROWKEY_REQUIRE_HBASE=1."""
    found = shutil.which("ruby")
    if found is None:
        give_up("ruby is not found in PATH")
    return found


RELEASE = ("--release", "8", "-Xlint:-options")
"""The oldest Java that the text is meant for; HBase 2.6 runs on 8 and newer."""
DRIVER = ("--release", str(MIN_JAVA))
