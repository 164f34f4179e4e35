"""Nothing that a user typed is ignored: options given twice, and options without effect."""

import json
import re
import shlex
import sys
from dataclasses import is_dataclass
from inspect import cleandoc
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import tifffile
import zarr

import conncomp
from conncomp.cli._command import Later
from conncomp.cli._command import command as group
from conncomp.cli._options import OPTION_LINE, Common, parameters_of
from conncomp.cli._rules import Command, Rule, option_of


def commands_of(group, *names):
    """Yield all commands of a group and of those in it, each with what one types."""
    for name, each in group.commands.items():
        command = each.load() if isinstance(each, Later) else each
        if isinstance(command, click.Group):
            yield from commands_of(command, *names, name)
        elif name != "paper":  # which hands its words to another package
            yield " ".join((*names, name)), command


COMMANDS = dict(commands_of(group))
SIMULATIONS = [name for name in COMMANDS if name.startswith("simulate ")]
OF_SIZES = ["clock", "glass", "heisenberg", "ising", "on", "potts", "xy"]
BENCHES = ["bench graph", "bench grid", "bench strong"]


def options_of(name):
    return [each for each in COMMANDS[name].params if isinstance(each, click.Option)]


NAMED = [(name, max(each.opts, key=len)) for name in COMMANDS for each in options_of(name)]


def test_words_are_of_an_option():
    """Help under a name that no option has would be lost."""
    for module in [each for name, each in sys.modules.items() if name.startswith("conncomp.cli.")]:
        for each in vars(module).values():
            if is_dataclass(each) and each not in (Rule, Common) and "--" in each.__doc__:
                told = {name for name, *_ in OPTION_LINE.findall(cleandoc(each.__doc__))}
                known = {word for one in parameters_of(each) for word in one.opts}
                assert {f"--{name}" for name in told} <= known, each


def complaint(name, words):
    with pytest.raises(click.UsageError) as caught:
        COMMANDS[name].make_context(name, list(words))
    return caught.value.format_message()


@pytest.fixture(autouse=True)
def _files(tmp_path):
    rng = np.random.default_rng(0)
    image = (rng.random((12, 13)) < 0.5).astype(np.uint8)
    labels = conncomp.label(image)
    volume = (rng.random((6, 7, 8)) < 0.4).astype(np.uint8)
    for name, array in {"a": image * 9, "l": labels, "v": volume}.items():
        np.save(tmp_path / f"{name}.npy", array)
        zarr.save_array(tmp_path / f"{name}.zarr", array)
    tifffile.imwrite(tmp_path / "rgb.tif", rng.integers(0, 99, (12, 13, 3), np.uint8))
    (tmp_path / "v.raw").write_bytes(volume.tobytes())
    (tmp_path / "g.txt").write_text("0 1\n1 2\n5 6\n2 0\n")
    edges = pa.table({"src": [0, 1], "dst": [1, 2], "a": [0, 0], "b": [2, 2]})
    pa.parquet.write_table(edges, tmp_path / "e.parquet")
    pairs = pa.table({"l": [0, 1, 5], "r": [1, 2, 6], "w": [0.5, 0.7, None], "x": [3, 3, 3]})
    pa.parquet.write_table(pairs, tmp_path / "p.parquet")
    (tmp_path / "p.csv").write_text("l,r,w\n1,2,.65\n3,4,.9\n2,9,.7\n")
    (tmp_path / "n.csv").write_text("l\n9\n77\n")
    (tmp_path / "empty").mkdir()


def test_every_command_has_the_rules():
    assert {name for name, each in COMMANDS.items() if not isinstance(each, Command)} == set()


@pytest.mark.parametrize(("name", "option"), NAMED)
def test_an_option_is_given_once(name, option):
    found = option_of(COMMANDS[name], option)
    if found.is_flag:
        line = f"{option} is given twice; give it once."
        assert complaint(name, [option, option]) == line
        for other in found.secondary_opts:
            line = f"{option} and {other} exclude each other; leave one out."
            assert complaint(name, [other, option]) == line
        return
    assert complaint(name, [option, "a", option, "a"]).startswith(f"{option} 'a' is given twice")
    if not found.multiple:
        for short in found.opts:
            line = f"{option} is given twice, as 'a' and 'b'; give it once."
            assert complaint(name, [option, "a", short, "b"]) == line
        line = f"{option} is given 3 times, as 'a' and 'b' and 'a'; give it once."
        assert complaint(name, [option, "a", f"{option}=b", option, "a"]) == line


