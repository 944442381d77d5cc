"""How far long work is: a line that is written over on a terminal, or a line of JSON a second."""

from __future__ import annotations

import json
import time

import click


class Progress:
    """Shows how many events are done, at most ten times a second; as JSON once a second.

    Args:
        label: what is being done.
        as_json: whether lines of JSON are written.
    """

    def __init__(self, label: str, *, as_json: bool) -> None:
        self.label = label
        self.as_json = as_json
        self.every_s = 1.0 if as_json else 0.1
        self.started = time.monotonic()
        self.shown = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` are done; a total of 0 is not known."""
        now = time.monotonic()
        if now - self.shown < self.every_s and (done < total or not total):
            return
        self.shown = now
        rate = done / max(now - self.started, 1e-9)
        if self.as_json:
            line = json.dumps({"what": self.label, "done": done, "total": total, "rate": rate})
            click.echo(line, err=True)
            return
        if not total:
            click.echo(f"\r{self.label} {done:,}  {rate / 1e6:.2f} M/s ", nl=False, err=True)
            return
        share = done / total
        left = (total - done) / rate if rate else 0.0
        far = f"{share:4.0%}  {done:,} of {total:,}"
        text = f"\r{self.label} {far}  {rate / 1e6:.1f} M/s  {left:.0f} s left "
        click.echo(text, nl=False, err=True)
        if done >= total:
            click.echo("\r" + " " * len(text) + "\r", nl=False, err=True)
