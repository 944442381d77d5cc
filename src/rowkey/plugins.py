"""Plugin folders: each plugin is one class, and a file of such a folder holds one or a family.

A plugin is a class that has a name. Code outside of a folder names no plugin: it reads the
attributes of the classes. Another package adds a plugin through the entry point group
`rowkey.kinds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import getmembers, isabstract, isclass
from pathlib import Path
from typing import Any, TypeVar

from rowkey.errors import Unavailable
from rowkey.open_file_limit import explain_shortage

K = TypeVar("K")

ENTRY_POINT_GROUP = "rowkey.kinds"


def find_plugins(contract: type[K], package: str, path: Iterable[str]) -> Mapping[str, type[K]]:
    """Return the plugins of a folder by name, with those of other installed packages.

    Nothing is imported before the first lookup, which imports the file of the same name, or all
    files where there is none. Another package that offers plugins imports the contract, so the
    package of the contract must be imported by then.

    Args:
        contract: the class that every plugin of the folder derives from.
        package: the package of the folder, `__name__` in its `__init__`.
        path: the folder, `__path__` in its `__init__`.

    Returns:
        Name to class, in the order of the names. Each lookup may raise `Unavailable`: a plugin of
        another package does not load, is not a plugin, or has a name that is taken.
    """
    return _PluginFolder(contract, package, path)


def has_external_plugins() -> bool:
    """Return whether other installed packages offer plugins."""
    return bool(_list_entry_points())


class _PluginFolder(Mapping[str, type[K]]):
    """The plugins of one folder by name, imported when they are first used."""

    def __init__(self, contract: type[K], package: str, path: Iterable[str]) -> None:
        self.contract = contract
        self.package = package
        self.path = path
        self._plugins_by_file: dict[str, dict[str, type[K]]] = {}

    @cached_property
    def file_names(self) -> frozenset[str]:
        files = _list_files(self.path)
        return frozenset(one.stem for one in files if one.suffix == ".py") - {"__init__"}

    @cached_property
    def plugins(self) -> dict[str, type[K]]:
        """All plugins by name, in the order of the names."""
        classes: dict[str, type[K]] = {}
        for file in sorted(self.file_names):
            found = self._load_file(file)
            assert found, f"no class of {file}.py has a name"
            assert classes.keys().isdisjoint(found), f"{file}.py has a name of another file"
            classes |= found
        for point, plugin in _iterate_external_plugins(self.contract):
            name = _get_plugin_name(plugin)
            if name in classes:
                raise _build_plugin_error(
                    point,
                    f"the plugin name {name!r} is already used by {classes[name].__module__}",
                    "an unused name",
                    "Rename the plugin, or uninstall the package.",
                )
            classes[name] = plugin
        return dict(sorted(classes.items()))

    def _load_file(self, file: str) -> dict[str, type[K]]:
        if file not in self._plugins_by_file:
            module = f"{self.package}.{file}"
            self._plugins_by_file[file] = _load_plugins(self.contract, module)
        return self._plugins_by_file[file]

    def __getitem__(self, name: str) -> type[K]:
        if name in self.file_names and not _list_entry_points():
            return self._load_file(name)[name]
        return self.plugins[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.plugins)

    def __len__(self) -> int:
        return len(self.plugins)


@explain_shortage
def _list_files(path: Iterable[str]) -> list[Path]:
    """Return the files of some folders; `pkgutil.iter_modules` has none if it cannot list them."""
    return [file for folder in path for file in Path(folder).iterdir()]


@explain_shortage
def _load_plugins(contract: type[K], module_name: str) -> dict[str, type[K]]:
    """Return the plugin classes that a module defines, by name."""
    module = import_module(module_name)
    return {
        _get_plugin_name(member): member
        for _, member in getmembers(module, isclass)
        if member.__module__ == module_name
        and issubclass(member, contract)
        and _get_plugin_name(member) is not None
    }


@cache
def _list_entry_points() -> tuple[EntryPoint, ...]:
    """Return the entry points through which installed packages offer plugins."""
    return tuple(entry_points(group=ENTRY_POINT_GROUP))


def _iterate_external_plugins(contract: type[K]) -> Iterator[tuple[EntryPoint, type[K]]]:
    """Yield the plugins of other packages that derive from a plugin base class."""
    for point in _list_entry_points():
        plugin = _load_entry_point(point)
        if issubclass(plugin, contract):
            yield point, plugin


def _load_entry_point(entry_point: EntryPoint) -> type[Any]:
    """Return the plugin class of an entry point; raise if it is not a valid plugin."""
    try:
        plugin = entry_point.load()
    except Exception as problem:
        raise _build_plugin_error(
            entry_point, f"the plugin cannot be imported: {type(problem).__name__}: {problem}"
        ) from problem
    own = __name__.partition(".")[0]
    if not isclass(plugin) or not any(
        one.__module__.startswith(f"{own}.") for one in plugin.__mro__
    ):
        raise _build_plugin_error(
            entry_point,
            f"{plugin!r} is not a plugin",
            "a class derived from a plugin base class of rowkey",
        )
    if isabstract(plugin):
        missing = ", ".join(sorted(getattr(plugin, "__abstractmethods__", ())))
        raise _build_plugin_error(
            entry_point,
            f"{plugin.__name__} does not define {missing}",
            "a class without abstract methods",
        )
    name = _get_plugin_name(plugin)
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        allowed = "lower-case letters, digits and _"
        raise _build_plugin_error(
            entry_point, f"the plugin name of {plugin.__name__} is {name!r}", allowed
        )
    return plugin


def _get_plugin_name(plugin: type[Any]) -> Any:
    """Return the name of a plugin class; None if it has no name."""
    return getattr(plugin, "name", None)


def _build_plugin_error(
    entry_point: EntryPoint,
    problem: str,
    expected: str = "",
    remedy: str = "Fix or uninstall the package that offers it.",
) -> Unavailable:
    """Return the error of an entry point whose plugin cannot be used."""
    return Unavailable(
        f"entry point {ENTRY_POINT_GROUP}, {entry_point.name} = {entry_point.value}",
        problem,
        expected,
        remedy,
    )
