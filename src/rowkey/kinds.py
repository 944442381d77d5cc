"""How a drawer is read: a folder in which each file holds one kind, and each kind is one class.

Nobody outside a drawer names what is in it; they ask the classes for their traits. A kind from
outside the package joins through the entry point `rowkey.kinds`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from inspect import getmembers, isabstract, isclass
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeVar

from rowkey.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

K = TypeVar("K")

GROUP = "rowkey.kinds"


def gather(contract: type[K], package: str, path: Iterable[str]) -> Mapping[str, type[K]]:
    """The kinds of one drawer by name: one from each file of the folder, then those from outside.

    Args:
        contract: the class every kind of the drawer derives from.
        package: the drawer's package, `__name__` in its `__init__`.
        path: the drawer's folder, `__path__` in its `__init__`.

    Returns:
        Name to class, in the order of the names.

    Raises:
        Unsupported: a kind from outside does not load, or takes a name that is taken.

    Cost: imports every file of the folder, once.
    """
    kinds: dict[str, type[K]] = {}
    for module in iter_modules(path):
        kind = _only_kind(contract, f"{package}.{module.name}")
        assert kind.name == module.name, f"{kind} stands in {module.name}.py"  # type: ignore[attr-defined]
        kinds[module.name] = kind
    for name, kind in _from_outside(contract):
        if name in kinds:
            raise Unsupported(
                f"entry point {GROUP}",
                f"the name {name!r} is taken by {kinds[name].__module__}",
                "a name of its own",
                "A name is its bytes: rename the kind, or uninstall the package.",
            )
        kinds[name] = kind
    return dict(sorted(kinds.items()))


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


def _from_outside(contract: type[K]) -> Iterable[tuple[str, type[K]]]:
    """The kinds that installed packages offer for this drawer."""
    for point in entry_points(group=GROUP):
        try:
            kind = point.load()
        except Exception as problem:
            raise Unsupported(
                f"entry point {GROUP}",
                f"{point.value!r} does not load: {problem}",
                remedy="Mend or uninstall the package that offers it.",
            ) from problem
        if isclass(kind) and issubclass(kind, contract):
            yield kind.name, kind  # type: ignore[attr-defined]
