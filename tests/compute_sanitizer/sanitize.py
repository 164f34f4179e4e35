"""Runs NVIDIA's compute-sanitizer on all kernels, in parts side by side: ``sanitize.py FOLDER``.

Writes FOLDER/summary.json, and FOLDER/reports.txt with all that was found. It ends in time,
whatever parts fail or take too long. The exit code is 0 if all parts passed under all tools.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import NamedTuple

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))  # as for pytest
from compute_sanitizer.everything import PARTS  # noqa: E402
from specialisations import template_of, templates  # noqa: E402

EVERYTHING = Path(__file__).with_name("everything.py")
FOUND = 86  # the exit code of what has found something
TOOLS = "racecheck", "memcheck"  # the slowest first
REPORTED = 20_000  # characters of what a part wrote

KERNEL = """
import cupy
cupy.cuda.set_allocator(None)
kernel = cupy.RawKernel(r'''
extern "C" __global__ void f(int* x) {
  __shared__ int shared[64];
  shared[threadIdx.x] = int(threadIdx.x);
  %s
}''', "f")
kernel((1,), (64,), (cupy.zeros(64, "i4"),))
cupy.cuda.runtime.deviceSynchronize()
"""
BARRIER = "__syncthreads();"
RIGHT = BARRIER + "x[threadIdx.x] = shared[63 - threadIdx.x];"
# What works on entries of shared memory at once does so by atomic functions, as `InBlock` then.
ATOMIC = BARRIER + "atomicMin(shared, -int(threadIdx.x)); x[threadIdx.x] = atomicOr(shared, 0);"
WRONG = {
    "memcheck": BARRIER + "x[threadIdx.x + 1] = shared[63 - threadIdx.x];",
    "racecheck": "x[threadIdx.x] = shared[63 - threadIdx.x];",
}
SUMMARIES = r"ERROR SUMMARY: (\d+) error", r"RACECHECK SUMMARY: (\d+) hazard"


def find_sanitizer():
    """Return the path of compute-sanitizer, or None: on PATH, in CUDA's folder, or in a package."""
    roots = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    folders = [Path(root, "bin") for root in (*roots, "/usr/local/cuda")]
    folders += sorted(Path("/usr/local").glob("cuda-*/bin"), reverse=True)
    path = os.pathsep.join(map(str, (os.environ.get("PATH", ""), *folders)))
    if found := shutil.which("compute-sanitizer", path=path):
        return found
    for file in sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/**/compute-sanitizer")):
        if file.is_file() and os.access(file, os.X_OK):
            return str(file)
    return None


def run(command, seconds):
    """Run a command; return its exit code, None if it took too long, and what it wrote."""
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    few_threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}  # of many processes
    with TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            env=os.environ | few_threads | {"PYTHONPATH": path},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            for number in (*descendants(process.pid), process.pid):  # the tool has started others
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            process.wait()
            code = None
        output.seek(0)
        return code, output.read().decode(errors="replace")


def descendants(process):
    """Yield the numbers of processes that one has started, and those that these have."""
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, file.read_text().split()):
                yield from descendants(child)
                yield child


def under(tool, *command):
    """Return the command that runs Python under a tool, or under none."""
    python = sys.executable, *map(str, command)
    if tool is None:
        return python
    # CuPy's own kernels are not ours to judge: racecheck warns of its `nonzero`.
    options = (f"--tool={tool}", f"--error-exitcode={FOUND}", "--kernel-name-exclude=kns=cupy_")
    return (str(find_sanitizer()), *options, *python)


def run_part(part, tool, launched, seconds):
    """Run a part under a tool, or under none; return what `run` does."""
    build = ["--racecheck"] if tool == "racecheck" else []
    return run(under(tool, EVERYTHING, part, "--launched", launched, *build), seconds)


def count_errors(output):
    """Return how many errors or hazards a tool reports, or None if it does not come to that."""
    counts = [int(number) for pattern in SUMMARIES for number in re.findall(pattern, output)]
    return max(counts, default=None)


class Outcome(NamedTuple):
    """What became of a part under a tool."""

    part: str
    tool: str  # "none": answers are checked, and compiled kernels are kept for later
    outcome: str  # passed, errors, failed, timed out, not run
    errors: int | None = None  # that the tool found; None if it did not come to its summary
    kernels: Sequence[str] = ()  # the templates that were launched, each with its file
    seconds: float = 0.0
    output: str = ""


