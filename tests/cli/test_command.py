"""The command as a whole: what it is called, how it fails, and what it leaves behind."""

import contextlib
import errno
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import conncomp
from conncomp._config import config
from conncomp.cli._command import GroupOfLater, Later
from conncomp.cli._command import command as group
from conncomp.kernels.cuda import launcher

VERSION = importlib.metadata.version("conncomp")


def python(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=60, **options
    )


@pytest.fixture(autouse=True)
def _files(tmp_path):
    conncomp.write_image(tmp_path / "image.npy", np.eye(5, dtype=np.uint8))
    conncomp.write_image(tmp_path / "line.npy", np.ones(5, np.uint8))
    np.save(tmp_path / "complex.npy", np.ones((2, 2), complex))
    np.save(tmp_path / "scalar.npy", np.ones(()))
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    np.save(tmp_path / "nan.npy", np.full(3, np.nan))
    np.savez(tmp_path / "two.npz", a=np.ones(3), b=np.ones(3))
    conncomp.write_image(tmp_path / "colour.png", np.ones((4, 5, 3), np.uint8))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "image.npy").read_bytes()[:-3])
    for name in ("empty.npy", "empty.npz", "empty.png", "empty.tif"):
        (tmp_path / name).touch()
    for name in ("junk.npy", "junk.npz", "junk.png", "junk.tif", "junk.xyz", "junk.mtx"):
        (tmp_path / name).write_bytes(b"this is\nno such file\n" * 30)
    (tmp_path / "key=1.npy").touch()
    (tmp_path / "plain").write_text("no image")
    (tmp_path / "image.png").write_bytes((tmp_path / "image.npy").read_bytes())
    (tmp_path / "arcs.txt").write_text("0 1\n1 2\n")
    (tmp_path / "bad.txt").write_text("0 1\n1 two\n")
    (tmp_path / "negative.txt").write_text("0 1\n1 -2\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "link.npy").symlink_to("image.npy")
    for kind in ("npy", "csv"):
        (tmp_path / f"loop.{kind}").symlink_to(f"loop.{kind}")


# Of an option, values that are none, or that do not fit the other words.
BAD_VALUES = {
    "label image.npy --connectivity": ("0", "two", 10**400),
    "label image.npy --periodic": ("-3", "true", "0,true", "x", ",", 10**400),
    "label image.npy --threshold": ("high", "nan", "inf", 10**400, "9" * 5000, "1e999"),
    "label image.npy -o out.npy --background": (f"-{10**400}", "9" * 5000),
    "label image.npy --background": ("black", "1e999"),
    "label image.npy --stats": ("loop.csv", "out.txt", "nowhere/out.csv"),
    "label image.npy --top": (0, -1),
    "label image.npy --min-size": (0, "some"),
    "label image.npy --threads": (0, 5000),
    "label image.npy --key": ("a", ""),
    "label image.npy --picture": ("out.jpg", "nowhere/out.png"),
    "label image.npy -o": (
        *("", "image.npy", "folder/../image.npy", "image.npy/out.npy"),
        *("folder.npy", "out", ".npy"),
    ),
    "label image.npy -o out.png --picture": ("out.png", "folder/../out.png"),
    "view image.npy": ("--image junk.png", "--crop 0:2", "--crop x", "-o folder"),
    "graph arcs.txt -o": ("arcs.txt", "out.tif", "nowhere/out.npy", "out.npy --compact-ids"),
    "graph arcs.txt --histogram": ("out.pdf", "nowhere/out.png"),
    "graph arcs.txt": ("--top 0", "--top many", "--threads 0"),
}
FILES = {
    "label": "folder scalar.npy objects.npy cut.npy "
    "empty.npy empty.npz empty.png empty.tif junk.npy junk.npz junk.png junk.tif junk.xyz",
    "view": "missing.npy complex.npy objects.npy junk.tif colour.png",
    "graph": "missing.txt folder negative.txt junk.mtx junk.npy",
}
BAD = [
    *("", "bogus", "--bogus", "label", "graph", "label image.npy more.npy", "info more"),
    *(f"{words} {value}" for words, values in BAD_VALUES.items() for value in values),
    *(f"{command} {name}" for command, names in FILES.items() for name in names.split()),
    "label nan.npy --threshold otsu",
    "label complex.npy --threshold 1",
    "label two.npz --key c",
    "label image.npy --channel -1",
]


def snapshot():
    return {p: p.read_bytes() if p.is_file() else None for p in Path().rglob("*")}


def check_failure(result, status=2):
    assert result.exit_code == status
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("conncomp: ")
    assert len(lines[0]) > len("conncomp: ")
    assert "Traceback" not in lines[0]
    return lines[0]


REFUSED = [
    *((line, "") for line in BAD),
    ("label missing.npy", "'missing.npy' does not exist"),
    ("label colour.png", "colour.png: is in colour or has several channels, of shape (4, 5, 3)"),
    ("label complex.npy", "complex.npy: holds values of dtype complex128"),
    ("label image.npy -o link.npy", "'image.npy' and 'link.npy' are the same file"),
    (
        "label image.npy --connectivity 3",
        "--connectivity 3 must be from 1 to the number of axes, 2",
    ),
    ("label image.npy --periodic 2", "has 2 axes, so there is no axis 2"),
    ("label image.npy -o nowhere/out.npy", "there is no directory 'nowhere'"),
    ("label image.npy -o out.jpg", "'out.jpg' does not end in .npy or"),
    ("label line.npy -o out.png", "out.png: PNG holds two axes, not 1"),
    ("graph bad.txt", "bad.txt:2"),
    ("label image.npy --bogus", "See 'conncomp label --help'"),
    ("label image.npy -o loop.npy", "'loop.npy': Too many levels of symbolic links"),
    ("label two.npz", "two.npz: holds 2 arrays; choose one by --key from 'a', 'b'"),
    ("label image.npy --key key=1", "--key 'key=1' chooses an array of a .npz file"),
    ("label key=1.npy", "key=1.npy: is empty"),
    ("label plain", "plain: is of none of the kinds .npy, .npz"),
    ("label image.png", "image.png: is named as PNG, but its content is .npy; rename it"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_bad_input_is_one_line(run, arguments, words):
    before = snapshot()
    assert words in check_failure(run(*arguments.split()))
    assert snapshot() == before


@pytest.mark.parametrize(
    "arguments",
    [
        "label image.npy -o o.npy",
        "graph arcs.txt -o o.npy",
        "simulate potts --shape 8x8 --sweeps 4",
    ],
)
def test_no_gpu(run, monkeypatch, arguments):
    before = snapshot()
    monkeypatch.setattr(launcher, "import_cupy", raising(RuntimeError("there is no GPU")))
    line = check_failure(run(*arguments.split(), "--device", "cuda"))
    assert line == "conncomp: --device cuda: there is no GPU"
    assert snapshot() == before


STAGES_ON_GPU = [
    *("reading", "starting the GPU", "moving there", "labelling", "moving back"),
    *("measuring", "writing"),
]


@pytest.mark.parametrize(
    ("line", "kind"), [("label image.npy", "elements"), ("graph arcs.txt", "arcs")]
)
def test_stages_on_a_gpu(run, report, request, line, kind):
    """Each stage waits for what it has asked for."""
    words = line.split()
    found = report(*words)
    stages = ["reading", "labelling", "measuring"]
    assert (found["device"], list(found["seconds"])) == ("cpu", stages)
    report(*words, "-o", "here.npy")
    log = request.getfixturevalue("gpu")
    found = report(*words, "--device", "cuda", "-o", "there.npy")
    assert log == ["wait", "move", "wait", "label", "wait", "fetch", "wait"]
    assert (found["device"], list(found["seconds"])) == ("cuda", STAGES_ON_GPU)
    speed = found.get("arcs", 25) / found["seconds"]["labelling"]
    assert found[f"{kind}_per_second"] == speed
    np.testing.assert_array_equal(np.load("there.npy"), np.load("here.npy"))
    shown = run(*words, "--device", "cuda").stdout
    for part in ("starting the GPU ", ", moving there ", ", moving back ", f"{kind}/s on the GPU"):
        assert part in shown


@pytest.mark.gpu
@pytest.mark.parametrize("line", ["label image.npy --periodic all", "graph arcs.txt"])
def test_labels_on_the_gpu(report, line):
    report(*line.split(), "-o", "here.npy")
    found = report(*line.split(), "--device", "cuda", "-o", "there.npy")
    assert list(found["seconds"]) == STAGES_ON_GPU
    np.testing.assert_array_equal(np.load("there.npy"), np.load("here.npy"))


def test_unwritable_folder(run, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != Path("folder"))
    line = check_failure(run("label", "image.npy", "-o", "folder/out.npy"))
    assert "'folder' cannot be written to" in line


def raising(error):
    def fail(*arguments, **options):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("Unable to allocate\n8 EiB"), "out of memory: Unable to allocate 8 EiB"),
        (MemoryError(), "out of memory"),
        (OSError(errno.ENOSPC, "No space left on device", "out.npy"), "out.npy: No space left"),
        (OSError(errno.ENOSPC, "No space left on device"), "conncomp: No space left"),
        (OSError("a line without a number"), "conncomp: a line without a number"),
        (ImportError("this format needs tifffile"), "this format needs tifffile"),
        (ValueError(), "ValueError"),
    ],
)
def test_failures_on_the_way(run, monkeypatch, error, words):
    monkeypatch.setattr(conncomp, "label", raising(error))
    assert words in check_failure(run("label", "image.npy", "-o", "out.npy"))
    assert not Path("out.npy").exists()


