"""Drafts a first design file from a sample, with the reasons of each choice."""

from rowkey.advise.drafts.draft import Draft, draft_design

__all__ = ["Draft", "draft_design"]
