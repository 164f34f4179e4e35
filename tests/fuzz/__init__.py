"""Fuzzers as a command: ``python -m tests.fuzz --seconds 60``, from the root of the repository.

A case is a string of bytes. Each target makes of it a file, a call or a command line, and runs it
in a worker process under limits of time and memory. What is found is saved, minimised, under
``--findings``, and run again by ``--repeat FILE``; what was repaired goes to ``corpus/TARGET/``,
which every run starts with: comments, and the case as a Python literal of bytes.
"""

import sys
from pathlib import Path

# The references of ``tests/models`` import each other as pytest has them.
sys.path.insert(0, str(Path(__file__).parents[1]))
