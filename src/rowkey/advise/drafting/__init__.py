"""A first design file from a sample: what was seen, a key tried on it, and why."""

from rowkey.advise.drafting.draft import Draft, first_draft

__all__ = ["Draft", "first_draft"]
