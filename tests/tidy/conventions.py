"""Conventions that no linter knows: each check reads one file and yields `path:line: what`."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import TYPE_CHECKING

from tidy.tree import walk

if TYPE_CHECKING:
    from tidy.tree import Source

    Convention = Callable[[Source], Iterator[str]]

MAX_FUNCTION_LINES = 60
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "base", "misc", "compat"}
JUDGING_PACKAGES = {
    "cells", "regions", "schema", "keys", "rows", "plan", "workload", "design", "proposals",
    "explanations", "hotspots", "lint", "simulate", "advise",
}  # fmt: skip
"""Packages that judge: no socket, no clock, no thread, and chance only from a given seed."""
CLOCK_MODULES = {
    "asyncio", "concurrent", "http", "multiprocessing", "secrets", "selectors", "socket", "ssl",
    "subprocess", "threading", "time", "urllib", "uuid.uuid1", "uuid.uuid4",
}  # fmt: skip
CLOCK_FUNCTIONS = {"now", "utcnow", "today", "perf_counter", "monotonic", "urandom", "uuid4"}
GENERATOR_CLASSES = {"Random", "default_rng"}


def check_function_length(source: Source) -> Iterator[str]:
    """A function has at most 60 lines, its docstring not counted."""
    if not source.is_python:
        return
    for function in source.functions:
        body = function.body[1:] if ast.get_docstring(function) else function.body
        lines = (function.end_lineno or 0) - body[0].lineno + 1 if body else 0
        if lines > MAX_FUNCTION_LINES:
            yield source.format_breach(function.lineno, f"{function.name} has {lines} lines")


def check_file_names(source: Source) -> Iterator[str]:
    """No file and no folder has a vague name."""
    for part in source.parts if source.is_python else ():
        if part.removesuffix(".py").strip("_") in VAGUE_NAMES:
            yield source.format_breach(1, f"{part} names no concept")


def check_depth(source: Source) -> Iterator[str]:
    """No file lies deeper than src/rowkey/PACKAGE/FOLDER/FILE."""
    if source.is_package_file and len(source.parts) > 5:
        yield source.format_breach(1, "lies too deep")


def check_imports_of_packages(source: Source) -> Iterator[str]:
    """Other packages, tools and benchmarks import a package through its `__init__` only."""
    if not source.is_package_file and source.parts[0] not in ("tools", "benchmarks"):
        return
    if not source.is_python:
        return
    own = source.package if source.is_package_file else ""
    for node in source.nodes:
        for name in _list_imported_modules(node):
            steps = name.split(".")
            if steps[0] == "rowkey" and len(steps) > 2 and steps[1] != own:
                yield source.format_breach(node.lineno, f"imports {name}, not rowkey.{steps[1]}")  # type: ignore[attr-defined]


def _list_imported_modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""


BARE_WORDS = {
    "about", "again", "alike", "all", "amid", "among", "anew", "another", "apart", "as",
    "asked", "at", "away", "before", "begun", "behind", "beside", "between", "bound", "brought",
    "by", "called", "came", "chosen", "counted", "drawn", "each", "either", "few", "followed",
    "for", "found", "from", "gathered", "given", "gone", "had", "heard", "held", "her", "his",
    "in", "its", "joined", "kept", "known", "laid", "left", "made", "many", "meant", "mended",
    "most", "named", "none", "noted", "of", "one", "only", "other", "others", "over", "own",
    "passed", "reached", "said", "same", "seen", "sent", "several", "shown", "some", "stood",
    "such", "taken", "than", "that", "their", "them", "then", "there", "these", "this", "those",
    "through", "told", "tried", "under", "until", "upon", "waited", "what", "whatever", "when",
    "where", "which", "while", "whoever", "whole", "whose", "with", "without", "worked",
    "written",
}  # fmt: skip
"""Participles, prepositions and pronouns: none of them is a name by itself."""


def check_names(source: Source) -> Iterator[str]:
    """No function and no class is named by a bare participle, preposition or pronoun."""
    if not source.is_package_file:
        return
    for node in source.nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if node.name.strip("_").lower() in BARE_WORDS:
            yield source.format_breach(node.lineno, f"{node.name} says neither what nor how")


def find_repeated_classes(sources: Iterable[Source]) -> list[str]:
    """Return the names of public classes that more than one file of the package defines.

    `rowkey.happybase` has the class names of happybase.
    """
    counts = Counter(
        node.name
        for source in sources
        if source.is_package_file and "happybase" not in source.parts
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, count in counts.items() if count > 1)


def find_import_circle(sources: Iterable[Source], package: str) -> list[str]:
    """Return modules of a package each of which imports the one before, the first one last again.

    Imports for type checkers and within functions count too. The package's `__init__` does not, as
    it only lists names of its modules.
    """
    own = [source for source in sources if source.is_package_file and source.package == package]
    modules = {source.module: source for source in own if source.module != f"rowkey.{package}"}
    imports: dict[str, set[str]] = {name: set() for name in modules}
    for module, source in modules.items():
        for node in source.nodes:
            names = list(_list_imported_modules(node))
            if isinstance(node, ast.ImportFrom):
                found = (f"{node.module}.{alias.name}" for alias in node.names)
                names = [name if name in modules else names[0] for name in found]
            imports[module] |= modules.keys() & set(names) - {module}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def check_module_names(source: Source) -> Iterator[str]:
    """No file shares its name with a function it defines."""
    if not source.is_package_file:
        return
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == source.name:
            yield source.format_breach(node.lineno, f"the function {node.name} hides its module")


def check_purity(source: Source) -> Iterator[str]:
    """The packages that judge use no socket, clock or thread, and no chance without a seed."""
    if not source.is_package_file or source.package not in JUDGING_PACKAGES:
        return
    for node in source.nodes:
        for name in _list_imported_names(node):
            if name in CLOCK_MODULES or name.split(".")[0] in CLOCK_MODULES:
                yield source.format_breach(node.lineno, f"imports {name}")  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            called = _get_called_name(node)
            if called in CLOCK_FUNCTIONS:
                yield source.format_breach(node.lineno, f"reads the clock or chance: {called}()")
            elif called in GENERATOR_CLASSES and not node.args and not node.keywords:
                yield source.format_breach(node.lineno, f"{called}() without a seed")


def _list_imported_names(node: ast.AST) -> Iterator[str]:
    """Yield the modules that an import names, and the names it takes from them."""
    yield from _list_imported_modules(node)
    if isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _get_called_name(node: ast.Call) -> str:
    """Return the last name of a called function."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def check_module_docstrings(source: Source) -> Iterator[str]:
    """A module begins with a sentence that says what it holds."""
    is_blank_package = source.parts[0] == "tests" and not source.text
    if not source.is_python or source.is_test or is_blank_package:
        return
    first = (ast.get_docstring(source.tree) or "").partition("\n\n")[0].strip()
    if len(first) < 10 or first[-1] not in ".:":
        yield source.format_breach(1, f"the first sentence of the module is {first!r}")


