"""Build a command that starts a Java program from Java and Maven, cached between sessions."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

HBASE = Path(__file__).parent / "hbase"
PROGRAM = "program.jar"
"""The compiled classes: a JVM writes no class data archive after it used a class of a folder."""
MIN_JAVA = 17  # the -hadoop3 builds of HBase 2.6 and the language level of Oracle.java

# Without a version in its name Maven asks the network for the newest, even when all is here.
RESOLVE = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"
COMPILE = ("--release", str(MIN_JAVA), "-proc:none", "-Xlint:none")
# One compiler tier and one collector thread: quick to start, and two cores are shared with pytest.
FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m", "-Xshare:auto")

PROBE_S = 60.0
COMPILE_S = 120.0
RESOLVE_S = 300.0  # a first download took 5 s to 75 s


class OracleUnavailable(Exception):
    """The oracle cannot be built on this machine; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Source:
    """A Java program and the artifacts it runs on.

    Args:
        folder: holds `pom.xml` and the program, one or more files.
        main: the class that is started, which a file is named after.
        properties: properties that replace those of the pom: `hbase.version=2.5.13-hadoop3`.
    """

    folder: Path
    main: str = "Oracle"
    properties: tuple[str, ...] = ()

    @property
    def pom(self) -> Path:
        """The artifacts."""
        return self.folder / "pom.xml"

    @property
    def program(self) -> list[Path]:
        """The program."""
        return sorted(self.folder.glob("*.java"))

    def digest(self) -> str:
        """Return a digest that changes whenever the build would produce something else."""
        told = sha256(" ".join((RESOLVE, *COMPILE, *self.properties)).encode())
        for file in (self.pom, *self.program):
            told.update(file.read_bytes())
        return told.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class OracleBuild:
    """The JVM and the class path of a built program.

    Args:
        java: the JVM.
        class_path: the compiled program, then the jars.
    """

    java: str
    class_path: str


def build_command(
    source: Source | None = None,
    kept: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the command that starts the oracle, building it if needed.

    Args:
        source: the program; HBase's by default.
        kept: as in `build_oracle`.
        environment: as in `build_oracle`.

    Returns:
        The JVM and its arguments.

    Raises:
        Absent: Java 17 or newer, its compiler or Maven is missing, or the jars cannot be had.

    """
    source = source or Source(HBASE)
    built = build_oracle(source, kept, environment)
    return [built.java, *FLAGS, "-cp", built.class_path, source.main]


def build_oracle(
    source: Source, kept: Path | None = None, environment: Mapping[str, str] | None = None
) -> OracleBuild:
    """Return the JVM and class path of a program, building it if needed.

    Args:
        source: the program.
        kept: folder that keeps what was built, one folder for each state of the source.
        environment: where JAVA_HOME and PATH are looked up; this process's by default.

    Raises:
        Absent: Java 17 or newer, its compiler or Maven is missing, or the jars cannot be had.

    Cost: 0.1 s from what is kept; 5 s from a warm Maven repository; a download at first, of 40 MB
    for the oracle.

    """
    environment = os.environ if environment is None else environment
    java = _find_java(environment)
    built = (kept or _find_cache_folder(environment)) / source.digest()
    if not _is_complete(built):
        built.parent.mkdir(parents=True, exist_ok=True)
        with _lock_folder(built.parent):
            # Another test process may have built it meanwhile.
            if not _is_complete(built):
                _build_program(source, built, environment)
    jars = (built / "class-path").read_text()
    return OracleBuild(java, os.pathsep.join((str(built / PROGRAM), jars)))


def _find_cache_folder(environment: Mapping[str, str]) -> Path:
    """Return the cache folder: in the virtual environment, else in the user's cache."""
    if sys.prefix != sys.base_prefix:
        return Path(sys.prefix) / "oracles"
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rowkey" / "oracles"


def _is_complete(built: Path) -> bool:
    """Return whether every jar of a build is still in Maven's repository."""
    class_path = built / "class-path"
    if not (built / PROGRAM).exists() or not class_path.exists():
        return False
    return all(Path(jar).exists() for jar in class_path.read_text().split(os.pathsep))


def _build_program(source: Source, built: Path, environment: Mapping[str, str]) -> None:
    javac, maven = _find_tool("javac", environment), _find_tool("mvn", environment)
    with TemporaryDirectory(dir=built.parent, prefix="building-") as scratch:
        fresh = Path(scratch) / "program"
        fresh.mkdir()
        class_path = _resolve_class_path(maven, source, fresh / "class-path", environment)
        flags = (*(f"-J{flag}" for flag in FLAGS), *COMPILE)
        compile_ = (javac, *flags, "-cp", class_path, "-d", str(fresh), *map(str, source.program))
        _run_tool(compile_, COMPILE_S, environment)
        with ZipFile(fresh / PROGRAM, "w") as jar:
            for file in sorted(fresh.rglob("*.class")):
                jar.write(file, file.relative_to(fresh))
        shutil.rmtree(built, ignore_errors=True)
        fresh.rename(built)


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for one build: two Mavens fetching the same jars can harm each other."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _resolve_class_path(
    maven: str, source: Source, to: Path, environment: Mapping[str, str]
) -> str:
    """Return the class path, also written to a file; retried once, since registries fail."""
    quiet = ("-B", "-q", "-Dstyle.color=never")
    properties = (f"-D{one}" for one in (*source.properties, f"mdep.outputFile={to}"))
    ask = (maven, *quiet, "-f", str(source.pom), RESOLVE, *properties)
    try:
        _run_tool(ask, RESOLVE_S, environment)
    except OracleUnavailable:
        # -U: Maven remembers what it could not get, and would not ask again.
        _run_tool((*ask, "-U"), RESOLVE_S, environment)
    return to.read_text()


def _find_java(environment: Mapping[str, str]) -> str:
    java = _find_tool("java", environment)
    told = _run_tool((java, "-version"), PROBE_S, environment)
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version[1]) < MIN_JAVA:
        first = (told.splitlines() or ["nothing"])[0]
        raise OracleUnavailable(f"Java {MIN_JAVA} or newer is needed; java -version says {first}")
    return java


def _find_tool(name: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program, from JAVA_HOME before PATH, as Maven does."""
    home = environment.get("JAVA_HOME")
    inside = shutil.which(name, path=str(Path(home) / "bin")) if home else None
    found = inside or shutil.which(name, path=environment.get("PATH", ""))
    if found is None:
        raise OracleUnavailable(f"{name} is not found in JAVA_HOME or PATH")
    return found


def _run_tool(order: Sequence[str], deadline_s: float, environment: Mapping[str, str]) -> str:
    """Return the output of a program that ended without error."""
    name = Path(order[0]).name
    try:
        done = subprocess.run(
            order,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=deadline_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OracleUnavailable(f"{name} did not end within {deadline_s:g} s") from None
    except OSError as error:
        raise OracleUnavailable(f"{name} does not start: {error}") from None
    told = done.stdout.decode(errors="replace")
    if done.returncode:
        raise OracleUnavailable(f"{name} ended with {done.returncode}: {_find_error_line(told)}")
    return told


def _find_error_line(told: str) -> str:
    """Return the first informative line of an output; Maven's errors are among warnings."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it said nothing"])[0][:500]
