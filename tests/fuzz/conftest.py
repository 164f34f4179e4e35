# Imports from the folder above, which works for `python -m tests.fuzz`; it has no doctests.
collect_ignore = ["targets.py"]
