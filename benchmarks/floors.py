"""What bounds each row of arrays and of spins on a GPU: time over copies, and counters of kernels.

    python -m benchmarks.floors --row random-10 --row ising [--no-counters] [-o FILE.json]

For each row: captured milliseconds, the bytes that must move at least once, and floors, which are
that time over the time of copying as many bytes. Where NVIDIA's profiler ``ncu`` is installed, for
each kernel: time, bytes of the GPU's memory, instructions of a lane an element, how many of 32
lanes are at work in one, and the share of issue slots that are taken.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from conncomp import generate
from conncomp.bench.devices import Cuda
from conncomp.grid.labeller import Labeller
from conncomp.models import Potts

ROUNDS = 21
CRITICAL_BETA = {2: np.log1p(np.sqrt(2)), 3: 0.44330926}  # of q = 2 states
SPIN_BYTES = 0.25  # a bit is read, and one is written
END = "end_of_row"  # the kernel that ends each row under the profiler
METRICS = {
    "ms": "gpu__time_duration.sum",
    "read": "dram__bytes_read.sum",
    "written": "dram__bytes_write.sum",
    "instructions": "smsp__thread_inst_executed.sum",
    "warp_instructions": "smsp__inst_executed.sum",
    "issued": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
SIZES = {"4096²": (4096,) * 2, "16384²": (16384,) * 2, "256³": (256,) * 3, "512³": (512,) * 3}
PERCENTS = {2: (10, 50, 60, 90), 3: (5, 10, 30, 50, 90)}


class Row(NamedTuple):
    """What is measured: a call, the elements that it labels or updates, the bytes it must move."""

    call: Callable[[], Any]
    elements: int
    bytes: float
    captured: bool = True


def labelled(make, background=0, connectivity=None, dtype="u1", numbering="roots"):
    """Return the row of labels of an array."""
    values = make(device="cuda").astype(dtype)
    labeller = Labeller(values.shape, dtype, background, connectivity, numbering=numbering)
    out = labeller(values)
    size = values.dtype.itemsize + out.itemsize
    return Row(lambda: labeller(values, out), values.size, values.size * size)


def swept(shape, replicas=1):
    """Return the row of an update of spins at the critical point."""
    beta = CRITICAL_BETA[len(shape)]
    model = Potts(shape, q=2, beta=beta, replicas=replicas, seed=1, device="cuda")
    model.swendsen_wang(30, measure=False)
    sites = int(np.prod(shape)) * replicas
    update = partial(model.swendsen_wang, 1, measure=False)
    return Row(update, sites, sites * SPIN_BYTES, captured=False)


def every_row():
    """Return a function that makes each row, by its name."""
    rows = {}
    for size, shape in SIZES.items():
        noise = partial(partial, generate.random_array, shape)
        for percent in PERCENTS[len(shape)]:
            rows[f"{size}/random-{percent}"] = partial(labelled, noise(percent / 100))
        rows[f"{size}/blobs"] = partial(labelled, partial(generate.blobs, shape))
        if len(shape) == 3:
            rows[f"{size}/random-30/6"] = partial(labelled, noise(0.3), connectivity=1)
            continue
        for make in (
            generate.patterns.rings,
            generate.patterns.comb,
            generate.patterns.checkerboard,
            generate.patterns.all_equal,
        ):
            rows[f"{size}/{make.__name__}"] = partial(labelled, partial(make, shape))
        rows[f"{size}/spiral"] = partial(labelled, partial(generate.patterns.spiral, shape[0]))
        rows[f"{size}/random-50/4"] = partial(labelled, noise(0.5), connectivity=1)
        rows[f"{size}/random-50/consecutive"] = partial(
            labelled, noise(0.5), numbering="consecutive"
        )
        rows[f"{size}/random-50/all"] = partial(labelled, noise(0.5), background=255)
        rows[f"{size}/values-3"] = partial(labelled, noise(1, values=3), dtype="i4")
        rows[f"{size}/values-2-and-0"] = partial(labelled, noise(2 / 3, values=2), dtype="i4")
        rows[f"{size}/values-8"] = partial(labelled, noise(1, values=8, block=8), dtype="i4")
    rows["ising/16384²"] = partial(swept, (16384, 16384))
    rows["ising/512³"] = partial(swept, (512,) * 3)
    rows["ising/4096²"] = partial(swept, (4096, 4096))
    rows["ising/256³"] = partial(swept, (256,) * 3)
    rows["ising/4096 x 64²"] = partial(swept, (64, 64), 4096)
    return rows


def chosen(patterns):
    """Return the rows whose names have one of some parts."""
    rows = every_row()
    return {name: rows[name] for name in rows if any(part in name for part in patterns or [""])}


def timed(device, make, rate):
    """Return milliseconds, bytes and floors of a row."""
    with device.current():
        row = make()
        device.warm_up(row.call)
        call = device.capture(row.call) if row.captured else row.call
        device.warm_up(call)
        seconds = statistics.median(device.seconds(call) for _ in range(ROUNDS))
        return {
            "ms": 1e3 * seconds,
            "ns_an_element": 1e9 * seconds / row.elements,
            "elements": row.elements,
            "bytes": row.bytes,
            "floors": seconds * rate / row.bytes,
        }


def run_under_profiler(rows):
    """Call each row once more, which is what the profiler sees of this process."""
    import cupy

    end = cupy.ElementwiseKernel("", "int32 x", "x = 0", END)
    device, mark = Cuda(), cupy.zeros(1, np.int32)
    for make in rows.values():
        with device.current():
            row = make()
            for _ in range(3):
                row.call()
            device.stream.synchronize()
            cupy.cuda.profiler.start()
            row.call()
            end(mark)
            device.stream.synchronize()
            cupy.cuda.profiler.stop()


def counted(names):
    """Return the counters of the kernels of rows, by name; none where there is no profiler."""
    profiler = shutil.which("ncu", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if profiler is None:
        print("without counters: there is no ncu on the path of programs")
        return {}
    arguments = [
        profiler,
        *("--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"),
        *("--profile-from-start", "off", "--metrics", ",".join(METRICS.values())),
        *(sys.executable, "-m", "benchmarks.floors", "--under-profiler"),
    ]
    for name in names:
        arguments += ["--row", name]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"without counters: {(done.stdout + done.stderr)[-2000:]}")
        return {}
    return dict(zip(names, kernels_of_rows(done.stdout), strict=True))


def kernels_of_rows(text):
    """Return, for each row, kernels and their counters, of the profiler's table."""
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    rows, kernels = [], []
    for line in csv.DictReader(lines[start:]):
        if not line["ID"].isdigit():
            continue  # units
        if line["Kernel Name"].startswith(END):
            rows.append(kernels)
            kernels = []
            continue
        counters = {name: float(line[metric].replace(",", "")) for name, metric in METRICS.items()}
        counters["ms"] /= 1e6
        kernel = line["Kernel Name"].split("(")[0].split("<")[0].split("::")[-1]
        kernels.append({"kernel": kernel.removeprefix("void "), **counters})
    return rows


