"""How a drawer is read: a folder in which each file holds one kind, and each kind is one class.

Nobody outside a drawer names what is in it; they ask the classes for their traits. A kind from
outside the package joins through the entry point `rowkey.kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from inspect import getmembers, isabstract, isclass
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, TypeVar

from rowkey.errors import Unsupported
from rowkey.open_file_limit import explains_shortage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import EntryPoint

K = TypeVar("K")

GROUP = "rowkey.kinds"


def gather(contract: type[K], package: str, path: Iterable[str]) -> Mapping[str, type[K]]:
    """The kinds of one drawer by name: one from each file of the folder, then those from outside.

    Nothing is imported before the first question, and a question about one kind, or about names,
    imports that kind, or none: unless a package offers kinds, for it may take any name. Such a
    package imports the contract from its room, so the room must be whole before it is asked.

    Args:
        contract: the class every kind of the drawer derives from.
        package: the drawer's package, `__name__` in its `__init__`.
        path: the drawer's folder, `__path__` in its `__init__`.

    Returns:
        Name to class, in the order of the names. Each question may raise `Unsupported`: a kind from
        outside does not load, is none, or takes a name that is taken.

    Cost: imports a file of the folder for each kind that is asked for, once.
    """
    return _Drawer(contract, package, path)


class _Drawer(Mapping[str, type[K]]):
    """The kinds of a drawer, found when they are first asked for."""

    def __init__(self, contract: type[K], package: str, path: Iterable[str]) -> None:
        self.contract = contract
        self.package = package
        self.path = path
        self.loaded: dict[str, type[K]] = {}

    @cached_property
    def files(self) -> frozenset[str]:
        """The names of the folder's files, which are those of its kinds."""
        return frozenset(module.name for module in iter_modules(self.path))

    @cached_property
    def kinds(self) -> dict[str, type[K]]:
        """Name to class, all of them, in the order of the names."""
        found = {name: self._of_file(name) for name in self.files}
        for point, kind in _from_outside(self.contract):
            name = _name_of(kind)
            if name in found:
                raise _broken(
                    point,
                    f"the name {name!r} is taken by {found[name].__module__}",
                    "a name of its own",
                    "A name is its bytes: rename the kind, or uninstall the package.",
                )
            found[name] = kind
        return dict(sorted(found.items()))

    def _of_file(self, name: str) -> type[K]:
        """The kind of one file."""
        kind = self.loaded.get(name)
        if kind is None:
            kind = _only_kind(self.contract, f"{self.package}.{name}")
            assert _name_of(kind) == name, f"{kind} stands in {name}.py"
            self.loaded[name] = kind
        return kind

    def __getitem__(self, name: str) -> type[K]:
        if _points():
            return self.kinds[name]
        if name not in self.files:
            raise KeyError(name)
        return self._of_file(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds if _points() else sorted(self.files))

    def __contains__(self, name: object) -> bool:
        return name in (self.kinds if _points() else self.files)

    def __len__(self) -> int:
        return len(self.kinds if _points() else self.files)


@explains_shortage
def _only_kind(contract: type[K], module_name: str) -> type[K]:
    """The one concrete class that a file defines for the drawer."""
    module = import_module(module_name)
    found = [
        member
        for _, member in getmembers(module, isclass)
        if member.__module__ == module_name and issubclass(member, contract)
    ]
    concrete = [kind for kind in found if not isabstract(kind)]
    assert len(concrete) == 1, f"{module_name} must hold one kind, found {concrete}"
    return concrete[0]


@cache
def _points() -> tuple[EntryPoint, ...]:
    """What installed packages offer, for any drawer."""
    return tuple(entry_points(group=GROUP))


def _from_outside(contract: type[K]) -> Iterator[tuple[EntryPoint, type[K]]]:
    """The kinds that installed packages offer for this drawer."""
    for point in _points():
        kind = _loaded(point)
        if issubclass(kind, contract):
            yield point, kind


def _loaded(point: EntryPoint) -> type[Any]:
    """The class that a package offers."""
    try:
        kind = point.load()
    except Exception as problem:
        raise _broken(point, f"it does not load: {type(problem).__name__}: {problem}") from problem
    own = __name__.partition(".")[0]
    if not isclass(kind) or not any(one.__module__.startswith(f"{own}.") for one in kind.__mro__):
        raise _broken(
            point, f"{kind!r} is no kind", "a class that derives from a drawer's contract"
        )
    if isabstract(kind):
        missing = ", ".join(sorted(getattr(kind, "__abstractmethods__", ())))
        raise _broken(
            point, f"{kind.__name__} lacks {missing}", "a class that answers its contract"
        )
    name = _name_of(kind)
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        allowed = "a word of small letters, digits and _, as a key is written"
        raise _broken(point, f"{kind.__name__} is named {name!r}", allowed)
    return kind


def _name_of(kind: type[Any]) -> Any:
    """The name that a kind gives itself."""
    return getattr(kind, "name", None)


def _broken(
    point: EntryPoint,
    what: str,
    allowed: str = "",
    remedy: str = "Mend or uninstall the package that offers it.",
) -> Unsupported:
    """An error about what a package offers."""
    return Unsupported(f"entry point {GROUP}, {point.name} = {point.value}", what, allowed, remedy)
