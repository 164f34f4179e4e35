"""What the assembler of CUDA 12.8 to 13.3 makes a wrong instruction of, which no kernel has.

It takes ``min(x, k)``, the larger of that and 0, and whether the result is ``k``, for one
instruction of GPUs of 9.0, before 13.1 also of those of 10.0: VIMNMX.RELU with a predicate, which
says the opposite. On an H200, compiled by NVRTC 13.0, ``clamp(x) == 8`` was true for 0 to 7 and
false from 9 on; with the code of 13.5 it was right. The lengths of bricks were such clamps once:
labels of arrays that cut tiles off were wrong, and others from one run to the next, as tiles wrote
beyond the ends of rows.
"""

import re

REGISTER = r"(%r\d+)"
LESSER = re.compile(rf"min\.s32\s+{REGISTER}, {REGISTER}, (%r\d+|\d+);")
CLAMPED = re.compile(rf"max\.s32\s+{REGISTER}, {REGISTER}, 0;")
COMPARED = re.compile(r"setp\.(?:eq|ne)\.[su]32\s+%p\d+, (%r\d+), (%r\d+|\d+);")


def wrong_clamps(ptx):
    """Return the comparisons that the assembler makes a part of a clamp."""
    found, bounds, clamped = [], {}, {}
    for line in ptx.splitlines():
        if ".entry" in line or ".func" in line:  # registers begin anew
            bounds, clamped = {}, {}
        if match := LESSER.search(line):
            lesser, *of = match.groups()
            bounds[lesser] = {bound for bound in of if bound}
        elif match := CLAMPED.search(line):
            clamped[match[1]] = bounds.get(match[2], set())
        elif match := COMPARED.search(line):
            a, b = match.groups()
            if b in clamped.get(a, ()) or a in clamped.get(b, ()):
                found.append(line.strip())
    return found
