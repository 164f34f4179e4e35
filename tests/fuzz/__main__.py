"""``python -m tests.fuzz``; see the package."""

import argparse
import ast
import itertools
import json
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from .mutate import mutate
from .target import random_case
from .worker import MIB, Worker, find_target

CORPUS = Path(__file__).with_name("corpus")


def main(arguments=None):
    """Fuzz, and return the exit status: 1 if something was found."""
    options = _parse(arguments)
    if options.repeat is not None:
        return _repeat(options)
    begin = time.monotonic()
    counted = _in_processes(options) if options.workers > 1 else _in_this_process(options)
    findings = counted.pop("findings")
    cases = sum(target["cases"] for target in counted["targets"].values())
    if options.report is not None:
        report = {"cases": cases, "wall_seconds": round(time.monotonic() - begin, 1)}
        report |= counted | {"findings": findings}
        options.report.write_text(json.dumps(report, indent=1) + "\n")
    print(f"{cases} cases, {len(findings)} findings")
    for found in findings:
        command = [sys.executable, "-m", "tests.fuzz", "--target", found["target"]]
        command += ["--repeat", found["path"]]
        print(f"{found['target']}: {found['verdict']}\n  {shlex.join(command)}")
    return 1 if findings else 0


def _in_this_process(options):
    """Fuzz each target in turn; return what a report says."""
    names = options.target or _all_names()
    findings, counts = {}, {name: {"cases": 0, "seconds": 0.0} for name in names}
    try:
        # Each target has its share of the time, or of the cases.
        for name in names:
            _fuzz(name, options, len(names), findings, counts[name])
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
    return {
        "seeds": [options.seed],
        "targets": counts,
        "findings": [
            {"target": name, "signature": signature, "verdict": verdict, "path": str(path)}
            for (name, signature), (verdict, path) in findings.items()
        ],
    }


def _all_names():
    from .targets import TARGETS  # which takes seconds

    return list(TARGETS)


def _in_processes(options):
    """Fuzz in processes that differ in their seeds; return the sum of what they report."""
    seeds = range(options.seed, options.seed + options.workers)
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as folder:
        reports = [Path(folder, f"{seed}.json") for seed in seeds]
        processes = [
            subprocess.Popen(
                _command_of(options, seed, report), stdout=subprocess.DEVNULL, stderr=sys.stderr
            )
            for seed, report in zip(seeds, reports, strict=True)
        ]
        try:
            for process in processes:
                process.wait()
        except KeyboardInterrupt:  # then each ends with what it has found
            for process in processes:
                process.send_signal(signal.SIGINT)
                process.wait()
        if any(process.returncode not in (0, 1) for process in processes):
            raise RuntimeError("a process ended without a report; see above")
        parts = [json.loads(report.read_text()) for report in reports]
    targets, findings = {}, {}
    for part in parts:
        for name, counts in part["targets"].items():
            total = targets.setdefault(name, {"cases": 0, "seconds": 0.0})
            for key, value in counts.items():
                total[key] = round(total[key] + value, 1)
        for found in part["findings"]:
            findings.setdefault((found["target"], found["signature"]), found)
    return {"seeds": list(seeds), "targets": targets, "findings": list(findings.values())}


def _command_of(options, seed, report):
    """Return the command line of one of several processes."""
    command = [sys.executable, "-m", "tests.fuzz", "--seed", str(seed), "--report", str(report)]
    for name in ("seconds", "cases", "findings", "case-seconds", "case-mib"):
        value = getattr(options, name.replace("-", "_"))
        command += [] if value is None else [f"--{name}", str(value)]
    for name in options.target or ():
        command += ["--target", name]
    return command


def _parse(arguments):
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--cases", type=int, help="for each target, instead of --seconds")
    parser.add_argument(
        "--target", action="append", help="one of targets.py, or module:name; may be repeated"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--workers", type=int, default=1, help="processes at once, of the seeds from --seed on"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write cases and findings as JSON"
    )
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="run one case again")
    parser.add_argument("--case-seconds", type=float, default=10, help="limit of time of a case")
    parser.add_argument("--case-mib", type=int, default=1024, help="limit of memory of a case")
    options = parser.parse_args(arguments)
    if options.repeat is not None and not options.target:
        options.target = [options.repeat.parent.name]
    for name in options.target or ():
        try:
            find_target(name)
        except (AttributeError, ImportError, LookupError, ValueError):
            parser.error(f"there is no target {name!r}; there are {', '.join(_all_names())}")
    return options


def _worker(name, options):
    return Worker(name, options.case_seconds, options.case_mib * MIB)


def _repeat(options):
    (name,) = options.target
    with _worker(name, options) as worker:
        verdict = worker.run(read_case(options.repeat))
    print(verdict or "nothing is wrong")
    return int(verdict is not None)


def _fuzz(name, options, shares, findings, counts):
    """Run one target, and add to findings and counts."""
    seconds = float("inf") if options.cases is not None else options.seconds / shares
    with _worker(name, options) as worker:
        begin = shown = time.monotonic()
        for number, data in enumerate(_cases(name, options.seed)):
            now = time.monotonic()
            counts["cases"], counts["seconds"] = number, round(now - begin, 1)
            if now - shown > 1 and sys.stderr.isatty() and options.workers == 1:
                shown = now
                print(f"\r{name}: {number} cases, {len(findings)} found ", end="", file=sys.stderr)
            if now - begin > seconds or number == options.cases:
                break
            verdict = worker.run(data)
            if verdict is None or (name, _signature(verdict)) in findings:
                continue
            key = name, _signature(verdict)
            path = options.findings / name / f"{options.seed}-{number}.txt"
            findings[key] = verdict, path
            write_case(path, data, verdict)
            write_case(path, _minimise(worker, data, key[1]), verdict)
            print(f"\r{name}: {verdict}: {path}", file=sys.stderr)
    rate = number / max(time.monotonic() - begin, 1e-9)
    print(f"\r{name}: {number} cases, {rate:.0f} a second", file=sys.stderr)


def _cases(name, seed):
    """Yield the corpus, the seeds, and then mutants of both; the same for the same `seed`.

    Every other case is drawn anew, if such are cases of the target.
    """
    target = find_target(name)
    pool = [read_case(path) for path in sorted((CORPUS / name).glob("*.txt"))]
    pool += target.seeds()
    yield from pool
    source = random.Random(zlib.crc32(f"{seed} {name}".encode()))
    for number in itertools.count():
        if target.drawn and number % 2:
            yield random_case(source)
        else:
            yield mutate(source, source.choice(pool), pool)


def _signature(verdict):
    """Return what two verdicts on the same mistake have in common."""
    kind = ":".join(verdict.split(":")[:2]) if ": " in verdict else verdict
    return re.sub(r"\d+", "N", kind) + verdict[verdict.rfind(" at ") :]


def _minimise(worker, data, signature, seconds=20):
    """Return a shorter case of the same signature: without what can be left out."""
    end = time.monotonic() + seconds
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data):
            if time.monotonic() > end:
                return data
            shorter = data[:at] + data[at + size :]
            verdict = worker.run(shorter)
            if verdict is not None and _signature(verdict) == signature:
                data = shorter
            else:
                at += size
        size //= 2
    return data


def read_case(path):
    """Return the bytes of a case: comments, and a Python literal."""
    return ast.literal_eval(path.read_text("ascii"))


def write_case(path, data, comment):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {ascii(comment)[1:-1]}\n{data!r}\n", "ascii")


if __name__ == "__main__":
    raise SystemExit(main())
