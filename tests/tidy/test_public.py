"""Public names are documented, and an import of rowkey is cheap."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import getmembers, isclass, isfunction
from types import ModuleType

import pytest

from tidy.tree import ROOT, read_sources

HEAVY = {"numpy", "pyarrow", "pydantic", "rich", "mmh3"}


def import_modules() -> Iterator[ModuleType]:
    """Yield every module of the package."""
    for source in read_sources():
        if source.is_package_file:
            yield import_module(source.module)


def list_undocumented(module: ModuleType) -> Iterator[str]:
    """Yield the public classes, functions and methods of a module that lack a docstring."""
    for label, member in getmembers(module):
        if label.startswith("_") or getattr(member, "__module__", "") != module.__name__:
            continue
        if isfunction(member) and not member.__doc__:
            yield f"{module.__name__}.{label}"
        if isclass(member):
            yield from (
                f"{module.__name__}.{label}{of}" for of in list_undocumented_methods(member)
            )


def list_undocumented_methods(checked: type) -> Iterator[str]:
    """Yield an empty name if the class lacks a docstring, then its methods that lack one.

    A dataclass without a docstring gets its signature for one. An override is documented by
    its base class.
    """
    if (checked.__dict__.get("__doc__") or checked.__name__ + "(").startswith(
        f"{checked.__name__}("
    ):
        yield ""
    for name, member in vars(checked).items():
        if name.startswith("_") or any(hasattr(base, name) for base in checked.__mro__[1:]):
            continue
        plain = member
        for wrapper in ("__func__", "fget", "func"):
            plain = getattr(plain, wrapper, plain)
        if isfunction(plain) and not plain.__doc__:
            yield f".{name}"


def test_every_public_class_and_function_has_a_docstring() -> None:
    """Every public class, function and method that is not an override has a docstring."""
    assert [] == [name for module in import_modules() for name in list_undocumented(module)]


def test_each_missing_docstring_is_found() -> None:
    """A class, a method, a property and a class method without docstrings are each found."""

    class Silent:
        def method(self) -> None: ...

        @property
        def count(self) -> int:
            return 1

        @classmethod
        def build(cls) -> None: ...

        def documented(self) -> None:
            """Nothing."""

    class Child(Silent):
        """A child."""

        def method(self) -> None: ...

    assert ["", ".method", ".count", ".build"] == list(list_undocumented_methods(Silent))
    assert [] == list(list_undocumented_methods(Child))


@pytest.mark.parametrize("name", ["__all__", "_EXPORTS"])
def test_every_listed_name_of_the_package_exists(name: str) -> None:
    """Every listed name of rowkey exists and comes from rowkey."""
    import rowkey

    for exported in getattr(rowkey, name):
        assert getattr(rowkey, exported).__module__.startswith("rowkey.")


def test_every_name_in_an_all_list_exists_once() -> None:
    for module in import_modules():
        listed = list(getattr(module, "__all__", ()))
        assert [] == [name for name in listed if not hasattr(module, name)]
        assert len(set(listed)) == len(listed)


@pytest.mark.parametrize(
    ("start", "allowed"),
    [
        ("import rowkey", {"rowkey"}),
        (
            "import sys, rowkey.cli; sys.argv = ['rowkey', '--help']; rowkey.cli.main()",
            {"rowkey", "rowkey.cli", "rowkey.errors", "rowkey.messages"},
        ),
    ],
    ids=["import", "help"],
)
def test_importing_rowkey_loads_no_heavy_library(start: str, allowed: set[str]) -> None:
    """Neither `import rowkey` nor `rowkey --help` loads a subpackage or a heavy library."""
    at_exit = "atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    run = subprocess.run(
        [sys.executable, "-c", f"import atexit, sys; {at_exit}; {start}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    loaded = set(run.stderr.split())
    subpackages = {name for name in loaded if name.split(".")[0] == "rowkey"}
    assert set() == HEAVY & loaded
    assert allowed >= {name for name in subpackages if not name.startswith("rowkey.cli.")}