def test_a_mistake_of_our_own_is_not_hidden(run, monkeypatch):
    monkeypatch.setattr(conncomp, "label", raising(KeyError("x")))
    assert isinstance(run("label", "image.npy").exception, KeyError)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
@pytest.mark.parametrize(
    ("writer", "arguments"),
    [
        ("numpy.save", "label image.npy -o out.npy"),
        ("conncomp.cli._output.csv.writer", "label image.npy --stats out.csv"),
        ("PIL.Image.Image.save", "label image.npy --picture out.png"),
        ("pathlib.Path.write_bytes", "view image.npy"),
        ("numpy.savez_compressed", "graph arcs.txt -o out.npz"),
        ("matplotlib.figure.Figure.savefig", "graph arcs.txt --histogram out.png"),
    ],
)
def test_nothing_is_left_half_written(run, monkeypatch, writer, arguments, error):
    before = snapshot()
    monkeypatch.setattr(writer, raising(error))
    result = run(*arguments.split())
    if isinstance(error, KeyboardInterrupt):
        kept = "; nothing is kept: the same command begins anew" * arguments.startswith("label")
        assert check_failure(result, 130) == f"conncomp: interrupted{kept}"
    else:
        check_failure(result)
    assert snapshot() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_interrupt(tmp_path):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    before = sorted(tmp_path.iterdir())
    with (
        subprocess.Popen(
            [sys.executable, "-m", "conncomp", "graph", str(pipe), "-o", str(tmp_path / "out.npy")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        pipe.open("w") as writer,
    ):  # opens once the command reads
        writer.write("0 1\n")
        writer.flush()
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, "", "conncomp: interrupted\n")
    assert sorted(tmp_path.iterdir()) == before


COMMAND = [sys.executable, "-m", "conncomp", "label", "image.npy", "--connectivity", "1"]


@pytest.mark.soak
@pytest.mark.parametrize("options", [[], ["--json"], ["--help"]])
def test_nobody_reads_standard_output(tmp_path, options):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(
        [*COMMAND, *options], stdout=writer, stderr=-1, text=True, cwd=tmp_path, timeout=60
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.soak
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_standard_output_that_is_full(tmp_path, options):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [*COMMAND, *options], stdout=full, stderr=-1, text=True, cwd=tmp_path, timeout=60
        )
    line = "conncomp: standard output: No space left on device\n"
    assert (result.returncode, result.stderr) == (2, line)


@pytest.mark.parametrize("closed", [">&-", "2>&- >&-"])
def test_standard_output_that_is_closed(tmp_path, closed):
    result = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *COMMAND, "-o", "out.npy"],
        **{"stderr": -1, "text": True, "cwd": tmp_path, "timeout": 60},
    )
    lines = ["conncomp: standard output is closed; /dev/null is for no output"]
    assert result.returncode == 2
    assert result.stderr.splitlines() == (lines if closed == ">&-" else [])
    assert not (tmp_path / "out.npy").exists()


