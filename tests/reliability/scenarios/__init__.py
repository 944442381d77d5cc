"""The objects of the matrix by name, each with the scenario that makes and uses it."""

from importlib import import_module
from pathlib import Path

from reliability.scenarios.contract import Scenario, StoredObject

__all__ = ["OBJECTS", "Scenario", "StoredObject"]

OBJECTS: dict[str, StoredObject] = {
    one.name: one
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if path.stem not in ("__init__", "contract")
    for one in import_module(f"reliability.scenarios.{path.stem}").OBJECTS
}
"""Each object by its name; a module of this folder that has `OBJECTS` adds its own."""
