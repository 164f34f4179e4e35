"""What a run of all tests asks the host executor for, so that kernels are compiled a dozen at once.

A kernel that is compiled alone takes twice as long as one of a dozen, which read the same headers.
`asked_for.txt` lists names as a run has asked for them: a sanitizer or "plain" with a kernel file
begin a part, each other line is a name. What it lacks is compiled when it is asked for, and what
nobody asks for any more in vain, so that it is written again now and then, of a run of all tests:

    mkdir names && CONNCOMP_HOST_CUDA_ASKED=$PWD/names python -m pytest -n 2
    python tests/host_cuda/asked_for.py names
"""

import os
import sys
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("asked_for.txt")
# A run of fewer tests does not ask for most of it.
TESTS_OF_ALL = 10_000
# They take a second or two, for which another process may have to wait.
AT_ONCE = 12
USED, KEPT = "CONNCOMP_HOST_CUDA_AHEAD", "CONNCOMP_HOST_CUDA_ASKED"


def look_ahead(number_of_tests):
    """Compile as a run of all tests does, here and in processes for sanitizers, if it is one."""
    if number_of_tests >= TESTS_OF_ALL:
        os.environ[USED] = "1"


def ahead(sanitizer, file):
    """Return the names that tests of this run ask for, if it is one of all tests."""
    return _parts().get(_part(sanitizer, file), ()) if os.environ.get(USED) else ()


def keep(sanitizer, file, names):
    """Write down what is asked for, where there is a folder for it."""
    if folder := os.environ.get(KEPT):
        with Path(folder, str(os.getpid())).open("a", encoding="utf-8") as kept:
            kept.write("\n  ".join([_part(sanitizer, file), *names]) + "\n")


def parts_in(text):
    """Return the names of each part of a list."""
    parts, names = {}, {}
    for line in text.splitlines():
        if line.startswith(" "):
            names[line.strip()] = None
        else:
            names = parts.setdefault(line, {})
    return {part: tuple(names) for part, names in parts.items()}


def listed(text):
    """Return a list in the order of the alphabet, each name once."""
    parts = sorted(parts_in(text).items())
    return "".join("\n  ".join([part, *sorted(names)]) + "\n" for part, names in parts)


def _part(sanitizer, file):
    return f"{sanitizer or 'plain'} {file}"


@cache
def _parts():
    return parts_in(LIST.read_text("utf-8"))


if __name__ == "__main__":
    kept = "".join(path.read_text("utf-8") for path in Path(sys.argv[1]).iterdir())
    LIST.write_text(listed(kept), "utf-8")
