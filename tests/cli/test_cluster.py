"""``conncomp cluster``."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from cli.test_command import check_failure, raising
from conncomp.cli import cluster as module
from pair_files import write, write_dups
from pairs_reference import divided, table_of

DRAW = np.random.default_rng(2)
ROWS = [(int(u), int(v), int(w) / 8) for u, v, w in DRAW.integers(0, [60, 60, 8], (50, 3))]
COLUMNS = ("--left", "l", "--right", "r")


def table_of_rows(rows):
    names = ("l", "r", "w")
    return pa.table({name: [row[k] for row in rows] for k, name in enumerate(names)})


def read(path):
    path = Path(path)
    if path.suffix in (".csv", ".tsv"):
        parse = pa.csv.ParseOptions(delimiter="," if path.suffix == ".csv" else "\t")
        return pa.csv.read_csv(path, parse_options=parse)
    if path.suffix in (".arrow", ".feather", ".ipc"):
        return pa.ipc.open_file(path.read_bytes()).read_all()
    if path.suffix == ".arrows":
        return pa.ipc.open_stream(path.read_bytes()).read_all()
    return pa.parquet.read_table(path, partitioning=None)


def columns_of(path, *names):
    found = read(path)
    return [found.column(name).to_pylist() for name in names or found.column_names]


@pytest.fixture(autouse=True)
def _files():
    Path("pairs").mkdir()
    write(Path("pairs/a.parquet"), table_of_rows(ROWS[:20]), 7)
    write(Path("pairs/b.parquet"), table_of_rows(ROWS[20:]), 11)


EXPECTED = [*map(list, table_of([row[:2] for row in ROWS]))]


@pytest.mark.parametrize("name", [f"out{suffix}" for suffix in module.OUTPUTS])
def test_clusters_of_files(report, name):
    found = report("cluster", "pairs/*.parquet", *COLUMNS, "-o", name)
    assert columns_of(name) == EXPECTED
    assert columns_of(name, "node", "cluster", "size") == EXPECTED
    assert (found["pairs"], found["ids"], found["dropped"]) == (50, len(EXPECTED[0]), 0)
    assert found["input"]["files"] == ["pairs/a.parquet", "pairs/b.parquet"]
    assert found["written"] == {"table": name}
    sizes = np.bincount(EXPECTED[1])
    (result,) = found["results"]
    assert result["clusters"] == len(sizes)
    assert result["alone"] == 0 + int(np.count_nonzero(sizes == 1))
    assert result["largest"][0] == {"label": int(sizes.argmax()), "size": int(sizes.max())}
    assert sum(part["elements"] for part in result["sizes"]) == len(EXPECTED[0])


def test_inputs_may_be_of_several_formats(report):
    whole = pa.parquet.read_table("pairs/b.parquet")
    write(Path("b.arrows"), whole)
    write(Path("c.tsv"), whole.slice(0, 0))
    os.rename("pairs/b.parquet", "b")
    names = "pairs/a.parquet", "b.arrows", "c.tsv", "b.arrows", "pairs/*.parquet"
    report("cluster", *names, *COLUMNS, "--integers", "-o", "out.parquet")
    assert columns_of("out.parquet") == EXPECTED
    report("cluster", "b", *COLUMNS, "--format", "parquet", "-o", "out.parquet")
    assert columns_of("out.parquet")[0] == table_of([row[:2] for row in ROWS[20:]])[0]


def test_thresholds(report, run):
    options = *COLUMNS, "--weight", "w", "--threshold", "0.25,0.75", "-o", "out.parquet"
    found = report("cluster", "pairs/*.parquet", *options)
    names = ["node", "cluster_0.25", "size_0.25", "cluster_0.75", "size_0.75"]
    assert read("out.parquet").column_names == names
    for least, result in zip((0.25, 0.75), found["results"], strict=True):
        kept = [row[:2] for row in ROWS if row[2] >= least]
        expected = [*map(list, table_of(kept, EXPECTED[0]))]
        assert columns_of("out.parquet", "node", f"cluster_{least}", f"size_{least}") == expected
        assert (result["threshold"], result["clusters"]) == (least, max(expected[1]) + 1)
        assert result["alone"] == expected[2].count(1)
    shown = run("cluster", "pairs/*.parquet", *options).stdout
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "threshold clusters of one id largest share of ids" in lines


def test_first_ids_as_names(report):
    found = report("cluster", "pairs/*.parquet", *COLUMNS, "--cluster-ids", "first", "-o", "o.csv")
    nodes, first, _ = columns_of("o.csv")
    named = [EXPECTED[0][EXPECTED[1].index(number)] for number in EXPECTED[1]]
    assert (nodes, first) == (EXPECTED[0], named)
    largest = found["results"][0]["largest"][0]
    assert first.count(int(largest["label"])) == largest["size"]


def test_largest_clusters_are_divided(report):
    options = "--weight", "w", "--max-size", "3", "--cluster-ids", "first"
    report("cluster", "pairs/*.parquet", *COLUMNS, *options, "-o", "out.parquet")
    _, cluster, size, at = columns_of("out.parquet")
    expected = divided(ROWS, 3)
    assert max(size) <= 3
    assert cluster == [first for first, _ in expected]
    assert [None if np.isnan(x) else x for x in at] == [x for _, x in expected]


def test_nodes_come_first(report):
    write(Path("nodes.csv"), pa.table({"id": [99, 5, 7]}))
    options = "--nodes", "nodes.csv", "--node", "id", "--integers", "-o", "out.parquet"
    found = report("cluster", "pairs/*.parquet", *COLUMNS, *options)
    expected = [*map(list, table_of([row[:2] for row in ROWS], [99, 5, 7]))]
    assert columns_of("out.parquet") == expected
    assert found["ids"] == len(expected[0])


def test_integers(run, report):
    Path("zip.csv").write_text('l,r\n02139,02140\n2139,"10001"\n" 2139",+2139\n')
    report("cluster", "zip.csv", *COLUMNS, "-o", "out.parquet")
    nodes = ["02139", "02140", "2139", "10001", " 2139", "+2139"]
    assert columns_of("out.parquet", "node", "cluster") == [nodes, [0, 0, 1, 1, 2, 2]]
    assert check_failure(run("cluster", "zip.csv", *COLUMNS, "--integers")) == (
        "conncomp: zip.csv:2: column 'l': expected an integer of 64 bits without leading zeros, "
        "plus signs, blanks or fractions, found '02139'; without --integers ids are text"
    )


def test_a_first_row_that_is_data(run, report):
    Path("names.csv").write_text("Ada,Grace,1\nGrace,Emmy,.5\nSofia,Hypatia,1\n")
    numbers = "--left", "0", "--right", "1", "-o", "out.parquet"
    found = run("cluster", "names.csv", *numbers)
    assert found.exit_code == 0
    assert found.stderr == (
        "conncomp: names.csv: the first row, 'Ada', 'Grace', '1', is taken as data, like the rows "
        "below it; --header takes it as the names of columns\n"
    )
    nodes = ["Ada", "Grace", "Emmy", "Sofia", "Hypatia"]
    assert columns_of("out.parquet", "node", "cluster") == [nodes, [0, 0, 0, 1, 1]]
    report("cluster", "names.csv", *numbers, "--no-header", "--weight", "2", "--threshold", ".7")
    assert columns_of("out.parquet", "node", "cluster") == [nodes, [0, 0, 1, 2, 2]]
    named = "--left", "Ada", "--right", "Grace", "-o", "out.parquet"
    check_refused(
        run("cluster", "names.csv", *named),
        "names.csv: its first row may be data, as 'Grace' is an id below, too; --header takes it "
        "as names of columns, --no-header as data, with columns 0, 1, ...",
    )
    report("cluster", "names.csv", *named, "--header")
    assert columns_of("out.parquet", "node")[0] == ["Grace", "Emmy", "Sofia", "Hypatia"]
    check_refused(
        run("cluster", "names.csv", *COLUMNS),
        "its first row, 'Ada', 'Grace', '1', is taken as data and has no 'l'; give numbers of",
    )
    check_refused(
        run("cluster", "names.csv", "--left", "0", "--right", "3", "--no-header"),
        "names.csv: --right '3': without a header, columns have the numbers 0 to 2",
    )
    check_refused(
        run("cluster", "names.csv", *COLUMNS, "--no-header"), "--left 'l': without a head"
    )


def test_many_files_without_a_header(run, report):
    for k in range(5):
        Path(f"{k}.csv").write_text(f"{k},{k + 1}\n{k + 1},{k + 2}\n")
    found = run("cluster", "?.csv", "--left", "0", "--right", "1", "--integers", "-o", "o.parquet")
    assert found.stderr.count("\n") == 1
    assert "; so it is in 4 files more\n" in found.stderr
    assert columns_of("o.parquet", "node")[0] == [*range(7)]
    Path("h.csv").write_text("0,1\nAda,Grace\nEmmy,Sofia\n")  # as pandas writes tables
    found = run("cluster", "h.csv", "--left", "0", "--right", "1", "-o", "o.parquet")
    assert "is taken as the names of columns; --no-header takes it as data" in found.stderr
    assert columns_of("o.parquet", "node")[0] == ["Ada", "Grace", "Emmy", "Sofia"]
    Path("n.csv").write_text("Ada\nAlan\n")
    words = "--left", "0", "--right", "1", "--no-header", "--nodes", "n.csv", "--node", "0"
    report("cluster", "h.csv", *words, "-o", "o.parquet")
    nodes = ["Ada", "Alan", "0", "1", "Grace", "Emmy", "Sofia"]
    assert columns_of("o.parquet", "node")[0] == nodes


def test_nulls(run, report):
    write(Path("n.parquet"), pa.table({"l": [1, None, 3], "r": [2, 5, 4]}))
    line = "n.parquet: column 'l' is null at row 1; --nulls 'drop' leaves out such rows"
    assert check_failure(run("cluster", "n.parquet", *COLUMNS)) == f"conncomp: {line}"
    found = report("cluster", "n.parquet", *COLUMNS, "--nulls", "drop", "-o", "out.csv")
    assert (found["pairs"], found["dropped"]) == (3, 1)
    assert columns_of("out.csv")[0] == [1, 2, 3, 4]
    assert "3, 1 of them dropped" in run("cluster", "n.parquet", *COLUMNS, "--nulls", "drop").stdout


def test_dups(report):
    records = [(0, 1, 2, 3), (2, 3, 0, 9), (4294967295, 4294967295, 7, 7)]
    write_dups(Path("00000_00.dups"), records)
    found = report("cluster", "*.dups", "-o", "out.parquet")
    expected = table_of([(record[:2], record[2:]) for record in records])
    first, last, cluster, size = columns_of("out.parquet")
    assert [[*zip(first, last, strict=True)], cluster, size] == [*expected]
    assert found["pairs"] == 3
    report("cluster", "*.dups", "-o", "named.csv", "--cluster-ids", "first")
    assert read("named.csv").column_names == ["node_0", "node_1", "cluster_0", "cluster_1", "size"]


def test_table(run):
    result = run("cluster", "pairs/*.parquet", *COLUMNS, "--threads", 2, "-o", "out.csv")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert {"input pairs/a.parquet and 1 more", "pairs 50", "table out.csv"} <= set(lines)
    assert f"ids {len(EXPECTED[0])}" in lines
    assert "size clusters ids share" in lines


def test_empty(report, run):
    write(Path("e.parquet"), table_of_rows(ROWS).slice(0, 0))
    found = report("cluster", "e.parquet", *COLUMNS, "-o", "out.parquet")
    assert (found["ids"], found["results"][0]["clusters"]) == (0, 0)
    assert read("out.parquet").schema.names == ["node", "cluster", "size"]
    options = "--weight", "w", "--threshold", "1,2"
    assert run("cluster", "e.parquet", *COLUMNS, *options).exit_code == 0


def check_refused(result, words):
    assert words in check_failure(result)
    assert not list(Path().glob(".*"))


BASE = "pairs/* --left l --right r"


REFUSED = [
    ("", "Missing argument 'IN...'"),
    ("none.parquet --left l --right r", "'none.parquet' does not exist"),
    ("none*.parquet --left l --right r", "'none*.parquet' matches no file"),
    ("pairs --left l --right r", "'pairs' is a directory; give a pattern of the files in it"),
    ("pairs/* --left l", "--left and --right must name the columns of ids"),
    ("pairs/*", "--left and --right must name the columns of ids"),
    ("pairs/* --left l --left w --right r", "--left names 2 columns and --right 1"),
    ("pairs/* --left q --right r", "pairs/a.parquet: --left 'q': it has no column of that name"),
    ("pairs/* --left l --right q", "pairs/a.parquet: --right 'q': it has no column of that name"),
    (f"{BASE} --weight q --threshold 1", "--weight 'q': it has no column of that name, but"),
    (f"{BASE} --threshold 1", "--threshold is for --weight; give both"),
    (f"{BASE} --max-size 1", "--max-size is for --weight; give both"),
    (f"{BASE} --header", "--header is for CSV and TSV; leave it out"),
    (f"{BASE} --no-header", "--no-header is for CSV and TSV; leave it out"),
    (f"{BASE} --weight w --threshold x", "'x' is no number"),
    (f"{BASE} --weight w --threshold 1,1", "--threshold [1.0, 1.0] must be"),
    (f"{BASE} --weight w --threshold nan", "none of them NaN"),
    (
        f"{BASE} --weight w --threshold 1,2 --max-size 3",
        "max_size takes one threshold; call once for each",
    ),
    ("pairs/* --left l --right w", "'l' of pairs/a.parquet of type int64 and column 'w'"),
    ("text.parquet pairs/* --left l --right r", "column 'l' of pairs/a.parquet of type int64"),
    (
        "text.parquet --left l --right r --max-size 2 --weight r",
        "text.parquet: column 'r': weights are of",
    ),
    (f"{BASE} -o pairs/a.parquet", "are the same file"),
    (f"{BASE} -o out.xlsx", "'out.xlsx' does not end in .parquet"),
    (f"{BASE} -o no/out.csv", "there is no directory 'no'"),
    (f"{BASE} --nodes none", "'none' does not exist"),
    (f"{BASE} --nodes text.parquet --node q", "--node 'q': it has no column"),
    (f"{BASE} --nodes text.parquet", "column 'l' of text.parquet of type str"),
    ("junk --left l --right r", "junk: its name does not say what it is; give --format, one of"),
    ("junk --left l --right r --format parquet", "junk: Parquet magic bytes not found"),
    ("junk --format dups", "junk: its 13 bytes are no multiple of 16"),
    ("lists.parquet --left l --right r", "whose values cannot be compared as ids"),
    (f"{BASE} --memory much", "--memory 'much' is no number of bytes such as"),
    (f"{BASE} --memory 50M", "there is too little memory to begin, which takes"),
    ("uuid.parquet --left l --right r -o out.csv", "out.csv: "),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_what_is_refused(run, arguments, words):
    write(Path("text.parquet"), pa.table({"l": ["a"], "r": ["b"]}))
    write(Path("lists.parquet"), pa.table({"l": [[1]], "r": [[2]]}))
    structs = pa.array([{"a": 1}], pa.struct({"a": pa.int64()}))
    write(Path("uuid.parquet"), pa.table({"l": structs, "r": structs}))
    Path("junk").write_text("this is junk\n")
    check_refused(run("cluster", *arguments.split()), words)
    assert not list(Path().glob("out*"))


def test_other_commands_do_without_pyarrow():
    code = (
        "import sys; from conncomp.cli._command import command\n"
        "try: command.main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "assert 'pyarrow' not in sys.modules and 'pandas' not in sys.modules"
    )
    for arguments in (["--help"], ["cluster", "--help"], ["info", "--help"]):
        subprocess.run([sys.executable, "-c", code, *arguments], check=True, timeout=60)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs /proc")
def test_a_limit_that_is_reached_on_the_way():
    """What may not fit is said before, and where it does not the run ends with an error."""
    count = 5_000_000
    ids = pa.array(np.arange(2 * count) * 97)
    write(Path("many.parquet"), pa.table({"l": ids[:count], "r": ids[count:]}), 1 << 17)
    process = start("--memory", "320M", "-o", "out.parquet")
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (2, "")
    before, after = stderr.splitlines()
    assert before.startswith("conncomp: up to 10,000,000 distinct ids would take ")
    assert "; --memory 320M is the limit, in which about " in before
    said = int(re.search("about ([0-9,]+) fit", before)[1].replace(",", ""))
    words = r"conncomp: out of memory: ([0-9,]+) distinct ids, after \d\d? % of the input, take 3"
    ended = int(re.match(words, after)[1].replace(",", ""))
    assert 0.5 * said < ended < 5 * said
    assert "with the table of their clusters; --memory 320M is the limit; give more" in after
    assert sorted(os.listdir()) == ["many.parquet", "pairs"]
    # Where the type leaves room for few ids, nothing is said.
    few = pa.array(np.arange(2 * count) % 1000, pa.int16())
    write(Path("many.parquet"), pa.table({"l": few[:count], "r": few[count:]}))
    process = start("--memory", "320M")
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
@pytest.mark.parametrize(
    ("writer", "name"),
    [
        ("pyarrow.parquet.ParquetWriter.write_table", "out.parquet"),
        ("conncomp.cli.cluster.write_table", "out.csv"),
        ("os.fsync", "out.arrow"),
    ],
)
def test_nothing_is_left_half_written(run, monkeypatch, writer, name, error):
    monkeypatch.setattr(module, "_check_output", lambda path, file: None)
    monkeypatch.setattr(writer, raising(error))
    found = run("cluster", "pairs/*.parquet", *COLUMNS, "-o", name)
    interrupted = isinstance(error, KeyboardInterrupt)
    words = "conncomp: interrupted\n" if interrupted else f"conncomp: {name}: No space left\n"
    assert (found.exit_code, found.stderr) == (130 if interrupted else 2, words)
    assert sorted(os.listdir()) == ["pairs"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("name", ["out.parquet", "out.arrow", "out.csv"])
def test_a_full_disk(run, name):
    """Of the system, as the writers of Arrow meet it: room for few bytes in a file."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        found = run("cluster", "pairs/*.parquet", *COLUMNS, "-o", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (found.exit_code, found.stderr) == (2, f"conncomp: {name}: File too large\n")
    assert sorted(os.listdir()) == ["pairs"]


def many(count=4_000_000):
    draw = np.random.default_rng(0)
    columns = {name: draw.integers(0, 2**62, count) for name in ("l", "r")}
    return write(Path("many.parquet"), pa.table(columns), 100_000)


def start(*options):
    return subprocess.Popen(
        [sys.executable, "-m", "conncomp", "cluster", "many.parquet", *COLUMNS, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process, files):
    """Wait until a process has so many threads that read, or a file that it writes."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if files and list(Path().glob(".out*")):
            return
        if not files and f"{os.getcwd()}/many.parquet" in opened_by(process):
            return
        time.sleep(0.002)
    raise AssertionError("the process did not come so far")


def opened_by(process):
    try:
        links = list(Path(f"/proc/{process.pid}/fd").iterdir())
        return [os.readlink(link) for link in links]
    except OSError:
        return []


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("writing", [False, True])
def test_interrupt(writing):
    many()
    for turn in range(2):
        process = start("-o", "out.csv")
        wait_for(process, writing)
        time.sleep(0.15 * turn)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stderr.readline()
        taken = time.monotonic() - begin
        stdout, stderr = process.communicate(timeout=60)
        assert (process.returncode, stdout) == (130, "")
        assert (line, stderr) == ("conncomp: interrupted\n", "")
        assert sorted(os.listdir()) == ["many.parquet", "pairs"]
        assert taken < 1  # 0.1 s as a rule, on a machine that does much else


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("writing", [False, True])
def test_a_killed_process_leaves_no_file_that_looks_whole(run, writing):
    many()
    Path("out.csv").write_text("what was there before")
    process = start("-o", "out.csv")
    wait_for(process, writing)
    process.kill()
    process.communicate(timeout=60)
    assert Path("out.csv").read_text() == "what was there before"
    assert all(".conncomp-" in name for name in os.listdir() if name.startswith("."))
    # The next run removes what the killed one has left.
    assert run("cluster", "pairs/*.parquet", *COLUMNS, "-o", "out.csv").exit_code == 0
    assert sorted(os.listdir()) == ["many.parquet", "out.csv", "pairs"]
