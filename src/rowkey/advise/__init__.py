"""What would be better: a first design from a sample."""

from rowkey.advise.draft import Draft, first_draft

__all__ = ["Draft", "first_draft"]