def line_of_kernel(counters, elements):
    """Return what the counters of a kernel say."""
    lanes = counters["instructions"] / counters["warp_instructions"]
    return (
        f"    {counters['kernel']:16} {counters['ms']:8.4f} ms"
        f"  {counters['read'] / elements:6.2f} + {counters['written'] / elements:.2f} B"
        f"  {counters['instructions'] / elements:7.1f} instructions by {lanes:4.1f} lanes"
        f"  issue slots {counters['issued']:3.0f} %  warps {counters['warps']:3.0f} %"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--row", action="append", help="a part of the names of rows")
    parser.add_argument("--list", action="store_true", help="name the rows, and stop")
    parser.add_argument("--no-counters", action="store_true")
    parser.add_argument("--under-profiler", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    rows = chosen(given.row)
    if given.list:
        print("\n".join(rows))
        return
    if given.under_profiler:
        run_under_profiler({name: rows[name] for name in given.row})
        return
    device = Cuda()
    rate = device.copy_rate(1)
    print(f"copies {rate / 1e12:.2f} TB/s")
    record = {}
    for name, make in rows.items():
        row = record[name] = timed(device, make, rate)
        print(
            f"{name:32} {row['ms']:8.4f} ms  {row['ns_an_element']:.5f} ns an element"
            f"  {row['bytes'] / 1e6:8.1f} MB  {row['floors']:5.1f} floors",
            flush=True,
        )
    kernels = {} if given.no_counters else counted(list(record))
    for name, of_row in kernels.items():
        record[name]["kernels"] = of_row
        print(name)
        for counters in of_row:
            print(line_of_kernel(counters, record[name]["elements"]))
    if given.output:
        given.output.write_text(json.dumps({"copy_rate": rate, "rows": record}, indent=1) + "\n")


if __name__ == "__main__":
    main()
