"""`ClusterPairs`."""

import io
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conncomp

ROWS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 9)), max_size=40)


def same(table, other):
    assert list(table) == list(other)
    for name in table:
        np.testing.assert_array_equal(table[name], other[name])


@given(ROWS, st.integers(0, 40), st.booleans())
def test_batches_give_what_one_table_gives(tmp_path_factory, rows, cut, text):
    columns = [np.array([row[k] for row in rows], np.int64) for k in range(3)]
    if text:
        columns[0], columns[1] = columns[0].astype("U"), columns[1].astype("U")
    clusters = conncomp.ClusterPairs(threshold=[3, 7])
    clusters.add(*(column[:cut] for column in columns))
    path = tmp_path_factory.mktemp("saved") / "clusters.npz"
    clusters.labels()
    clusters.save(path)
    clusters.add(*(column[cut:] for column in columns))
    loaded = conncomp.ClusterPairs.load(path)
    loaded.add(*(column[cut:] for column in columns))
    whole = conncomp.cluster_pairs(*columns[:2], weights=columns[2], threshold=[3, 7])
    same(clusters.labels(), whole)
    same(loaded.labels(), whole)


def test_saved_ids_of_several_columns_of_arrow(tmp_path):
    left, right = (pa.array(["a", "b"]), pa.array([1, 2])), (pa.array(["b", "c"]), pa.array([2, 3]))
    clusters = conncomp.ClusterPairs()
    clusters.add(left, right)
    clusters.save(tmp_path / "saved")
    loaded = conncomp.ClusterPairs.load(tmp_path / "saved")
    assert loaded.labels() == clusters.labels()
    assert loaded.labels()["size"].to_pylist() == [3, 3, 3]


def test_what_cannot_be_loaded(tmp_path):
    path = tmp_path / "saved.npz"
    with pytest.raises(FileNotFoundError):
        conncomp.ClusterPairs.load(path)
    clusters = conncomp.ClusterPairs()
    clusters.add([1, 2], [2, 3])
    clusters.save(path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 30):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"is no file of ClusterPairs\.save"):
            conncomp.ClusterPairs.load(path)
    with pytest.raises(OSError, match="no_folder"):
        clusters.save(tmp_path / "no_folder" / "saved.npz")


def test_later_batches_of_another_type():
    clusters = conncomp.ClusterPairs()
    clusters.add(np.array([-1], "i4"), np.array([2], "i4"))
    clusters.add(np.array([2], "u8"), np.array([3], "u8"))
    assert clusters.labels()["node"].tolist() == [-1, 2, 3]
    with pytest.raises(ValueError, match="no 64-bit integer type"):
        clusters.add(np.array([2**63], "u8"), np.array([3], "u8"))
    with pytest.raises(TypeError, match="there are ids of int32"):
        clusters.add(["a"], ["b"])
    assert len(conncomp.ClusterPairs().labels()["node"]) == 0


def test_a_forged_header_allocates_nothing(tmp_path):
    """A header that promises more numbers than the file has bytes is refused before any is read."""
    path = tmp_path / "forged"
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "|u1", "fortran_order": False, "shape": (1 << 40,)}
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("facts.npy", head.getvalue() + b"{}")
    with pytest.raises(ValueError, match="shape"):
        conncomp.ClusterPairs.load(path)
