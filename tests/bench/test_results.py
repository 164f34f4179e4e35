import copy
import json

import pytest

from conncomp.bench.results import LARGEST_FILE, GraphResult, load, save


def test_the_agreed_format(tmp_path, raw, write):
    found = load(write(tmp_path / "a.json", raw | {"another": [1, {}]}))
    assert isinstance(found, GraphResult)
    (row,) = found.rows
    assert (found.things, row.vertices, row.size, row.stand_in) == ("arcs", 10, 20, True)
    assert row.runs[0].seconds == (0.5, 1.0)
    assert row.runs[0].median == 0.75
    assert row.runs[0].quartiles == (0.625, 0.875)
    assert (row.runs[1].median, row.runs[1].quartiles) == (None, None)
    assert found.floor(row) == 160 / 1e10


@pytest.fixture
def raw_gpu(raw):
    """Return the agreed format with all that a result from a GPU has besides."""
    raw["device"] = "cuda"
    gpu = {"name": "g", "memory_bytes": 1, "driver": "13.1", "runtime": "13.0"}
    raw["machine"]["gpu"] = gpu
    raw["rows"][0]["transfers"] = {"to_device": [0.5, 1.5], "to_host": [0.25]}
    raw["rows"][0]["runs"][0]["captured"] = [0.1, 0.2, 0.3]
    return raw


def test_a_result_from_a_gpu(tmp_path, raw_gpu, write):
    found = load(write(tmp_path / "a.json", raw_gpu))
    assert (found.device, found.machine.gpu.name) == ("cuda", "g")
    (row,) = found.rows
    assert row.transfers.medians == (1.0, 0.25)
    assert [run.captured_median for run in row.runs] == [0.2, None]
    save(tmp_path / "b.json", found)
    assert load(tmp_path / "b.json") == found


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda raw: raw["machine"]["gpu"].pop("driver"), "driver"),
        (lambda raw: raw["machine"]["gpu"].update(name="\x1b[31m"), "name"),
        (lambda raw: raw["rows"][0]["transfers"].update(to_host=[]), "to_host"),
        (lambda raw: raw["rows"][0]["transfers"].update(to_host=[0]), "to_host"),
        (lambda raw: raw["rows"][0]["transfers"].pop("to_device"), "to_device"),
        (lambda raw: raw["rows"][0]["runs"][0].update(captured=[-1]), "captured"),
        (lambda raw: raw["rows"][0]["runs"][1].update(captured=[1]), "'wrong' has `captured`"),
    ],
)
def test_a_damaged_result_from_a_gpu(tmp_path, raw_gpu, write, change, reason):
    change(raw_gpu)
    with pytest.raises(ValueError, match=reason):
        load(write(tmp_path / "a.json", raw_gpu))


@pytest.mark.parametrize("graph", [False, True])
def test_round_trip(tmp_path, make_result, make_row, make_run, graph):
    failed = make_run("x", (), "peer", status="failed", reason="out of memory")
    result = make_result(make_row(graph=graph), make_row("b", [make_run(), failed], graph=graph))
    save(tmp_path / "a.json", result)
    assert load(tmp_path / "a.json") == result
    kind = json.loads((tmp_path / "a.json").read_text())["kind"]
    assert kind == ("graph" if graph else "grid")


def test_save_writes_only_what_load_reads(tmp_path, make_result, make_row, make_run):
    for bad in (float("nan"), -1.0, 0.0, float("inf")):
        with pytest.raises(ValueError, match=r"a\.json: .*seconds"):
            save(tmp_path / "a.json", make_result(make_row(runs=[make_run(seconds=(1.0, bad))])))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "damaged"),
        ("\ufeff{}", "damaged"),
        ("not JSON", "damaged"),
        ("[]", "array"),
        ("{}", "not a result file"),
        ("[" * 10**6, "array"),
        ('{"format": ' + "[" * 10**6 + "]" * 10**6 + "}", "nested too deeply"),
        ('{"format": "conncomp-bench", "version": 1, "x": ' + "[" * 10**6, "nested too deeply"),
        (" " * (LARGEST_FILE + 1), "larger than 16 MiB"),
    ],
)
def test_not_a_result(tmp_path, write, text, reason):
    path = write(tmp_path / "a.json", text)
    with pytest.raises(ValueError, match=reason) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "a.json")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_cut_short_anywhere(tmp_path, raw, write):
    text = json.dumps(raw)
    for length in range(0, len(text), 7):
        with pytest.raises(ValueError, match="damaged"):
            load(write(tmp_path / "a.json", text[:length]))


def _paths(value, path=()):
    """Return the way to every field."""
    if isinstance(value, dict):
        steps = list(value.items())
    elif isinstance(value, list):
        steps = list(enumerate(value))
    else:
        return
    for key, part in steps:
        yield (*path, key)
        yield from _paths(part, (*path, key))


def test_every_field_is_needed_and_typed(tmp_path, raw, write):
    # Of any name, and of any number; or no more than a list, of any length.
    free = (("versions", "numpy"), ("rows", 0), *(("rows", 0, "runs", k) for k in (0, 1)))
    free += tuple(("rows", 0, "runs", 0, "seconds", k) for k in (0, 1))
    for path in _paths(raw):
        for bad in ({}, [[]], True if path[-1] not in ("dirty", "stand_in") else 1, 1e400, None):
            if bad is None and path[-1] in ("commit", "dirty", "reason"):
                continue
            damaged = copy.deepcopy(raw)
            parent = damaged
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = bad
            if path == ("versions",) and bad == {}:
                continue
            with pytest.raises(ValueError, match=r"a\.json: is "):
                load(write(tmp_path / "a.json", damaged))
        if path not in free:
            del parent[path[-1]]
            with pytest.raises(ValueError, match=r"a\.json: is "):
                load(write(tmp_path / "a.json", damaged))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda raw: raw.update(version=2), "another version"),
        (lambda raw: raw.update(format="other"), "not a result file"),
        (lambda raw: raw.update(kind="tree"), "kind"),
        (lambda raw: raw.update(kind="grid"), "elements"),
        (lambda raw: raw.update(copy_bytes_per_second=0), "copy_bytes_per_second"),
        (lambda raw: raw.update(size="\x1b[31m"), "size"),
        (lambda raw: raw.update(device="\x1b[31m" * 10**4), "Invalid enum"),
        (lambda raw: raw.update(rows=raw["rows"] * 2), "2 of input 'ecl-18/internet'"),
        (lambda raw: raw["rows"][0].update(runs=raw["rows"][0]["runs"] * 2), "2 of run"),
        (lambda raw: raw["rows"][0].update(arcs=-1), "arcs"),
        (lambda raw: raw["rows"][0].update(arcs=2**63), "arcs"),
        (lambda raw: raw["rows"][0]["runs"][0].update(seconds=[]), "'ok' has 0"),
        (lambda raw: raw["rows"][0]["runs"][1].update(seconds=[1]), "'wrong' has 1"),
        (lambda raw: raw["rows"][0]["runs"][0].update(seconds=[-1]), "seconds"),
        (lambda raw: raw["rows"][0]["runs"][0].update(seconds=[float("nan")]), "damaged"),
        (lambda raw: raw["rows"][0]["runs"][0].update(name=""), "name"),
    ],
)
def test_out_of_range(tmp_path, raw, write, change, reason):
    change(raw)
    with pytest.raises(ValueError, match=reason) as caught:
        load(write(tmp_path / "a.json", raw))
    assert len(str(caught.value)) < 400 + len(str(tmp_path))
    assert str(caught.value).isprintable()
