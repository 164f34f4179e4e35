"""Measurements: what was run, how long it took, and what that says."""
