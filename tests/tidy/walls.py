"""The walls of the house: each reads one file and tells what breaks it, as `path:line: what`."""

from __future__ import annotations

import ast
import re
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidy.tree import Source

    Wall = Callable[[Source], Iterator[str]]

FUNCTION_LINES_MOST = 60
LEFTOVERS = {"util", "utils", "helper", "helpers", "common", "base", "misc", "compat"}
JUDGING = {
    "cells", "regions", "schema", "keys", "rows", "plan", "workload", "design", "heat", "lint",
    "simulate", "advise",
}  # fmt: skip
"""Rooms that are pure: no socket, no clock, no thread, and chance only from a given seed."""
CLOCKS = {
    "asyncio", "concurrent", "http", "multiprocessing", "secrets", "selectors", "socket", "ssl",
    "subprocess", "threading", "time", "urllib", "uuid.uuid1", "uuid.uuid4",
}  # fmt: skip
ASKING_THE_CLOCK = {"now", "utcnow", "today", "perf_counter", "monotonic", "urandom", "uuid4"}
SEEDED = {"Random", "default_rng"}


def functions_are_short(source: Source) -> Iterator[str]:
    """A function has at most 60 lines, its docstring not counted."""
    if not source.is_python:
        return
    for function in source.functions():
        body = function.body[1:] if ast.get_docstring(function) else function.body
        lines = (function.end_lineno or 0) - body[0].lineno + 1 if body else 0
        if lines > FUNCTION_LINES_MOST:
            yield source.at(function.lineno, f"{function.name} has {lines} lines")


def names_say_what(source: Source) -> Iterator[str]:
    """No file and no folder is named after being left over."""
    for part in source.parts if source.is_python else ():
        if part.removesuffix(".py").strip("_") in LEFTOVERS:
            yield source.at(1, f"{part} is no concept")


def paths_are_shallow(source: Source) -> Iterator[str]:
    """Nothing of the package lies deeper than src/rowkey/room/drawer/file."""
    if source.is_package and len(source.parts) > 5:
        yield source.at(1, "lies too deep")


def rooms_have_doors(source: Source) -> Iterator[str]:
    """A room is entered by its `__init__` only, from other rooms, tools and benchmarks."""
    if not source.is_package and source.parts[0] not in ("tools", "benchmarks"):
        return
    if not source.is_python:
        return
    own = source.room if source.is_package else ""
    for node in ast.walk(source.tree):
        for name in _imported_modules(node):
            steps = name.split(".")
            if steps[0] == "rowkey" and len(steps) > 2 and steps[1] != own:
                yield source.at(node.lineno, f"enters {name}, not rowkey.{steps[1]}")  # type: ignore[attr-defined]


def _imported_modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""


def files_hide_no_function(source: Source) -> Iterator[str]:
    """No file shares its name with a function it defines, no room with one it exports."""
    if not source.is_package:
        return
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == source.name:
            yield source.at(node.lineno, f"the function {node.name} hides its module")


def judging_is_pure(source: Source) -> Iterator[str]:
    """The judging rooms know no socket, clock or thread, and no chance without a seed."""
    if not source.is_package or source.room not in JUDGING:
        return
    for node in ast.walk(source.tree):
        for name in _imported_names(node):
            if name in CLOCKS or name.split(".")[0] in CLOCKS:
                yield source.at(node.lineno, f"imports {name}")  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            called = _called(node)
            if called in ASKING_THE_CLOCK:
                yield source.at(node.lineno, f"asks the clock, or chance: {called}()")
            elif called in SEEDED and not node.args and not node.keywords:
                yield source.at(node.lineno, f"{called}() without a seed")