STRANGE = os.fsdecode(b"\x1b[31m\xff\n.npy")


def test_names_that_would_control_the_terminal(run, report):
    os.rename("image.npy", STRANGE)
    shown = r"\x1b[31m\udcff .npy"
    result = run("label", STRANGE, "-o", "o" + STRANGE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"input         {shown}" in result.stdout
    assert f"labels        o{shown}" in result.stdout
    assert all(line.isprintable() for line in result.stdout.splitlines())
    assert report("label", STRANGE)["input"]["path"] == STRANGE
    Path(STRANGE).write_bytes(b"junk")
    line = check_failure(run("label", STRANGE))
    assert line.startswith(f"conncomp: {shown}: is of none of the kinds")
    assert line.isprintable()
    assert check_failure(run("label", "no" + STRANGE)).isprintable()
    assert check_failure(run("label", "line.npy", "-o", "no" + STRANGE + ".xyz")).isprintable()


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", "\u2603"), ("latin-1", r"\u2603")])
def test_names_that_the_terminal_cannot_show(tmp_path, encoding, shown):
    name = os.fsdecode("\u2603".encode() + b"\xff.npy")
    os.rename(tmp_path / "image.npy", tmp_path / name)
    command = [name if word == "image.npy" else word for word in COMMAND]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    result = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")
    assert rf"{shown}\udcff.npy" in result.stdout.decode(encoding)


@pytest.mark.parametrize("name", ["pipe.npy", "pipe.tif"])
def test_output_into_a_pipe(run, tmp_path, name):
    os.mkfifo(tmp_path / name)
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / name).read_bytes()))
    reader.start()
    result = run("label", "image.npy", "-o", name)
    reader.join(timeout=10)
    assert (result.exit_code, result.stderr) == (0, "")
    (tmp_path / f"copy-{name}").write_bytes(received[0])
    labels = conncomp.label(np.eye(5, dtype=np.uint8))
    np.testing.assert_array_equal(conncomp.read_image(f"copy-{name}"), labels)


