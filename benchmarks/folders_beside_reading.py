"""Times `conncomp measure` of a folder of PNG beside reading and decoding the same files.

    python benchmarks/folders_beside_reading.py [--files 100] [--rounds 5] [--workers 2] [--cpu]

Files are of 1920 x 1080 pixels of 8 bits: cells as discs with noise of a camera, so that a file has
2 MB. Both read with as many threads, in turns; the ratio is that of times in one round. Reading is
what Pillow makes arrays by, with nothing else; measuring is the whole command within this process:
Otsu's threshold, labels, sizes, boxes, centroids and intensities, and the table in Parquet. What
the command takes to start, a second at most, is left out, as it is of 1,000 files.
"""

import argparse
import statistics
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


def measure_all(folder, workers):
    """Measure all files by the command."""
    words = ["measure", str(folder), "--threshold", "otsu", "-o", str(folder / "cells.parquet")]
    words += ["--workers", str(workers), "--threads", str(workers)]
    result = click.testing.CliRunner().invoke(command, words)
    assert result.exit_code == 0, result.output
    return result.output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cpu", action="store_true", help="processor time of all threads")
    chosen = parser.parse_args()
    clock = time.process_time if chosen.cpu else time.perf_counter
    with tempfile.TemporaryDirectory() as name:
        folder, random = Path(name), np.random.default_rng(0)
        for k in range(chosen.files):
            Image.fromarray(picture(random)).save(folder / f"{k}.png")
        paths = sorted(folder.glob("*.png"))
        print(f"{sum(path.stat().st_size for path in paths) / len(paths) / 1e6:.2f} MB a file")
        print(measure_all(folder, chosen.workers))
        ratios, reading, measuring = [], [], []
        for _ in range(chosen.rounds):
            begin = clock()
            read_all(paths, chosen.workers)
            between = clock()
            measure_all(folder, chosen.workers)
            reading.append(between - begin)
            measuring.append(clock() - between)
            ratios.append(measuring[-1] / reading[-1])
    for what, seconds in (("reading", reading), ("measuring", measuring)):
        print(f"{what:10} {1e3 * statistics.median(seconds) / chosen.files:7.2f} ms a file")
    print(
        f"ratio {statistics.median(ratios):.2f}, of rounds {', '.join(f'{r:.2f}' for r in ratios)}"
    )


if __name__ == "__main__":
    main()
