"""Where Java, Maven or the jars are missing the tests say so loudly, and nothing hangs.

The tools are shell scripts that record their calls.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from oracles.build import OracleUnavailable, Source, build_command
from oracles.plugin import LEFT_OUT, REQUIRED, give_up

JAVA_17 = """echo 'openjdk version "17.0.15"' >&2"""
# Writes the class path to the file of its argument.
MAVEN = 'for a; do case $a in -Dmdep.outputFile=*) printf %s "$JAR" > "${a#*=}";; esac; done'


class Machine:
    """A machine that has only the given tools.

    Args:
        folder: an empty folder of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.tools = folder / "bin"
        self.diary = folder / "diary"
        self.jar = folder / "hbase.jar"
        self.kept = folder / "kept"
        self.source = Source(folder / "source")
        for made in (self.tools, self.source.folder):
            made.mkdir()
        self.source.pom.write_text("<project/>")
        (folder / "source" / "Oracle.java").write_text("class Oracle {}")
        self.jar.touch()
        self.environment = {
            "PATH": str(self.tools),
            "JAR": str(self.jar),
            "DIARY": str(self.diary),
        }

    def has(self, name: str, script: str = "true") -> None:
        """Install a tool."""
        tool = self.tools / name
        tool.write_text(f'#!/bin/sh\necho {name} "$@" >> "$DIARY"\n{script}\n')
        tool.chmod(0o755)

    def has_all(self) -> None:
        """Install everything the build needs."""
        self.has("java", JAVA_17)
        self.has("javac")
        self.has("mvn", MAVEN)

    def command(self) -> list[str]:
        """Return the command that starts the oracle on this machine."""
        return build_command(self.source, self.kept, self.environment)

    def calls(self, name: str) -> int:
        """Return how often a tool was called."""
        return sum(line.startswith(f"{name} ") for line in self.diary.read_text().splitlines())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without any tool."""
    return Machine(tmp_path)


def test_the_oracle_command_starts_java_with_the_resolved_jars(machine: Machine) -> None:
    """The command starts the Java found with the resolved jars."""
    machine.has_all()
    java, *_, class_path, program = machine.command()
    expected = [str(machine.tools / "java"), str(machine.jar), "Oracle"]
    assert expected == [java, class_path.split(os.pathsep)[-1], program]


def test_java_is_taken_from_java_home_before_path(machine: Machine, tmp_path: Path) -> None:
    """Java is taken from JAVA_HOME before PATH, as Maven does."""
    machine.has_all()
    home = tmp_path / "home"
    home.mkdir()
    (home / "bin").symlink_to(machine.tools)
    machine.environment["JAVA_HOME"] = str(home)
    assert str(home / "bin" / "java") == machine.command()[0]


def test_a_second_session_uses_the_build_of_the_first(machine: Machine) -> None:
    """A second session uses what the first one built."""
    machine.has_all()
    assert machine.command() == machine.command()
    expected = {"mvn": 1, "javac": 1}
    assert expected == {tool: machine.calls(tool) for tool in expected}


def lose_the_jar(machine: Machine) -> None:
    """The user empties Maven's repository, and Maven stores the jars elsewhere."""
    machine.jar = machine.jar.rename(machine.jar.with_name("other.jar"))
    machine.environment["JAR"] = str(machine.jar)


def change_the_pom(machine: Machine) -> None:
    """The versions of HBase's jars change."""
    machine.source.pom.write_text("<project><!-- newer --></project>")


def change_the_program(machine: Machine) -> None:
    """The Java program changes."""
    machine.source.program[0].write_text("class Oracle { }")


@pytest.mark.parametrize("change", [lose_the_jar, change_the_pom, change_the_program])
def test_a_build_is_reused_only_while_its_inputs_are_unchanged(
    machine: Machine, change: Callable[[Machine], None]
) -> None:
    """A build is reused only while its inputs and jars are unchanged."""
    machine.has_all()
    machine.command()
    change(machine)
    assert str(machine.jar) in machine.command()[-2]
    expected = {"mvn": 2, "javac": 2}
    assert expected == {tool: machine.calls(tool) for tool in expected}


def test_a_machine_without_java_is_reported(machine: Machine) -> None:
    with pytest.raises(OracleUnavailable, match="java is not found in JAVA_HOME or PATH"):
        machine.command()


@pytest.mark.parametrize("missing", ["java", "javac", "mvn"])
def test_the_missing_build_tool_is_named(machine: Machine, missing: str) -> None:
    machine.has_all()
    (machine.tools / missing).unlink()
    with pytest.raises(OracleUnavailable, match=f"^{missing} is not found in JAVA_HOME or PATH"):
        machine.command()


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_392"])
def test_an_old_java_is_refused_with_its_version(machine: Machine, version: str) -> None:
    machine.has_all()
    machine.has("java", f"""echo 'openjdk version "{version}"' >&2""")
    with pytest.raises(OracleUnavailable, match=f"Java 17 or newer is needed.*{version}"):
        machine.command()


def test_maven_is_run_again_with_forced_updates_before_its_error_is_raised(
    machine: Machine,
) -> None:
    machine.has_all()
    machine.has("mvn", "echo '[WARNING] slow'; echo '[ERROR] unknown host'; exit 1")
    with pytest.raises(OracleUnavailable, match=r"mvn ended with 1: \[ERROR\] unknown host"):
        machine.command()
    asked = [line for line in machine.diary.read_text().splitlines() if line.startswith("mvn ")]
    expected = [False, True]
    assert expected == ["-U" in line for line in asked]
    assert not list(machine.kept.iterdir())


TAKES_THE_FIXTURE = '''
def test_bytes(hbase_oracle):
    """Needs Java."""
    raise AssertionError("reached without Java")
'''


def test_without_java_the_session_passes_and_names_what_was_skipped(tmp_path: Path) -> None:
    """Without Java the session passes, and its last lines name in capitals what was left out."""
    (tmp_path / "test_it.py").write_text(TAKES_THE_FIXTURE)
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "oracles.plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "PYTHONPATH": tests},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert 0 == done.returncode
    assert "TESTS LEFT OUT: 1" in done.stdout
    assert f"{LEFT_OUT}: JAVA IS NOT FOUND IN JAVA_HOME OR PATH\n" in done.stdout


def test_missing_java_fails_where_the_comparison_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the comparison is required, missing Java is a failure that names the reason."""
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match=f"{REQUIRED}=1, but java is not found"):
        give_up("java is not found in JAVA_HOME or PATH")
