"""Times `conncomp measure` of a folder of PNG beside reading and decoding the same files.

    python benchmarks/folders_beside_reading.py [--files 100] [--rounds 5] [--workers 2] [--cpu]

Files are of 1920 x 1080 pixels of 8 bits: cells as discs with noise of a camera, so that a file has
1.4 MB. Both read with as many threads, each in processes of its own, in turns: what one of them
leaves of memory is of use to the other. The ratio is that of times in one round. Reading is what
Pillow makes arrays by, with nothing else; measuring is the whole command: Otsu's threshold, labels,
sizes, boxes, centroids and intensities, and the table in Parquet. What a process takes to start, a
second at most, is left out, as it is nothing of 1,000 files: each reads two files before.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click.testing
import numpy as np
from PIL import Image

from conncomp.cli._command import command

SHAPE, PITCH = (1080, 1920), 40


def picture(random):
    """Return discs of 8 to 16 pixels, one in each square, with the noise of a camera."""
    rows, columns = np.indices(SHAPE)
    squares = rows // PITCH, columns // PITCH
    radii = random.uniform(8, 16, (SHAPE[0] // PITCH + 1, SHAPE[1] // PITCH + 1))[squares]
    inside = np.hypot(rows % PITCH - PITCH / 2, columns % PITCH - PITCH / 2) < radii
    noisy = np.where(inside, 150, 40) + random.normal(0, 6, SHAPE)
    return noisy.clip(0, 255).astype(np.uint8)


def read_all(paths, workers):
    """Read and decode all files, by so many threads."""

    def read(path):
        with Image.open(path) as image:
            return np.asarray(image).shape

    with ThreadPoolExecutor(workers) as pool:
        assert set(pool.map(read, paths)) == {SHAPE}


def measure_all(paths, workers):
    """Measure all files by the command."""
    folder = paths[0].parent
    words = ["measure", str(folder), "--threshold", "otsu", "-o", str(folder / "cells.parquet")]
    words += ["--workers", str(workers), "--threads", str(workers)]
    result = click.testing.CliRunner().invoke(command, words)
    assert result.exit_code == 0, result.output


WORK = {"reading": read_all, "measuring": measure_all}


def child(name, folder, workers):
    """Do the work once, after a little of it; print seconds, and those of the processor."""
    WORK[name](sorted((folder / "first").glob("*.png")), workers)
    paths = sorted(folder.glob("*.png"))
    begin = time.perf_counter(), time.process_time()
    WORK[name](paths, workers)
    print(time.perf_counter() - begin[0], time.process_time() - begin[1])


def seconds_of(name, folder, workers, clock):
    """Return what the work takes in a process of its own."""
    words = [sys.executable, __file__, "--child", name, str(folder), str(workers)]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return float(printed.split()[clock])


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cpu", action="store_true", help="processor time of all threads")
    chosen = parser.parse_args()
    seconds = {name: [] for name in WORK}
    with tempfile.TemporaryDirectory() as name:
        folder, random = Path(name), np.random.default_rng(0)
        (folder / "first").mkdir()
        for k in range(chosen.files):
            for place in [folder, folder / "first"][: 1 + (k < 2)]:
                Image.fromarray(picture(random)).save(place / f"{k}.png")
        for _ in range(chosen.rounds):
            for work, taken in seconds.items():
                taken.append(seconds_of(work, folder, chosen.workers, int(chosen.cpu)))
    for work, taken in seconds.items():
        print(f"{work:10} {1e3 * statistics.median(taken) / chosen.files:7.2f} ms a file")
    ratios = [b / a for a, b in zip(*seconds.values(), strict=True)]
    print(
        f"ratio {statistics.median(ratios):.2f}, of rounds {', '.join(f'{r:.2f}' for r in ratios)}"
    )
    return None


if __name__ == "__main__":
    main()