def test_output_into_a_pipe_that_nobody_reads(run, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.npy")
    monkeypatch.setattr("shutil.copyfileobj", raising(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    reader = os.open(tmp_path / "pipe.npy", os.O_RDONLY | os.O_NONBLOCK)
    line = check_failure(run("label", "image.npy", "-o", "pipe.npy"))
    os.close(reader)
    assert line == "conncomp: pipe.npy: Broken pipe"


def test_output_without_a_kind_is_refused(run):
    line = check_failure(run("label", "image.npy", "-o", "/dev/stdout"))
    assert "'/dev/stdout' does not end in .npy" in line


def test_a_damaged_tiff_is_one_line(tmp_path):
    conncomp.write_image(tmp_path / "a.tif", np.eye(50))
    content = (tmp_path / "a.tif").read_bytes()
    for cut in (len(content) - 4, 100, 20):
        (tmp_path / "a.tif").write_bytes(content[:cut])
        result = python("-m", "conncomp", "label", tmp_path / "a.tif")
        assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)


def test_runs_as_a_module_and_as_a_script(tmp_path):
    result = python("-m", "conncomp", "--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"conncomp {VERSION}\n", "")
    result = python("-m", "conncomp", "label", tmp_path / "image.npy", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["components"] == 1
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="conncomp")
    assert script.value == "conncomp.cli:main"


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
@pytest.mark.parametrize(
    ("arguments", "words", "printed"),
    [
        ("graph arcs.txt", [b"reading", b"labelling"], {"components": 1}),
        ("cluster pairs.csv --left l --right r", [b"clustering", b"20 pairs, "], {"pairs": 20}),
        ("simulate potts --shape 64x64 --sweeps 4000", [b"Potts", b"/4400"], {}),
    ],
)
def test_progress_goes_to_a_terminal_only(arguments, words, printed):
    Path("pairs.csv").write_text("l,r\n" + "".join(f"{k},{k + 1}\n" for k in range(20)))
    reader, terminal = os.openpty()
    os.set_blocking(reader, False)
    found = subprocess.run(
        [sys.executable, "-m", "conncomp", *arguments.split(), "--json"],
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "150"},
        timeout=60,
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # of Linux, where nobody writes any more
        while block := os.read(reader, 1 << 16):
            shown += block
    os.close(reader)
    assert [word for word in words if word not in shown] == []
    assert printed.items() <= json.loads(found.stdout).items()


@pytest.mark.parametrize("library", ["click", "rich", "pyarrow", "pyarrow.parquet"])
def test_without_the_extra(library):
    needed = library.partition(".")[0]
    arguments = ["cluster", "pairs/*", "--left", "l", "--right", "r"] if needed == "pyarrow" else []
    code = f"import sys; sys.modules[{library!r}] = None; from conncomp.cli import main; main()"
    result = python("-c", code, *arguments)
    extra = "tables" if arguments else "cli"
    line = f"conncomp: this command needs {needed}: pip install 'conncomp[{extra}]'\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, "", line)


@pytest.mark.parametrize(
    ("library", "arguments", "line"),
    [
        (
            "matplotlib.figure",
            "graph arcs.txt --histogram out.png",
            "this drawing needs matplotlib: pip install 'conncomp[plots]'",
        ),
        (
            "h5py",
            "simulate potts --shape 8x12 --sweeps 20 -o run.h5",
            "this part of conncomp.models needs h5py: pip install 'conncomp[models]'",
        ),
        (
            "PIL.Image",
            "simulate potts --shape 8x12 --sweeps 20 --film run.gif",
            "needs pillow: pip install",
        ),
    ],
)
def test_without_a_library(run, monkeypatch, library, arguments, line):
    before = snapshot()
    monkeypatch.setitem(sys.modules, library, None)
    assert line in check_failure(run(*arguments.split()))
    assert snapshot() == before
    assert run("graph", "arcs.txt").exit_code == 0


def test_info(run, report):
    assert report("info") == config()
    lines = dict(line.split(maxsplit=1) for line in run("info").stdout.splitlines())
    assert lines["conncomp"].strip() == VERSION


@pytest.mark.parametrize("name", ["", "label", "graph", "info", "simulate", "simulate potts"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(run, name, option):
    result = run(*name.split(), option)
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: ")


# What no help needs, and of each command what is of other rooms than its own.
HEAVY = {"scipy", "matplotlib", "h5py", "pandas", "pyarrow", "PIL", "networkx", "skimage", "cupy"}
ROOMS = {"components", "bench", "generate", "graph", "grid", "io", "models", "networkx", "tables"}
LOADED = {
    "": set(),
    "label": set(),
    "view": set(),
    "graph": {"scipy", "conncomp.graph"},  # the algorithms and formats that its help lists
    "cluster": {"conncomp.tables"},
    "simulate": set(),
    **{
        f"simulate {model}": {f"conncomp.{room}" for room in ROOMS - {"bench", "io", "tables"}}
        for model in ("cahn-hilliard", "ising", "kawasaki", "percolation", "potts")
    },
    "bench": {f"conncomp.{room}" for room in ROOMS},
    "gpu": set(),
    "info": set(),
}


def loaded_by(*arguments):
    code = (
        "import atexit, runpy, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    )
    result = python("-c", f"{code}; runpy.run_module('conncomp')", *arguments)
    assert result.returncode == 0, result.stderr
    return set(result.stderr.split())


@pytest.mark.soak
@pytest.mark.parametrize("name", LOADED)
def test_help_loads_the_room_of_its_command_only(name):
    modules = loaded_by(*name.split(), "--help")
    assert not modules & (HEAVY | {f"conncomp.{room}" for room in ROOMS}) - LOADED[name]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_command_alone_loads_not_even_numpy(option):
    assert not loaded_by(option) & {"numpy", "rich", "conncomp._native"}


def postponed(group):
    """Return what stands for commands in a group and in those in it, by what one types."""
    found = {name: later for name, later in group.commands.items() if isinstance(later, Later)}
    for name, later in list(found.items()):
        if isinstance(inner := later.load(), GroupOfLater):
            found |= {f"{name} {word}": command for word, command in postponed(inner).items()}
    return found


POSTPONED = postponed(group)


@pytest.mark.parametrize("name", POSTPONED)
def test_summaries_are_those_of_the_commands(name):
    command = POSTPONED[name].load()
    assert command.name == name.split()[-1]
    assert command.get_short_help_str(1000) == POSTPONED[name].get_short_help_str(1000)
