from pathlib import Path

# Imports from the folder above, which works for `python -m tests.bits`; there are no doctests.
collect_ignore = [
    path.name for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_")
]
