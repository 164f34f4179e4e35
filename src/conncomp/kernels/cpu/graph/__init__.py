"""Algorithms on graphs."""
