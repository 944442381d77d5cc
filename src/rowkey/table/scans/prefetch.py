"""Read several ranges at the same time by threads, one item of each ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

T = TypeVar("T")


def read_ahead(runs: Sequence[Iterator[T]], threads: int, stack: ExitStack) -> list[Iterator[T]]:
    """Return iterators over the same items that threads read one item ahead.

    Args:
        runs: the iterators to read; each is advanced by one thread at a time.
        threads: how many are advanced at once; 1 reads nothing ahead and starts no thread.
        stack: when it closes, reads under way are waited for, and nothing more is read.

    Raises:
        Exception: what a run raises, in place of its item.

    >>> from contextlib import ExitStack
    >>> with ExitStack() as opened:
    ...     [list(run) for run in read_ahead([iter("ab"), iter("c")], 2, opened)]
    [['a', 'b'], ['c']]
    """
    if threads == 1 or len(runs) < 2:
        return list(runs)
    pool = ThreadPoolExecutor(min(threads, len(runs)), "rowkey-scan")
    stack.callback(pool.shutdown, wait=True, cancel_futures=True)
    return [_iterate_run(run, pool) for run in _start_runs(runs, pool)]


def _start_runs(
    runs: Sequence[Iterator[T]], pool: ThreadPoolExecutor
) -> list[tuple[Iterator[T], Future[list[T]]]]:
    """Start to read the first item of each run; return each run with its pending item."""
    return [(run, pool.submit(_read_item, run)) for run in runs]


def _iterate_run(
    started_run: tuple[Iterator[T], Future[list[T]]], pool: ThreadPoolExecutor
) -> Iterator[T]:
    """Yield the items of a run, the next of which a thread reads meanwhile."""
    run, pending = started_run
    while item := pending.result():
        pending = pool.submit(_read_item, run)
        yield from item


def _read_item(run: Iterator[T]) -> list[T]:
    """Return a list with the next item of a run, empty at its end."""
    for item in run:
        return [item]
    return []
