"""Options of all commands: one that is given twice or has no effect is refused, and it alone."""

import contextlib
import os
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import click
import numpy as np


def _values(words):
    """Return options by name, with None for a flag, and for `a|b|` a tuple."""
    given = (word.partition("=")[::2] for word in words.split())
    return {
        name: tuple(value[:-1].split("|")) if value[-1:] == "|" else value or None
        for name, value in given
    }


# By command: the words that it needs, and values of options, None for flags, several values as
# tuples: what may be given again. Each option is valid by itself.
SIMULATION = _values(
    "--replicas=2 --seed=3 --thermalise=2 --measure-every=2 --output=o.h5 --plot=p.png "
    "--picture=q.png --film=f.gif --film-every=2 --force --checkpoint=c --checkpoint-every=9"
)
SIZES = SIMULATION | _values("--folder=f --shape=8x8|4x4| --temperatures=1:2:3")
UPDATES = _values("--clusters --wrapping --observe=structure|")
TEMPERATURE = _values("--temperature=1 --field=.5 --antiperiodic=none")
OPTIONS = {
    "label in.npy": _values(
        "--output=o.npy --channel=0 --grey --threshold=1 --connectivity=1 --top=3 --min-size=2 "
        "--stats=s.csv --spacing=1,2 --picture=p.png --stats-only --raw=2,2:uint8 --memory=1G "
        "--scheduler=x --device=cpu"
    ),
    "measure in.npy -o m.csv": _values(
        "--threshold=1 --dark --min-size=2 --connectivity=1 --channel=0 --grey --planes "
        "--labels=l.tif --picture=p.png --memory=1G --workers=2 --resume"
    ),
    "plan in.npy": _values("--threshold=1 --connectivity=1 --memory=1G"),
    "view in.npy": _values("--output=v.html --background=none --spacing=1,1"),
    "graph in.txt": _values("--output=o.npy --src=a --dst=b --strong --format=csv --top=3"),
    "cluster in.csv": _values(
        "--left=l|r| --right=r|l| --node=l|r| --weight=w --threshold=1 --max-size=3 --nodes=in.csv "
        "--integers --nulls=drop"
    ),
    "gpu": _values("--compile=label-2d|label-3d| --dtype=bool|float32| --json"),
    "info": _values("--json"),
    "bench grid": _values(
        "--suite=hard|images| --option=tile=8| --peers --transfers --limit=2 --list"
    ),
    "simulate potts --sweeps 4": SIZES | UPDATES | _values("--beta=1 --tile=4x4 --p-flip=.5 --q=3"),
    "simulate ising --sweeps 4": SIZES | UPDATES | TEMPERATURE | _values("--beta=1 --betas=0:1:3"),
    "simulate xy --sweeps 4": SIZES | UPDATES | TEMPERATURE,
    "simulate glass --sweeps 4": SIZES
    | _values("--temperature=1 --houdayer --tempering --no-tempering"),
    "simulate percolation --shape 8x8 --sweeps 4": SIMULATION | _values("--p=.5 --kind=bond"),
    "simulate kawasaki --shape 8x8x8 --sweeps 4": SIMULATION
    | _values("--beta=1 --temperature=1 --temperatures=1:2:3 --fraction=.4 --fractions=.4:.5:2"),
}
# Of which others one is needed, and what excludes each other, wherever both are options.
WRITTEN = "--output,--plot,--picture,--film,--folder"
NEEDS = {
    "label": _values("--spacing=--stats --raw=--stats-only --memory=--stats-only --scheduler=-"),
    "measure": _values("--dark=--threshold --connectivity=--threshold"),
    "graph": _values("--src=- --dst=-"),
    "cluster": _values(
        "--weight=--threshold,--max-size --threshold=--weight --max-size=--weight --node=--nodes"
    ),
    "gpu": _values("--dtype=--compile"),
    "bench": _values("--transfers=-"),
    "simulate": _values(
        f"--film-every=--film --force={WRITTEN} --checkpoint-every=--checkpoint,--folder --tile=- "
        "--p-flip=- --tempering=--temperatures"
    ),
}
OF_STREAM = "--output,--channel,--grey,--top,--picture,--scheduler"
EXCLUDES = {
    "label": _values(f"--channel=--grey --stats-only={OF_STREAM}"),
    "measure": _values("--channel=--grey --memory=--threshold,--grey,--labels,--picture,--workers"),
    "bench": _values("--list=--option,--peers,--limit,--transfers"),
    "simulate": _values(
        "--film=--checkpoint,--folder --folder=--output,--checkpoint "
        "--temperature=--temperatures,--beta,--betas --temperatures=--beta,--betas --beta=--betas "
        "--fraction=--fractions --tempering=--no-tempering"
    ),
}


@cache
def _folder():
    """Return a folder with the files that commands read, which is removed at the end."""
    folder = tempfile.TemporaryDirectory(prefix="conncomp-fuzz-")
    np.save(Path(folder.name, "in.npy"), np.eye(4, dtype=np.uint8))
    Path(folder.name, "in.txt").write_text("0 1\n")
    Path(folder.name, "in.csv").write_text("l,r,w\n1,2,.5\n")
    return folder


@cache
def command_of(names):
    """Return the command that words begin with, and the other words."""
    from conncomp.cli._command import Later
    from conncomp.cli._command import command as found

    words = names.split()
    while isinstance(found, click.Group):
        found = found.commands[words.pop(0)]
        found = found.load() if isinstance(found, Later) else found
    return found, words


def options(choices):
    """Parse a line: it is refused where an option is given twice, or without what it needs."""
    names, values = choices.pick(list(OPTIONS.items()))
    typed = []
    for _ in range(choices.below(6)):
        option = choices.pick(list(values))
        value = values[option]
        typed.append((option, choices.pick(value) if isinstance(value, tuple) else value))
    if "simulate" in names and "--shape" in values and "--shape" not in dict(typed):
        typed.append(("--shape", "8x8"))
    message = _complaint(names, [word for pair in typed for word in pair if word is not None])
    single = Counter(option for option, _ in typed if not isinstance(values[option], tuple))
    again = {option for option, count in single.items() if count > 1}
    again |= {option for (option, _), count in Counter(typed).items() if count > 1}
    given = {option for option, _ in typed}
    if again:
        assert "is given" in message or "exclude each other" in message, (typed, message)
        assert any(option in message for option in again | {"--tempering"}), (typed, message)
        return
    wrong = _without_effect(names.split()[0], given)
    assert bool(message) == bool(wrong), (typed, wrong, message)
    assert not wrong or any(option in message for option in wrong), (typed, wrong, message)


def _without_effect(kind, given):
    """Return options that are refused beside others."""
    needs, excludes = NEEDS.get(kind, {}), EXCLUDES.get(kind, {})
    wrong = {option for option in given if not given & set(needs.get(option, option).split(","))}
    return wrong | {
        option
        for option in given
        for one, others in excludes.items()
        if one in given and option in others.split(",")
    }


def _complaint(names, words):
    """Return why a line is refused as it is parsed; "" if it is not."""
    command, own = command_of(names)
    with contextlib.chdir(_folder().name):
        try:
            command.make_context(names, [*own, *words])
        except click.UsageError as error:
            return error.format_message()
    assert not set(os.listdir(_folder().name)) - {"in.npy", "in.txt", "in.csv"}
    return ""