def attempt(part, tool, seconds):
    """Run a part, and return its `Outcome`."""
    if seconds < 1:
        return Outcome(part, tool or "none", "not run")
    start = monotonic()
    with TemporaryDirectory() as folder:
        launched = Path(folder, "launched")
        code, output = run_part(part, tool, launched, seconds)
        names = launched.read_text().splitlines() if launched.exists() else []
    errors = count_errors(output)
    if code is None:
        outcome = "timed out"
    elif errors or code == FOUND:
        outcome = "errors"
    else:
        outcome = "passed" if code == 0 and "everything ran" in output else "failed"
    kernels = sorted({template_of(name) for name in names})
    took = round(monotonic() - start, 1)
    return Outcome(part, tool or "none", outcome, errors, kernels, took, output)


def probe(tool, seconds):
    """Say in words why a tool is of no use here, or return None."""
    if find_sanitizer() is None:
        return "compute-sanitizer is neither on PATH, in /usr/local/cuda*/bin, nor in a package"
    for right in (RIGHT, ATOMIC):
        code, output = run(under(tool, "-c", KERNEL % right), seconds)
        if code != 0:
            return f"a kernel that is right ends with {code}: {output[-1000:]}"
    if tool in WRONG:
        code, output = run(under(tool, "-c", KERNEL % WRONG[tool]), seconds)
        if code != FOUND:
            return f"a mistake that was planted is not found, but {code}: {output[-1000:]}"
    return None


def sanitize(parts, tools, seconds, jobs):
    """Run parts under tools, within so many seconds; return outcomes, and why tools are left out.

    First all parts run without a tool, in a third of the time: that says whether their answers are
    right, and leaves compiled kernels for later.
    """
    start = monotonic()
    with ThreadPoolExecutor(jobs) as pool:

        def attempt_all(tasks, limit):
            def left(task):
                return attempt(*task, start + limit - monotonic())

            return [pool.submit(left, task) for task in tasks]

        probes = [pool.submit(probe, tool, seconds / 4) for tool in tools]
        plain = attempt_all([(part, None) for part in parts], seconds / 3)
        outcomes = [future.result() for future in plain]
        unusable = dict(zip(tools, (future.result() for future in probes), strict=True))
        # Those that take longest begin, so that none is left for the end.
        longest = sorted(outcomes, key=lambda outcome: -outcome.seconds)
        tasks = [(o.part, tool) for tool in tools if not unusable[tool] for o in longest]
        outcomes += [future.result() for future in attempt_all(tasks, seconds)]
    return outcomes, {tool: why for tool, why in unusable.items() if why}


def summary_of(outcomes, unusable, every_kernel):
    """Return what becomes JSON."""
    tools = dict.fromkeys(outcome.tool for outcome in outcomes)
    covered = {
        tool: set().union(
            *(o.kernels for o in outcomes if o.tool == tool and o.outcome == "passed")
        )
        for tool in tools
    }
    return {
        "sanitizer": find_sanitizer(),
        "tools that do not work here": unusable,
        "kernels": len(every_kernel),
        "kernels in parts that passed": {tool: len(names) for tool, names in covered.items()},
        "kernels left out": {tool: sorted(every_kernel - names) for tool, names in covered.items()},
        "parts": [
            {
                **{name: getattr(o, name) for name in ("part", "tool", "outcome", "errors")},
                "kernels": len(o.kernels),
                "seconds": o.seconds,
                **({} if o.outcome == "passed" else {"end": o.output[-1500:]}),
            }
            for o in outcomes
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where summary.json and reports.txt are written")
    parser.add_argument("--seconds", type=float, default=480, help="how long all may take")
    parser.add_argument("--jobs", type=int, default=16, help="how many parts run side by side")
    parser.add_argument("--tools", nargs="+", default=TOOLS, help="of compute-sanitizer")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    outcomes, unusable = sanitize(asked.parts, asked.tools, asked.seconds, asked.jobs)
    summary = summary_of(outcomes, unusable, templates())
    (asked.folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    reports = [
        f"==== {o.part}, {o.tool}: {o.outcome}\n{shortened(o.output)}\n"
        for o in outcomes
        if o.outcome != "passed"
    ]
    (asked.folder / "reports.txt").write_text("\n".join(reports))
    for o in outcomes:
        print(f"{o.part:32} {o.tool:10} {o.outcome:10} {o.errors} errors, {o.seconds} s")
    for tool, why in unusable.items():
        print(f"{tool} does not work here: {why}")
    print("kernels in parts that passed:", summary["kernels in parts that passed"])
    sys.exit(bool(unusable) or any(o.outcome != "passed" for o in outcomes))


def shortened(output):
    """Return the begin and the end of what was written, where the first and the last errors are."""
    if len(output) <= REPORTED:
        return output
    return f"{output[: REPORTED // 2]}\n[...]\n{output[-REPORTED // 2 :]}"


if __name__ == "__main__":
    main()
