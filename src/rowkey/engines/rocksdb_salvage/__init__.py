"""Examines, repairs and saves damaged tables."""
