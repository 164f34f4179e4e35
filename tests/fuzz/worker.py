"""The process that runs cases: what happens there, a crash too, is told as one line."""

import contextlib
import faulthandler
import importlib
import multiprocessing
import os
import re
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

# What a bad input may raise.
REFUSALS = (ValueError, TypeError, OSError, ImportError, MemoryError, EOFError)

# What takes long to import, which is not the time of the case that happens to be the first.
IMPORTED_LATE = [f"conncomp.cli.{name}" for name in ("_command", "cluster", "graph", "label")]
IMPORTED_LATE += ["h5py", "igraph", "matplotlib.figure", "PIL.Image"]
IMPORTED_LATE += [
    "SimpleITK",
    "dask.array",
    "pandas",
    "polars",
    "pyarrow.csv",
    "pyarrow.ipc",
    "pyarrow.parquet",
    "rustworkx",
    "sparse",
    "tifffile",
    "xarray",
    "zarr",
]

# What no input may make Python do.
FORBIDDEN = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn"}
FORBIDDEN |= {"pickle.find_class", "socket.connect"}

FAILED_ALLOCATION = "Unable to allocate|std::bad_alloc|$"

MIB = 1 << 20
# Beyond what the process has when it starts: threads and libraries reserve much and never use it.
ADDRESSES = 4096 * MIB


class Worker:
    """Runs cases of a target in a process of its own, and replaces it when it dies or hangs.

    `target` is a name in `targets.TARGETS`, or ``module:name``. A case may take so many `seconds`,
    and raise the peak of resident memory by `memory` bytes.
    """

    def __init__(self, target, seconds, memory):
        self._target, self._seconds, self._memory = target, seconds, memory
        self._process = None

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_):
        self._stop()

    def run(self, data):
        """Return what is wrong with a case, on one line, or None."""
        if self._process is None:
            self._start()
        self._pipe.send_bytes(data)
        try:
            if self._pipe.poll(self._seconds + 5):
                return self._pipe.recv()
        except EOFError:
            pass
        else:
            self._process.kill()
        self._process.join()
        code = self._process.exitcode
        place = _place(Path(self._log.name).read_text("utf-8", "replace"))
        self._stop()
        if code == -signal.SIGALRM or code == -signal.SIGKILL:
            return f"hangs: more than {self._seconds:g} s at {place}"
        with contextlib.suppress(ValueError):
            code = signal.Signals(-code).name
        return f"crash: {code} at {place}"

    def _start(self):
        self._log = tempfile.NamedTemporaryFile(prefix="conncomp-fuzz-")  # noqa: SIM115
        # A server that has imported all that targets need, and forks.
        context = multiprocessing.get_context("forkserver")
        module = self._target.rpartition(":")[0]
        needed = [module] if module else [f"{__package__}.targets", *IMPORTED_LATE]
        context.set_forkserver_preload(needed)
        self._pipe, other = context.Pipe()
        arguments = other, self._target, self._seconds, self._memory, self._log.name
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        other.close()
        # The time to import is not that of a case.
        if not self._pipe.poll(120) or self._pipe.recv() != "ready":
            raise RuntimeError(f"the worker for {self._target} does not start")

    def _stop(self):
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._log.close()
            self._process = None


def find_target(name):
    """Return the target of a name: one of ours, or another's ``module:name``."""
    module, _, attribute = name.rpartition(":")
    if module:
        return getattr(importlib.import_module(module), attribute)
    return importlib.import_module(".targets", __package__).TARGETS[name]


def _serve(pipe, name, seconds, memory, log):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    errors = open(log, "wb")  # noqa: SIM115
    with open(os.devnull, "wb") as nothing:  # where libraries log what they think of bad files
        os.dup2(nothing.fileno(), 2)
    faulthandler.enable(errors, all_threads=False)
    target = find_target(name)
    forbidden, watched = [], FORBIDDEN - ({"pickle.find_class"} if target.unpickles else set())
    sys.addaudithook(lambda event, _: event in watched and forbidden.append(event))
    judge(target, target.seeds()[0])  # imports what it needs
    forbidden.clear()
    addresses = _status("VmSize") + ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send("ready")
    while True:
        try:
            data = pipe.recv_bytes()
        except EOFError:
            return
        faulthandler.dump_traceback_later(seconds, file=errors)
        signal.setitimer(signal.ITIMER_REAL, seconds + 0.5)
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmHWM")
        verdict = judge(target, data)
        growth = _status("VmHWM") - before
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        if forbidden:
            verdict = f"forbidden: {forbidden[0]}"
            forbidden.clear()
        elif verdict is None and growth > memory:
            verdict = f"memory: {growth // MIB} MiB for a case of {len(data)} bytes"
        pipe.send(verdict)


def judge(target, data):
    """Run a case; return what is wrong with what happened, if anything is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            target.run(data)
    except REFUSALS as error:
        # Words of NumPy or C++, or none: an allocation failed. Ours say what was too much.
        failed = isinstance(error, MemoryError) and re.match(FAILED_ALLOCATION, str(error))
        if failed or not target.may_refuse:
            return _one_line(error, "memory" if failed else "refused")
    except BaseException as error:
        wrong = isinstance(error, AssertionError)
        return _one_line(error, "wrong" if wrong else "raises")
    return None


def _one_line(error, kind):
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].name}"
    if kind == "wrong":  # which of a target's comparisons
        helpers = re.compile(r"/testing/|/target\.py$")
        frame = [frame for frame in frames if not helpers.search(frame.filename)][-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
    text = " ".join(str(error).split())[:200]
    return f"{kind}: {type(error).__name__}: {text} at {place}"


def _status(field):
    """Return a size from the kernel's account of this process, in bytes."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", text)[1]) * 1024


def _place(log):
    """Return the innermost Python function of ours, or of any, in what faulthandler wrote."""
    frames = re.findall(r'File "([^"]+)", line \d+ in (\S+)', log)
    ours = [frame for frame in frames if "conncomp" in frame[0]] or frames
    return f"{Path(ours[0][0]).name}:{ours[0][1]}" if ours else "an unknown place"