def test_help_comes_first(run):
    result = run("label", "--top", 1, "--top", 2, "--help")
    assert (result.exit_code, result.stderr) == (0, "")


# Each line breaks the rule on its last option, the one that the message names.
POTTS, GLASS = "simulate potts --shape 8x8 --sweeps 4", "simulate glass --shape 4x4 --sweeps 4"
START = "--shape 8x8 --sweeps 4", "--shape 8x8 --sweeps 4 --q 4"  # of others, and of clock
CHUNKS, STREAM = "label v.zarr -o new.npy", "label v.npy --stats-only"
PAIRS = "cluster p.csv --left l --right r"
CLUSTER = f"{PAIRS} --weight w --threshold .6"
BLOCKS = "measure l.zarr -o m.csv --memory 8G"
REFUSED = [
    *("label rgb.tif --grey --channel 0", "measure rgb.tif -o m.csv --grey --channel 0"),
    "measure v.npy -o m.csv --planes --join-time",
    "label v.npy --spacing 1,1,1",
    "label v.npy --raw 6,7,8:uint8",
    *(f"{CHUNKS} --{words}" for words in ("grey", "stats s.csv", "picture p.png")),
    *(f"{CHUNKS} --{words}" for words in ("stats-only", "device cuda")),
    *(f"{CHUNKS} --scheduler x --{words}" for words in ("memory 1G", "threads 2")),
    *(f"{STREAM} --{words}" for words in ("output x.npy", "key a", "channel 0", "grey", "top 2")),
    *(f"{STREAM} --{words}" for words in ("picture p.png", "scheduler x", "device cuda")),
    *("label v.npy --memory 1G", "label v.npy --scheduler x"),
    *("measure l.npy -o m.csv --dark", "measure l.npy -o m.csv --connectivity 1"),
    *(f"{BLOCKS} --{words}" for words in ("threshold 1", "grey", "labels l.tif", "series all")),
    *(f"{BLOCKS} --{words}" for words in ("picture p.png", "workers 2", "bioio")),
    "measure l.npy -o m.csv --properties area --intensity l.npy",
    *(f"graph g.txt --{words}" for words in ("src a", "dst b")),
    *(f"graph e.parquet --{words}" for words in ("strong", "compact-ids", "format csv")),
    *(f"graph e.parquet --{words}" for words in ("algorithm bfs", "device cuda", "integers")),
    *(f"{PAIRS} --{words}" for words in ("weight w", "threshold 1", "max-size 3", "node l")),
    f"{PAIRS} --weight w --threshold .5,.6 --top 3",
    *("gpu --dtype bool", "gpu --compile potts --dtype bool"),
    *(f"{name} --transfers" for name in BENCHES),
    *(
        f"{name} --list --{words}"
        for name in BENCHES
        for words in ("algorithm x", "option a=b", "peers", "limit 1", "threads 2", "output r.json")
    ),
    *(
        f"{name} {START[name.endswith('clock')]} --{words}"
        for name in SIMULATIONS
        for words in ("force", "checkpoint-every 9", "film-every 2", "checkpoint c --film f.gif")
    ),
    *(
        f"simulate {name} {START[name == 'clock']} --{words}"
        for name in OF_SIZES
        for words in ("output o.h5 --folder f", "checkpoint c --folder f", "film f.gif --folder f")
    ),
    *(
        f"simulate {name} {START[name == 'clock']} --temperatures 1:2:3 --temperature 1"
        for name in (*OF_SIZES, "kawasaki")
        if name != "potts"
    ),
    *(f"{POTTS} --{words}" for words in ("tile 4x4", "p-flip .5", "temperatures 1:2:3 --beta 1")),
    *(
        f"simulate ising --shape 8x8 --sweeps 4 --{one}"
        for one in ("beta 1 --temperature 1", "betas 0:1:3 --temperatures 1:2:3")
    ),
    *("simulate ising --shape 8x8 --sweeps 4 --betas 0:1:3 --beta 1",),
    *(
        f"simulate kawasaki --shape 8x8x8 --sweeps 4 --{words}"
        for words in (
            *("temperature 1 --beta 1", "temperatures 1:2:3 --beta 1"),
            "fractions .1:.2:3 --fraction .5",
        )
    ),
    *(f"{GLASS} --{words} --tempering" for words in ("temperature 1", "temperatures 1:1:1")),
]
# The same, where the values of others decide: what the message names, and the line.
REFUSED_LATER = {
    "--threshold otsu needs the whole image": f"{STREAM} --threshold otsu",
    "--background 3: with --threshold": "plan v.npy --threshold 0 --background 3",
    "--integers is for CSV and TSV": "cluster p.parquet --left l --right r --integers",
    "--data: none of the inputs is in empty": "bench grid --size tiny --data empty",
    "--data: none of the inputs": "bench graph --size tiny --suite hard --data empty",
    "--data: none of the inputs is": "bench strong --size tiny --list --data empty",
    "--periodic and --antiperiodic both name axis 1": (
        "simulate ising --shape 4x4 --sweeps 2 --periodic 0,1 --antiperiodic 1"
    ),
    "--output is for one --shape": f"{POTTS} --shape 4x4 --output o.h5",
    "intensity_mean: without --threshold": "measure l.npy -o m.csv --properties intensity_mean",
    "--unit mm: the file tells no voxel size": "measure l.npy -o m.csv --unit mm",
    "solidity: with --memory": f"{BLOCKS} --properties solidity",
}


