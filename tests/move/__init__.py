"""Tests of moves from one design to another."""
