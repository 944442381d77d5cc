"""A simulation whose causes name the key that the search recommends, once they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

from rowkey.advise.key_remedy import KeyRemedy, needs_another_key
from rowkey.hotspots import CauseFinding, ReadCauseFinding
from rowkey.simulate import Simulation


@dataclass(frozen=True, kw_only=True)
class RemediedSimulation(Simulation):
    """A simulation whose causes name the recommended key, for which they search when first read.

    Args:
        unremedied: the same simulation, whose causes name no key.
        find_remedy: returns the remedy; None if there is none.
    """

    unremedied: Simulation
    find_remedy: Callable[[], KeyRemedy | None]

    @cached_property
    def causes(self) -> Sequence[CauseFinding]:
        """Return the causes of hot spots, the largest first."""
        causes = self.unremedied.causes
        return self._simulation_with_key.causes if needs_another_key(causes) else causes

    @cached_property
    def read_causes(self) -> Mapping[str, Sequence[ReadCauseFinding]]:
        """Return why servers have much to do for each read that can be run, by its name."""
        causes = self.unremedied.read_causes
        return (
            self._simulation_with_key.read_causes
            if any(map(needs_another_key, causes.values()))
            else causes
        )

    @cached_property
    def _simulation_with_key(self) -> Simulation:
        """Return the simulation with the key that the search recommends."""
        remedy = self.find_remedy()
        return self.unremedied if remedy is None else remedy.complete_simulation(self.unremedied)


def complete_simulation(
    simulation: Simulation, find_remedy: Callable[[], KeyRemedy | None]
) -> Simulation:
    """Return a simulation whose causes name the recommended key where one is needed."""
    if not needs_another_key(simulation.causes) and not any(
        map(needs_another_key, simulation.read_causes.values())
    ):
        return simulation
    known = {
        name: value
        for name, value in vars(simulation).items()
        if name not in ("causes", "read_causes")
    }
    arguments = {one.name: known[one.name] for one in fields(Simulation)}
    completed = RemediedSimulation(**arguments, unremedied=simulation, find_remedy=find_remedy)
    vars(completed).update(known)
    return completed
