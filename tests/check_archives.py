"""Whether an sdist or a wheel holds what it should, and nothing else; `.ci/soak` calls it.

    python tests/check_archives.py sdist dist/conncomp-*.tar.gz
    python tests/check_archives.py wheel dist/conncomp-*.whl

Held against the files that git tracks, so that neither a new file is left out nor litter slips in.
"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LICENCES = {"LICENSE", "licenses/README.txt", "licenses/nanobind.txt", "licenses/robin-map.txt"}
MOST_BYTES = 8 << 20
NOT_IN_SDIST = (".ci/", ".github/", "benchmarks/", "recipe/", "reproductions/")
NOT_IN_WHEEL = ("src/conncomp/bindings/", "src/conncomp/kernels/cpu/")
COMPILED = ("conncomp/_native.", "conncomp/_registers_")
NEEDED = ("conncomp/_native", "conncomp/_registers_generic")


def tracked(*folders):
    """Return the files that git tracks in some folders, relative to the root."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", *folders]
    done = subprocess.run(command, capture_output=True, check=True)
    return {name for name in done.stdout.decode().split("\0") if name}


def differences(names, wanted, optional=frozenset()):
    """Return a line for each name that is missing or too many."""
    return [f"missing: {name}" for name in sorted(wanted - names)] + [
        f"too many: {name}" for name in sorted(names - wanted - optional)
    ]


def check_sdist(path):
    """Return what is wrong with an sdist."""
    with tarfile.open(path) as archive:
        files = [member.name.partition("/")[2] for member in archive if not member.isdir()]
    everything = tracked()
    wanted = {name for name in everything if not name.startswith(NOT_IN_SDIST)} | {"PKG-INFO"}
    notes = {name for name in everything if name.startswith("benchmarks/")}
    return differences(set(files), wanted, notes)


def check_wheel(path):
    """Return what is wrong with a wheel."""
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
    info = metadata.rpartition("/")[0]
    wanted = {
        name.removeprefix("src/") for name in tracked("src") if not name.startswith(NOT_IN_WHEEL)
    }
    wanted |= {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    wanted |= {f"{info}/licenses/{name}" for name in LICENCES}
    compiled = {name for name in names if name.startswith(COMPILED) and name.endswith(".so")}
    flaws = differences(names - compiled, wanted)
    parts = {name.partition(".")[0] for name in compiled}
    flaws += [f"missing: {name}" for name in NEEDED if name not in parts]
    if "-1native-" in Path(path).name:
        flaws.append("it is built for one machine; build it with CONNCOMP_PORTABLE=1")
    if "License-Expression: BSD-3-Clause AND MIT" not in text:
        flaws.append("METADATA names no licence")
    return flaws


def main(kind, path):
    flaws = {"sdist": check_sdist, "wheel": check_wheel}[kind](path)
    size = Path(path).stat().st_size
    if size > MOST_BYTES * (4 if kind == "wheel" else 1):
        flaws.append(f"it weighs {size:,} bytes")
    print(f"{Path(path).name}: {size:,} bytes, {len(flaws)} flaws", *flaws, sep="\n  ")
    return bool(flaws)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
