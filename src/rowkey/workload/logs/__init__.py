"""Patterns of log lines."""
