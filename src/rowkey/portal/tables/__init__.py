"""Stored tables in the portal: rows, engines, and long steps on them."""
