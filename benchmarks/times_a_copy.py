"""Times labelling of images beside a copy of as many bytes as labelling must move.

    python benchmarks/times_a_copy.py [--side 4096] [--threads 2] [--seconds 4]

Labelling an image of bytes must read one byte of each pixel and write four. A copy of half of these
five moves as many: it reads one half and writes the other. It is done by as many threads, in two
processes: in one by ``memcpy`` as it is, in the other by one that streams, that is stores past the
caches, as ``GLIBC_TUNABLES`` tells the C library of GNU (with another both are the same). All take
turns; medians are printed.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median

import numpy as np

import conncomp
from conncomp import generate

STREAMED = {"GLIBC_TUNABLES": "glibc.cpu.x86_non_temporal_threshold=0x10000"}
COPIES = {"plain": {}, "streamed": STREAMED}
LEAST_ROUNDS = 5


def images(side):
    """Yield names and images."""
    yield "noise 10 %", generate.random_array((side, side), 0.1, seed=1)
    yield "noise 50 %", generate.random_array((side, side), 0.5, seed=1)
    yield "blobs", generate.blobs((side, side), seed=1)


def timed(call):
    """Return the milliseconds that a call takes."""
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def copy_when_asked(moved, threads):
    """Copy by threads for each line of the input, and print how long it took."""
    source, target = np.ones(moved // 2, np.uint8), np.zeros(moved // 2, np.uint8)
    sources, targets = np.array_split(source, threads), np.array_split(target, threads)
    with ThreadPoolExecutor(threads) as pool:
        for _ in sys.stdin:
            print(timed(lambda: list(pool.map(np.copyto, targets, sources))), flush=True)


def copier(moved, threads, variables):
    """Start a process that copies; return what asks it for how long one copy takes."""
    command = [sys.executable, __file__, "--copier", str(moved), "--threads", str(threads)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=os.environ | variables, **pipes)

    def ask():
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    return ask


def main():
    """Print milliseconds, and how many copies each image takes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each image")
    parser.add_argument("--copier", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.copier:
        return copy_when_asked(options.copier, options.threads)
    conncomp.set_num_threads(options.threads)
    moved = 5 * options.side**2
    copies = {name: copier(moved, options.threads, added) for name, added in COPIES.items()}
    print(f"times a copy of {moved / 1e6:.0f} MB, {options.threads} threads")
    for name, image in images(options.side):
        labels = np.zeros(image.shape, np.int32)
        label = partial(conncomp.label, image, connectivity=2, out=labels)
        clocks = {"label": partial(timed, label), **copies}
        for ask in clocks.values():
            ask()  # what is done once: memory, threads
        taken = {clock: [] for clock in clocks}
        end = time.perf_counter() + options.seconds
        while len(taken["label"]) < LEAST_ROUNDS or time.perf_counter() < end:
            for clock, ask in clocks.items():
                taken[clock].append(ask())
        ms = {clock: median(times) for clock, times in taken.items()}
        line = f"  {name:11} {ms['label']:6.2f} ms"
        for kind in copies:
            rate = moved / ms[kind] / 1e6
            line += f", {ms['label'] / ms[kind]:.2f} {kind} ({ms[kind]:.2f} ms, {rate:.1f} GB/s)"
        print(line, flush=True)
    return None


if __name__ == "__main__":
    main()