def _imported_names(node: ast.AST) -> Iterator[str]:
    """Modules that an import names, and what it takes from them."""
    yield from _imported_modules(node)
    if isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _called(node: ast.Call) -> str:
    """The last name of what is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def modules_say_why(source: Source) -> Iterator[str]:
    """A module begins with a sentence that says why it exists."""
    is_blank_package = source.parts[0] == "tests" and not source.text
    if not source.is_python or source.is_test or is_blank_package:
        return
    first = (ast.get_docstring(source.tree) or "").partition("\n\n")[0].strip()
    if len(first) < 10 or first[-1] not in ".:":
        yield source.at(1, f"the first sentence of the module is {first!r}")


def tests_say_what(source: Source) -> Iterator[str]:
    """A test has a docstring of one sentence."""
    for test in _tests(source):
        text = (ast.get_docstring(test) or "").strip()
        if not text.endswith(".") or "\n\n" in text:
            yield source.at(test.lineno, f"{test.name} has no docstring of one sentence")


def _tests(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    if source.is_test:
        yield from (one for one in source.functions() if one.name.startswith("test_"))


def names_that_assert(files: tuple[Source, ...]) -> frozenset[str]:
    """The functions of the tests that can fail by themselves, by name."""
    tests = (f for f in files if f.is_python and f.path.startswith("tests/"))
    functions = chain.from_iterable(source.functions() for source in tests)
    return frozenset(one.name for one in functions if _asserts(one, frozenset()))


def _asserts(function: ast.AST, known: frozenset[str]) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call) and _called(node) in {"raises", "fail", "warns", *known}:
            return True
    return False


def tests_can_fail(known: frozenset[str]) -> Wall:
    """A test asserts something, itself or by a function of the tests that does."""

    def wall(source: Source) -> Iterator[str]:
        for test in _tests(source):
            if not _asserts(test, known - {test.name}):
                yield source.at(test.lineno, f"{test.name} asserts nothing")

    return wall


def tests_list_no_kinds(drawers: tuple[frozenset[str], ...]) -> Wall:
    """No test lists the kinds of a drawer: a new kind is tested on the day its file appears.

    A few kinds may be chosen; who names two thirds of a drawer means all of it.
    """

    def means_all(words: list[str]) -> bool:
        return any(
            drawer.issuperset(words) and 3 * len(words) >= 2 * len(drawer) for drawer in drawers
        )

    def wall(source: Source) -> Iterator[str]:
        if not source.is_test:
            return
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.List | ast.Tuple | ast.Set):
                continue
            words = [e.value for e in node.elts if isinstance(e, ast.Constant)]
            if len(words) < 3 or len(words) < len(node.elts):
                continue
            if means_all([str(word) for word in words]):
                yield source.at(node.lineno, f"lists the kinds {words}")

    return wall


_UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
_MACHINE = re.compile(r"(?<![\w.])/(?:work|home|root|Users)/[\w.]")
_HOST = re.compile(
    r"(?:--(?:extra-)?index-url|(?:pypi|pythonhosted|artifactory|nexus|jfrog|maven\.apache|maven\.org)[\w.-]*"
    r"\.(?:org|com|net|io)\b(?!/POM))",
    re.IGNORECASE,
)
_ALLOWED_HOSTS = ("https://maven.apache.org/xsd", "http://maven.apache.org/POM")


def nothing_is_unfinished(source: Source) -> Iterator[str]:
    """No file holds a note to do something later."""
    yield from _matches(source, _UNFINISHED, "leaves something to be done")


def no_machine_is_named(source: Source) -> Iterator[str]:
    """No file holds a path of somebody's machine."""
    yield from _matches(source, _MACHINE, "names a path of one machine")


def no_registry_is_named(source: Source) -> Iterator[str]:
    """No file says where packages come from: that is the user's own setting."""
    yield from _matches(source, _HOST, "names a registry")


def _matches(source: Source, pattern: re.Pattern[str], what: str) -> Iterator[str]:
    if source.path == "tests/tidy/walls.py" or not source.text:
        return
    for number, line in enumerate(source.text.splitlines(), 1):
        if pattern.search(line) and not any(allowed in line for allowed in _ALLOWED_HOSTS):
            yield source.at(number, f"{what}: {line.strip()[:60]}")


FRAGMENT = re.compile(
    r"changes/[a-z0-9]+(?:-[a-z0-9]+)*\.(?:added|changed|fixed|removed|bytes)\.md"
)


def fragments_are_sentences(source: Source) -> Iterator[str]:
    """A fragment of the changelog is named by slug and class, and holds sentences."""
    if source.parts[0] != "changes":
        return
    if not FRAGMENT.fullmatch(source.path):
        yield source.at(1, "is not changes/<slug>.<added|changed|fixed|removed|bytes>.md")
    text = source.text.strip()
    if not text.endswith(".") or not (text[0].isupper() or text[0] == "`"):
        yield source.at(1, "is no sentence")
