"""`cluster_dups` against a dictionary of sets; `tests/peers` has datatrove itself."""

import errno
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conncomp

INDEX = (2**32 - 1, 2**32 - 1)
DOCUMENTS = st.tuples(st.integers(0, 3), st.integers(0, 6))
PAIRS = st.lists(st.tuples(st.one_of(DOCUMENTS, st.just(INDEX)), DOCUMENTS), max_size=40)
OPTIONS = st.tuples(st.booleans(), st.booleans(), st.booleans())


def expected(pairs, ids, sizes, ignore):
    """Return the files that there should be: each cluster is a list whose first document stays."""
    cluster = {}
    for left, right in pairs:
        if ignore and left == INDEX:
            continue
        one, other = (cluster.setdefault(document, [document]) for document in (left, right))
        if one is other:
            continue
        if other[0] == INDEX or (one[0] != INDEX and len(other) > len(one)):
            one, other = other, one
        one += other
        cluster.update(dict.fromkeys(other, one))
    files, numbers = defaultdict(list), {}
    for document in sorted(cluster):
        members = cluster[document]
        number = numbers.setdefault(members[0], len(numbers))
        name = f"{document[0]:06d}"
        if document != members[0]:
            files[f"{name}.remove"].append(document[1])
        if ids:
            files[f"{name}.clusters"] += [document[1], number]
        if sizes:
            files[f"{name}.sizes"] += [document[1], len(members)]
    contents = {name: np.array(words, "<u4").tobytes() for name, words in files.items()}
    counts = {
        "duplicates": len(cluster),
        "to_remove": len(cluster) - len(numbers),
        "clusters": len(numbers),
    }
    return contents, counts


def write(folder, pairs, cut):
    for name, part in (("00000_00.dups", pairs[:cut]), ("00001_00.dups", pairs[cut:])):
        (folder / name).write_bytes(np.array(part, "<u4").tobytes())


@given(PAIRS, st.integers(0, 40), OPTIONS)
def test_files(tmp_path_factory, pairs, cut, options):
    folder, out = tmp_path_factory.mktemp("dups"), tmp_path_factory.mktemp("out")
    write(folder, pairs, cut)
    ids, sizes, ignore = options
    counts = conncomp.cluster_dups(
        folder, out, save_cluster_id=ids, save_cluster_size=sizes, ignore_index_matches=ignore
    )
    written = {path.name: path.read_bytes() for path in out.iterdir()}
    assert (written, counts) == expected(pairs, ids, sizes, ignore)


def test_many_pairs_in_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("conncomp.tables.files.dups.BLOCK", 16 * 1000)
    rng = np.random.default_rng(0)
    documents = np.stack([rng.integers(0, 5, 20_000), rng.integers(0, 10_000, 20_000)], axis=1)
    pairs = [tuple(map(tuple, pair)) for pair in documents.reshape(-1, 2, 2).tolist()]
    write(tmp_path, pairs, 4321)
    conncomp.cluster_dups(str(tmp_path), tmp_path / "a" / "b", save_cluster_size=True)
    written = {path.name: path.read_bytes() for path in (tmp_path / "a" / "b").iterdir()}
    assert written == expected(pairs, False, True, False)[0]


def test_progress(tmp_path):
    write(tmp_path, [((0, 1), (0, 2))], 1)
    calls = []
    conncomp.cluster_dups(tmp_path, tmp_path, progress=lambda *counts: calls.append(counts))
    assert calls == [(1, 2), (2, 2)]
    with pytest.raises(TypeError, match="progress=3 must be a function"):
        conncomp.cluster_dups(tmp_path, tmp_path, progress=3)


def test_files_that_are_not_there_or_cut_off(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no \.dups file"):
        conncomp.cluster_dups(tmp_path, tmp_path)
    (tmp_path / "00000_00.dups").write_bytes(bytes(24))
    with pytest.raises(ValueError, match=r"00000_00\.dups is cut off"):
        conncomp.cluster_dups(tmp_path, tmp_path)


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    write(tmp_path, [((0, 1), (0, 2))], 1)

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    monkeypatch.setattr("os.rename", full)
    with pytest.raises(OSError, match="No space"):
        conncomp.cluster_dups(tmp_path, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