MIN_WORDS_OF_TEST_NAME = 4


def check_test_names(source: Source) -> Iterator[str]:
    """The name of a test says what holds, which takes four words or more."""
    for test in _list_tests(source):
        if test.name.count("_") < MIN_WORDS_OF_TEST_NAME:
            yield source.format_breach(test.lineno, f"{test.name} does not say what holds")


def check_test_docstrings(source: Source) -> Iterator[str]:
    """A docstring of a test is one sentence."""
    for test in _list_tests(source):
        text = (ast.get_docstring(test) or ".").strip()
        if not text.endswith(".") or "\n\n" in text:
            yield source.format_breach(test.lineno, f"the docstring of {test.name} is no sentence")


def _list_tests(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    if source.is_test:
        yield from (one for one in source.functions if one.name.startswith("test_"))


def find_asserting_functions(files: tuple[Source, ...]) -> frozenset[str]:
    """Return the names of the functions of the tests that assert something."""
    tests = (f for f in files if f.is_python and f.path.startswith("tests/"))
    functions = chain.from_iterable(source.functions for source in tests)
    return frozenset(one.name for one in functions if _has_assertion(one, frozenset()))


_ASSERTING_CALLS = frozenset(("raises", "fail", "warns"))


def _has_assertion(function: ast.AST, asserting_functions: frozenset[str]) -> bool:
    for node in walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = _get_called_name(node)
            if name in _ASSERTING_CALLS or name in asserting_functions:
                return True
    return False


def build_assertion_check(read_files: Callable[[], tuple[Source, ...]]) -> Convention:
    """Return the convention that a test asserts something, itself or through a test function."""
    asserting_functions: list[frozenset[str]] = []  # found when a file is first checked

    def check(source: Source) -> Iterator[str]:
        if not asserting_functions:
            asserting_functions.append(find_asserting_functions(read_files()))
        for test in _list_tests(source):
            if not _has_assertion(test, asserting_functions[0] - {test.name}):
                yield source.format_breach(test.lineno, f"{test.name} asserts nothing")

    return check


def build_plugin_list_check(folders: tuple[frozenset[str], ...]) -> Convention:
    """Return the convention that no test lists plugins, so that a new plugin is tested at once.

    A test may choose a few; two thirds of a folder mean all of it.
    """

    def means_all(words: list[str]) -> bool:
        return any(
            folder.issuperset(words) and 3 * len(words) >= 2 * len(folder) for folder in folders
        )

    def check(source: Source) -> Iterator[str]:
        if not source.is_test:
            return
        for node in source.nodes:
            if not isinstance(node, ast.List | ast.Tuple | ast.Set):
                continue
            words = [e.value for e in node.elts if isinstance(e, ast.Constant)]
            if len(words) < 3 or len(words) < len(node.elts):
                continue
            if means_all([str(word) for word in words]):
                yield source.format_breach(node.lineno, f"lists the plugins {words}")

    return check


_UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
_PRIVATE_KEY = re.compile("BEGIN [A-Z ]*PRIVATE KEY")
_MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|home|root|Users)/[\w.]")
_REGISTRY = re.compile(
    r"(?:--(?:extra-)?index-url|(?:pypi|pythonhosted|artifactory|nexus|jfrog|maven\.apache|maven\.org)[\w.-]*"
    r"\.(?:org|com|net|io)\b(?!/pom))"
)
"""Searched in text of small letters, which takes a tenth of the time of a search in any."""
_ALLOWED_ADDRESSES = ("https://maven.apache.org/xsd", "http://maven.apache.org/pom")


