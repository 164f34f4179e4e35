"""Bits of a thousand calls whose results no reference gives, and errors of all public functions.

Trajectories, files, layouts of chunks and generated inputs are as they were recorded.

A file per theme, such as `spins.py`, has a table `CALLS`, which `inputs.tables` reads, and
generators `_of_...` of pairs of a key in words and a function of no arguments.
`recorded/THEME.json` holds, by key, twelve hexadecimal digits of the canonical form of the result,
or the class of the error. Bits that differ are a change of behaviour.
Only where CHANGELOG names this change record again: ``python -m tests.bits --record THEME``.
"""
