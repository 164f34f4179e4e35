"""Times labelling with one thread and with all, beside processes that keep every processor busy.

A thread that waits for another which is not running loses whole time slices, so two threads on a
busy machine can be slower than one. Those of conncomp must not: ``python
benchmarks/busy_machine.py`` prints medians, and the ratio, on an idle machine and on a busy one.
"""

import multiprocessing
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

import conncomp
from conncomp import generate

SIDES = (256, 1024, 4096)
SECONDS = 3.0


def compute_for_ever() -> None:
    """Keep a processor busy."""
    while True:
        pass


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Run so many busy processes meanwhile."""
    workers = [
        multiprocessing.Process(target=compute_for_ever, daemon=True) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def median_times(side: int, threads: tuple[int, ...]) -> list[float]:
    """Return the median time in milliseconds for each number of threads, which take turns."""
    image = generate.random_array((side, side), density=0.5, seed=1)
    times: dict[int, list[float]] = {count: [] for count in threads}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or min(map(len, times.values())) < 3:
        for count in threads:
            conncomp.set_num_threads(count)
            start = time.perf_counter()
            conncomp.label(image)
            times[count].append((time.perf_counter() - start) * 1e3)
    return [statistics.median(times[count]) for count in threads]


def main() -> None:
    """Print the table."""
    processors = multiprocessing.cpu_count()
    print(f"{'machine':8} {'image':>9} {'1 thread':>12} {f'{processors} threads':>12} {'ratio':>6}")
    for machine, processes in (("idle", 0), ("busy", processors)):
        with busy(processes):
            for side in SIDES:
                one, every = median_times(side, (1, processors))
                print(f"{machine:8} {side:>8}² {one:>9.3f} ms {every:>9.3f} ms {one / every:>6.2f}")


if __name__ == "__main__":
    main()
