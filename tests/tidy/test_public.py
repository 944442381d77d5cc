"""What the package offers is documented, and starting it costs next to nothing."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from inspect import getmembers, isclass, isfunction
from typing import TYPE_CHECKING

import pytest

from tidy.tree import ROOT, sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

HEAVY = {"numpy", "pyarrow", "pydantic", "rich", "mmh3"}


def modules() -> Iterator[ModuleType]:
    """Every module of the package."""
    for source in sources():
        if source.is_package:
            name = source.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
            yield import_module(name.removesuffix(".__init__"))


def undocumented(module: ModuleType) -> Iterator[str]:
    """The public classes, functions and methods of a module that lack a docstring."""
    for label, member in getmembers(module):
        if label.startswith("_") or getattr(member, "__module__", "") != module.__name__:
            continue
        if isfunction(member) and not member.__doc__:
            yield f"{module.__name__}.{label}"
        if isclass(member):
            yield from (f"{module.__name__}.{label}{of}" for of in undocumented_in(member))


def undocumented_in(kind: type) -> Iterator[str]:
    """An empty name if the class lacks a docstring, then its methods that lack one.

    A dataclass without a docstring gets its signature for one. A method that answers for a class
    above is documented there.
    """
    if (kind.__dict__.get("__doc__") or kind.__name__ + "(").startswith(f"{kind.__name__}("):
        yield ""
    for name, member in vars(kind).items():
        if name.startswith("_") or any(hasattr(base, name) for base in kind.__mro__[1:]):
            continue
        plain = member
        for wrapper in ("__func__", "fget", "func"):
            plain = getattr(plain, wrapper, plain)
        if isfunction(plain) and not plain.__doc__:
            yield f".{name}"


def test_everything_public_is_documented() -> None:
    """Every public class, function and method that is not an override has a docstring."""
    assert [] == [name for module in modules() for name in undocumented(module)]


def test_what_is_not_documented_is_seen() -> None:
    """A class, a method, a property and a class method without docstrings are each found."""

    class Silent:
        def method(self) -> None: ...

        @property
        def told(self) -> int:
            return 1

        @classmethod
        def made(cls) -> None: ...

        def documented(self) -> None:
            """Nothing."""

    class Heir(Silent):
        """An heir."""

        def method(self) -> None: ...

    assert ["", ".method", ".told", ".made"] == list(undocumented_in(Silent))
    assert [] == list(undocumented_in(Heir))


@pytest.mark.parametrize("name", ["__all__", "_ROOMS"])
def test_front_door_lists_what_it_offers(name: str) -> None:
    """Every name the front door lists is there, and each comes from the room it names."""
    import rowkey

    for offered in getattr(rowkey, name):
        assert getattr(rowkey, offered).__module__.startswith("rowkey.")


def test_rooms_offer_what_they_list() -> None:
    """Every name in a room's `__all__` is there, listed once, in order."""
    for module in modules():
        listed = list(getattr(module, "__all__", ()))
        assert [] == [name for name in listed if not hasattr(module, name)]
        assert len(set(listed)) == len(listed)


@pytest.mark.parametrize(
    ("start", "allowed"),
    [
        ("import rowkey", {"rowkey"}),
        (
            "import sys, rowkey.cli; sys.argv = ['rowkey', '--help']; rowkey.cli.main()",
            {"rowkey", "rowkey.cli", "rowkey.errors"},
        ),
    ],
    ids=["import", "help"],
)
def test_a_start_is_light(start: str, allowed: set[str]) -> None:
    """Neither the package nor the help of its command loads a room or a heavy library."""
    at_exit = "atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    run = subprocess.run(
        [sys.executable, "-c", f"import atexit, sys; {at_exit}; {start}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    loaded = set(run.stderr.split())
    rooms = {name for name in loaded if name.split(".")[0] == "rowkey"}
    assert set() == HEAVY & loaded
    assert allowed >= {name for name in rooms if not name.startswith("rowkey.cli.")}
