"""Run calls, and hold what they give against what was recorded."""

import json
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import conncomp

from . import names
from .canonical import digest, errors_seen, name_of_error
from .inputs import tables

# What calls raise that are wrong themselves, or that need a library; nothing to record.
MISTAKES = {AttributeError, NameError, UnboundLocalError, AssertionError, SyntaxError}
MISTAKES |= {ImportError, ModuleNotFoundError}
FOLDER = Path(__file__).with_name("recorded")
# By theme, which is the name of a file: the libraries that it needs.
THEMES = {
    "spins": (),
    "simulations": ("h5py", "xarray"),
    "chunks": ("dask", "xarray"),
    "files": ("h5py", "zarr", "tifffile", "PIL"),
    "generated": (),
    "errors": (),
}


def missing(theme):
    """Return the libraries that a theme needs and that are not here."""
    return [name for name in THEMES[theme] if find_spec(name) is None]


def run(theme):
    """Return what the calls of a theme give, by key, and the public names that they reach."""
    found, before = {}, conncomp.get_num_threads()
    names.reached.clear()
    try:
        for key, call in _calls(theme):
            assert key not in found, f"{key} twice"
            found[key] = result_of(call)
    finally:
        conncomp.set_num_threads(before)
    return found, sorted(f"{room} {name}" for room, name in names.reached)


def _calls(theme):
    """Yield the calls of a module: those of its table, and of its generators."""
    module = vars(import_module(f"{__package__}.{theme}"))
    yield from tables(module["CALLS"], module) if "CALLS" in module else ()
    generators = [name for name in module if name.startswith("_of_")]
    for name in ["calls"] if "calls" in module else generators:
        yield from module[name]()


def result_of(call):
    """Return the digits of what a call gives, or the class of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
            return result if isinstance(result, Classes) else digest(result)
        except NotImplementedError:
            raise
        except Exception as error:
            return name_of_error(error)


class Classes(str):
    """A result that is recorded as it stands."""


def recorded(theme):
    """Return what was recorded of a theme: results by key, and the public names reached."""
    path = FOLDER / f"{theme}.json"
    return json.loads(path.read_text()) if path.exists() else {"reached": [], "results": {}}


def record(theme):
    """Run the calls of a theme, write what they give, and return a line about them."""
    begin = time.process_time()
    errors_seen.clear()
    found, reached = run(theme)
    if mistakes := errors_seen & MISTAKES:
        words = {f"error {mistake.__name__}" for mistake in mistakes}
        at = [key for key, value in found.items() if value in words]
        raise RuntimeError(f"calls of {theme} raise {mistakes}: {at or 'within results'}")
    # A name is written down with one theme that reaches it.
    others = [recorded(other)["reached"] for other in THEMES if other != theme]
    reached = [name for name in reached if not any(name in names for names in others)]
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    text = f'{{"reached": {json.dumps(reached)},\n"results": {{\n' + ",\n".join(lines) + "\n}}\n"
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{theme}.json").write_text(text)
    errors = sum(value.startswith("error") for value in found.values())
    seconds = round(time.process_time() - begin, 1)
    return f"{theme}: {len(found)} results, {errors} errors, {len(text)} bytes, {seconds} s"


def differences(theme):
    """Return lines about what differs from what was recorded."""
    found, reached = run(theme)
    errors = import_module(f"{__package__}.errors")
    known = recorded(theme)
    lines = [f"{name} is not reached" for name in known["reached"] if name not in reached]
    results = known["results"]
    for key in [*results, *(key for key in found if key not in results)]:
        was, now = results.get(key, "not recorded"), found.get(key, "no call")
        if "=" in was and "=" in now:
            lines += [f"{key}: {line}" for line in errors.explain(was, now)]
        elif was != now:
            lines.append(f"{key}: was {was}, is {now}")
    return lines