@pytest.mark.parametrize("line", REFUSED)
def test_options_without_effect(run, line):
    before = sorted(Path().rglob("*"))
    option = next(word for word in reversed(line.split()) if word.startswith("--"))
    result = run(*line.split())
    assert result.exit_code == 2
    assert result.stderr.startswith(f"conncomp: {option} ") or (
        f"{option} exclude each other" in result.stderr
    )
    assert result.stderr.count("\n") == 1
    assert any(word in result.stderr for word in ("leave it out", "leave one out", "alone"))
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize("words", REFUSED_LATER)
def test_values_without_effect(run, words):
    result = run(*REFUSED_LATER[words].split())
    assert result.exit_code == (1 if "voxel" in words else 2)
    assert words in result.stderr


def test_every_rule_has_a_line():
    missing = []
    for name, each in COMMANDS.items():
        own = [line.removeprefix(f"{name} ") for line in REFUSED if line.startswith(f"{name} ")]
        for rule in each.rules:
            for option in rule.options:
                option_of(each, option.split()[0])  # is there
                if not any(option in f"{line} " for line in own):
                    missing.append((name, option))
    assert not missing


# Options in brackets, each of which has an effect on its line: the report or a file differs without
# it. `json` and `threads` are of all; what needs a GPU, a browser or a cluster is left out.
EFFECTS = [
    "label rgb.tif [--grey]",
    "label rgb.tif [--channel 1] [--threshold 50]",
    "label a.npy [--background 9] [--connectivity 1] [--periodic all] [--min-size 3]",
    "label a.npy [-o o.npy] [--top 2] [--stats s.csv] [--spacing 1,2] [--picture p.png]",
    "label a.npy --periodic all --threshold 3 [--background 1]",
    "label v.npy [--stats-only] [--stats s.csv] [--spacing 1,2,3] [--memory 8G]",
    f"{STREAM} [--threshold 0] [--background 1] [--connectivity 1] [--periodic 0] [--min-size 3]",
    "label v.raw --stats-only [--raw 6,7,8:uint8]",
    f"{CHUNKS} [--threshold 0] [--background 1] [--connectivity 1] [--periodic 0] [--min-size 2] "
    "[--top 3]",
    f"{CHUNKS} [--memory 8G]",
    "plan v.npy [--threshold 0] [--background 1] [--memory 8G]",
    "measure a.npy -o m.csv [--threshold 3] [--dark] [--connectivity 1] [--min-size 2]",
    "measure rgb.tif -o m.csv --threshold 50 [--channel 1]",
    "measure rgb.tif -o m.csv --threshold 50 [--grey]",
    "measure v.npy -o m.csv --threshold 0 [--planes]",
    "measure l.npy -o m.csv [--intensity a.npy] [--properties area,intensity_mean] [--unit mm] "
    "[--spacing 2] [--labels l.tif] [--picture p.png] --series all",
    f"{BLOCKS} [--min-size 3] [--intensity a.zarr] [--spacing 2] [--properties area,intensity_max]",
    "view l.npy -o page.html [--image a.npy] [--crop 2:9,:] [--background none] [--spacing 1,2]",
    "graph g.txt [-o o.npz] [--strong] [--compact-ids] [--top 1] [--histogram h.png]",
    "graph e.parquet [--src a] [--dst b]",
    "cluster p.csv --left l --right r --weight w [--threshold .6] [-o o.csv] "
    "[--cluster-ids first] [--nodes n.csv] [--top 1]",
    f"{CLUSTER} [--max-size 2] [--memory 8G]",
    "cluster p.csv --left l --right r [--integers] -o o.parquet",
    "cluster p.parquet --left l --right r --weight w --threshold .5 [--nulls drop]",
    f"{POTTS} [--q 3] [--beta 1] [--coupling 2] [--field .1] [--lattice triangular] [--periodic 0] "
    "[--start cold] [--seed 3] [--replicas 2] [--measure-every 2] [--thermalise 2]",
    f"{POTTS} --update few-cluster [--tile 4x4] [--p-flip .4]",
    f"{POTTS} [--clusters] [--wrapping] [--observe structure]",
    f"{POTTS} [-o o.h5] [--plot p.png] [--picture q.png] [--film f.gif] [--film-every 2]",
    f"{POTTS} [--temperatures .6:.9:3] [--folder f]",
    f"{POTTS} [--checkpoint c]",
    "simulate ising --shape 8x8 --sweeps 4 [--antiperiodic 0]",
    f"{GLASS} --temperatures 1:2:3 [--positive .7] [--dilution .1] [--samples 3] [--houdayer] "
    "[--no-tempering] [--update heat-bath]",
    f"{GLASS} --temperature 1 [--couplings gaussian]",
    "simulate percolation --shape 8x8 --sweeps 4 [--kind bond] [--p .4] [--periodic none]",
    "simulate kawasaki --shape 8x8x8 --sweeps 4 [--lattice sc] [--beta .3] [--fraction .3]",
    "simulate cahn-hilliard --shape 8x8 --sweeps 4 [--mobility 2] [--b 2] [--u 2] [--K 2] "
    "[--dx 2] [--dt .01] [--mean .1] [--amplitude .2] [--noise .1] [--dtype float64] "
    "[--threshold .1]",
    "simulate xy --shape 8x8 --sweeps 4 --temperature 1 [--observe vortices]",
]
TIMES = {
    *("seconds", "elements_per_second", "arcs_per_second", "pairs_per_second", "peak"),
    "planning_seconds",
}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("line", EFFECTS)
def test_options_have_an_effect(run, tmp_path, monkeypatch, line):
    def outcome(line, name):
        """Return what a line prints, and the files that it makes."""
        before = {path.name for path in tmp_path.iterdir()}
        result = run(*shlex.split(line), "--json")
        made = {path for path in tmp_path.iterdir() if path.name not in before}
        files = {path.name: path.is_file() and path.read_bytes() for path in made}
        for path in made:
            path.rename(tmp_path / "empty" / f"{name}-{path.name}")
        if result.exit_code:
            return result.stderr
        return without_times(json.loads(result.stdout)), files

    options = re.findall(r"\[(.*?)\]", line)
    line = re.sub(r"[][]", "", line)
    whole = outcome(line, "whole")
    assert not isinstance(whole, str), whole
    for k, option in enumerate(options):
        shorter = f" {line} ".replace(f" {option} ", " ", 1)
        assert outcome(shorter, k) != whole, option