def check_unfinished_notes(source: Source) -> Iterator[str]:
    """No file holds a note about unfinished work."""
    yield from _find_matches(source, _UNFINISHED, "is unfinished")


def check_machine_paths(source: Source) -> Iterator[str]:
    """No file holds a path of one machine."""
    yield from _find_matches(source, _MACHINE_PATH, "names a path of one machine")


def check_registries(source: Source) -> Iterator[str]:
    """No file names a package registry: each machine has its own."""
    lowered = replace(source, text=source.text.lower())
    yield from _find_matches(lowered, _REGISTRY, "names a registry")


def check_private_keys(source: Source) -> Iterator[str]:
    """No file holds a private key: tests make theirs when they need one."""
    yield from _find_matches(source, _PRIVATE_KEY, "is a private key")


def _find_matches(source: Source, pattern: re.Pattern[str], what: str) -> Iterator[str]:
    if source.path == "tests/tidy/conventions.py" or not pattern.search(source.text):
        return
    for number, line in enumerate(source.text.splitlines(), 1):
        if pattern.search(line) and not any(allowed in line for allowed in _ALLOWED_ADDRESSES):
            yield source.format_breach(number, f"{what}: {line.strip()[:60]}")


FRAGMENT = re.compile(
    r"changes/[a-z0-9]+(?:-[a-z0-9]+)*\.(?:added|changed|fixed|removed|bytes)\.md"
)


def check_changelog_fragments(source: Source) -> Iterator[str]:
    """A changelog fragment is named by slug and class and holds sentences."""
    if source.parts[0] != "changes" or source.name == ".gitkeep":
        return
    if not FRAGMENT.fullmatch(source.path):
        yield source.format_breach(
            1, "is not changes/<slug>.<added|changed|fixed|removed|bytes>.md"
        )
    text = source.text.strip()
    if not text.endswith(".") or not (text[0].isupper() or text[0] == "`"):
        yield source.format_breach(1, "is no sentence")
