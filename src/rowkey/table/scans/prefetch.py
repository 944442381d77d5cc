"""Several ranges read at the same time: one item of each ahead, by threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from contextlib import ExitStack

T = TypeVar("T")


def read_ahead(runs: Sequence[Iterator[T]], threads: int, stack: ExitStack) -> list[Iterator[T]]:
    """The same items, each run one item ahead of what was asked of it.

    Args:
        runs: each is moved on by one thread at a time.
        threads: how many are moved on at once; 1 reads none ahead and starts no thread.
        stack: when it closes, what is being read is waited for, and no more is read.

    Raises:
        Exception: what a run raises, where its item would have come.

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
    """Each run with its first item on the way."""
    return [(run, pool.submit(_read_item, run)) for run in runs]


def _iterate_run(
    started_run: tuple[Iterator[T], Future[list[T]]], pool: ThreadPoolExecutor
) -> Iterator[T]:
    run, waiting = started_run
    while item := waiting.result():
        waiting = pool.submit(_read_item, run)
        yield from item


def _read_item(run: Iterator[T]) -> list[T]:
    """The next item of a run, if there is one: a StopIteration would be lost on its way."""
    for item in run:
        return [item]
    return []
