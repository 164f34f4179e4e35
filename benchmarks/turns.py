"""How scripts time functions beside their peers: where, in turns, and what is written of it."""

import json
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import conncomp
from conncomp.bench.devices import DEVICES


class Place(NamedTuple):
    """A machine, a clock, what waits until its work is done, and what copies arrays there."""

    machine: str
    clock: Callable[[], float]
    wait: Callable[[], None]
    copied: Callable[[Any], Any]


def place_on(device, processor_time=False):
    """Return where calls are timed; the time of the processor is taken on the CPU only."""
    described = DEVICES[device]().describe()
    if device == "cpu":
        clock = time.process_time if processor_time else time.perf_counter
        return Place(described["cpu"], clock, lambda: None, lambda array: array)
    import cupy

    wait = cupy.cuda.get_current_stream().synchronize
    return Place(described["gpu"]["name"], time.perf_counter, wait, cupy.asarray)


def host(array):
    """Return an array in main memory."""
    return array.get() if hasattr(array, "get") else array


def gpu_seconds(function):
    """Return how long a call takes, until the current GPU is done."""
    from cupy.cuda import Device

    Device().synchronize()
    start = time.perf_counter()
    function()
    Device().synchronize()
    return time.perf_counter() - start


def medians_in_turns(calls, rounds, place):
    """Return the median of milliseconds of each call; a number as its name is that of threads."""
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            if isinstance(name, int):
                conncomp.set_num_threads(name)
            if sum(seconds[name]) < rounds:  # slow ones: fewer rounds do
                seconds[name].append(_timed(call, place))
    return {name: 1e3 * statistics.median(times) for name, times in seconds.items()}


def _timed(call, place):
    start = place.clock()
    call()
    place.wait()
    return place.clock() - start


def record_of(place, name, labels, task, medians):
    """Return what was measured of an input and a task."""
    threads = [who for who in medians if isinstance(who, int)]
    return {
        "machine": place.machine,
        "input": name,
        "components": int(labels.max()),
        "task": task,
        "threads": threads,
        "ours_ms": [medians[number] for number in threads],
        "peers_ms": {who: ms for who, ms in medians.items() if who not in threads},
    }


def line_of(record):
    """Return our milliseconds by threads, and of each peer how many and what multiple of ours."""
    ours = record["ours_ms"]
    line = f"  {record['task']:27}" + "".join(f" {ms:9.4g} ms" for ms in ours)
    for peer, theirs in record["peers_ms"].items():
        line += f" | {peer} {theirs:.4g} ms: {', '.join(f'{theirs / ms:.2f}' for ms in ours)}"
    return line


def write_records(path, records):
    """Write all records to a file, if one is asked for."""
    if path:
        path.write_text(json.dumps(records, indent=1) + "\n")
