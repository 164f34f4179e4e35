"""Tables of pairs on a GPU are those of main memory: host executor and GPU."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import conncomp
from conncomp import _arrays
from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.graph import incremental
from conncomp.kernels.cuda.tables import interning, pair_clusters
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.tables import clusters as clusters_module
from conncomp.tables import id_space
from host_cuda.host_gpu import AVAILABLE, HostGpu
from host_cupy import place_on_host
from pairs_reference import clusters_of, table_of

host = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")
ON_GPU = [pytest.param("host", marks=host), pytest.param("cuda", marks=pytest.mark.gpu)]
SEVERAL = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROWS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 9)), max_size=40)


@pytest.fixture
def xp(request, monkeypatch):
    """CuPy, or what stands for it."""
    if request.param == "cuda":
        return pytest.importorskip("cupy")
    return place_on_host(monkeypatch, _arrays, [clusters_module, id_space])


on_gpus = pytest.mark.parametrize("xp", ON_GPU, indirect=True)


def columns_of(rows, dtype=np.int64):
    """Return ids of any dtype, some of them negative if that has such, and weights."""
    left, right, weights = (np.array([row[k] for row in rows], np.int64) for k in range(3))
    return (left - 3).astype(dtype), (right - 3).astype(dtype), weights


def same(table, other):
    assert list(table) == list(other)
    for name, column in table.items():
        np.testing.assert_array_equal(column.get(), other[name], strict=True)


@on_gpus
@SEVERAL
@pytest.mark.parametrize("dtype", ["i1", "u1", "u4", "i8", "u8", "?", "f4", "f8"])
@given(rows=ROWS)
def test_every_dtype(xp, dtype, rows):
    left, right, _ = columns_of(rows, dtype)
    table = conncomp.cluster_pairs(xp.asarray(left), xp.asarray(right))
    ids, cluster, size = table_of(list(zip(left.tolist(), right.tolist(), strict=True)))
    assert table["node"].get().tolist() == ids
    assert table["node"].dtype == dtype
    assert table["cluster"].get().tolist() == cluster
    assert table["size"].get().tolist() == size


@on_gpus
@SEVERAL
@given(rows=ROWS, cut=st.integers(0, 40), thresholds=st.permutations([2, 5.5, 8]))
def test_batches_and_thresholds(xp, tmp_path_factory, rows, cut, thresholds):
    columns = columns_of(rows)
    placed = [xp.asarray(column) for column in columns]
    clusters = conncomp.ClusterPairs(threshold=thresholds)
    clusters.add(*(column[:cut] for column in placed))
    clusters.labels()
    path = tmp_path_factory.mktemp("saved") / "clusters.npz"
    clusters.save(path)
    clusters.add(*(column[cut:] for column in placed))
    right = conncomp.cluster_pairs(*columns[:2], weights=columns[2], threshold=thresholds)
    same(clusters.labels(), right)
    same(conncomp.cluster_pairs(*placed[:2], weights=placed[2], threshold=thresholds), right)
    if cut and rows:
        again = conncomp.ClusterPairs.load(path, device="cuda")
        again.add(*(column[cut:] for column in placed))
        same(again.labels(), right)
    here = conncomp.ClusterPairs.load(path)
    here.add(*(column[cut:] for column in columns))
    for name, column in here.labels().items():
        np.testing.assert_array_equal(column, right[name])


@on_gpus
@SEVERAL
@given(rows=ROWS)
def test_ids_of_several_columns_nodes_and_first_ids(xp, rows):
    left, right, weights = columns_of(rows)
    sides = (left, weights, right), (right, weights, left)
    nodes = tuple(column[:3] for column in sides[1])
    options = {"cluster_ids": "first"}
    table = conncomp.cluster_pairs(*sides, nodes=nodes, **options)
    placed = [tuple(map(xp.asarray, side)) for side in (*sides, nodes)]
    same(conncomp.cluster_pairs(*placed[:2], nodes=placed[2], **options), table)
    pairs = [list(zip(*side, strict=True)) for side in sides]
    ids, first = clusters_of(list(zip(*pairs, strict=True)), zip(*nodes, strict=True))
    assert list(zip(*(table[f"node_{k}"] for k in range(3)), strict=True)) == ids
    assert list(zip(*(table[f"cluster_{k}"] for k in range(3)), strict=True)) == first


@on_gpus
@pytest.mark.parametrize("dtype", ["i4", "M8[D]", "m8[ms]", ">u8"])
def test_columns_of_main_memory_are_moved_and_results_are_moved_back(xp, dtype):
    left = np.array([3, 1, 4, 1], dtype)
    right = np.array([5, 9, 2, 6], dtype)
    there = conncomp.cluster_pairs(left, right, device="cuda")
    here = conncomp.cluster_pairs(left, right)
    for name, column in here.items():
        np.testing.assert_array_equal(there[name], column, strict=True)


@on_gpus
def test_nulls(xp):
    left, right = np.array([1, np.nan, 3]), np.array([2.0, 1, 1])
    placed = xp.asarray(left), xp.asarray(right)
    with pytest.raises(ValueError, match=r"left is null at row 1; nulls='drop'"):
        conncomp.cluster_pairs(*placed)
    same(
        conncomp.cluster_pairs(*placed, nulls="drop"),
        conncomp.cluster_pairs(left, right, nulls="drop"),
    )


class Series:
    """As of cuDF: values on the GPU, and a mask of nulls."""

    def __init__(self, values, nulls):
        self._values, self._nulls = values, nulls
        self.dtype, self.has_nulls = values.dtype, bool(nulls.any())

    def fillna(self, value):
        return SimpleNamespace(values=self._values)

    def isna(self):
        return SimpleNamespace(values=self._nulls)

    @property
    def values(self):
        assert not self.has_nulls
        return self._values


class Frame(dict):
    @property
    def columns(self):
        return list(self)


@on_gpus
def test_tables_of_cudf(xp, monkeypatch):
    """By a stand-in with the few attributes that are used."""
    for kind in (Series, Frame):
        monkeypatch.setattr(kind, "__module__", "cudf.core")
    monkeypatch.setitem(sys.modules, "cudf", SimpleNamespace(DataFrame=Frame))
    left, right = np.array([7, 0, 9]), np.array([9, 0, 3])
    none, some = np.zeros(3, bool), np.array([False, True, False])
    pairs = Frame(
        l=Series(xp.asarray(left), xp.asarray(none)), r=Series(xp.asarray(right), xp.asarray(some))
    )
    table = conncomp.cluster_pairs(pairs, "l", "r", nulls="drop")
    assert isinstance(table, Frame)
    same(table, conncomp.cluster_pairs(left[~some], right[~some]))
    with pytest.raises(ValueError, match="right is null at row 1"):
        conncomp.cluster_pairs(pairs, "l", "r")
    right = pairs["r"]
    right.dtype = np.dtype(object)
    with pytest.raises(TypeError, match=r"right, a column of cuDF, is of type object"):
        conncomp.cluster_pairs(pairs, "l", "r")


@on_gpus
def test_refusals(xp):
    here, there = np.array([1, 2]), xp.asarray(np.array([1, 2]))
    with pytest.raises(TypeError, match=r"left lies in GPU memory, but right does not"):
        conncomp.cluster_pairs(there, here)
    with pytest.raises(TypeError, match=r"right lies in GPU memory, but left does not"):
        conncomp.cluster_pairs(here, there, device="cuda")
    with pytest.raises(ValueError, match=r"device='cpu', but left lies in GPU memory"):
        conncomp.cluster_pairs(there, there, device="cpu")
    with pytest.raises(ValueError, match=r"device='gpu'"):
        conncomp.cluster_pairs(here, here, device="gpu")
    with pytest.raises(TypeError, match=r"of type complex128; ids there must be integers"):
        conncomp.cluster_pairs(xp.asarray(here.astype(complex)), there)
    with pytest.raises(TypeError, match=r"'string' cannot be clustered on a GPU"):
        conncomp.cluster_pairs(["a"], ["b"], device="cuda")
    with pytest.raises(ValueError, match=r"shape \(2, 1\); it must have one dimension"):
        conncomp.cluster_pairs(there.reshape(2, 1), there)
    with pytest.raises(TypeError, match=r"column 'node' lies in GPU memory; copy it"):
        conncomp.cluster_quality(conncomp.cluster_pairs(there, there), there, there)
    with pytest.raises(ValueError, match=r"max_size is not for a GPU; copy the columns"):
        conncomp.cluster_pairs(there, there, weights=there, max_size=3)
    clusters = conncomp.ClusterPairs()
    clusters.add(there, there)
    with pytest.raises(TypeError, match=r"left lies in main memory, but the clusters on a GPU"):
        clusters.add(here, here)
    clusters = conncomp.ClusterPairs()
    clusters.add(here, here)
    with pytest.raises(TypeError, match=r"left lies in GPU memory, but the clusters in main"):
        clusters.add(there, there)


def check_numbers(seed, gpu, first_rows=50, *, rows=400, distinct=300):
    """Compare the numbers of batches of ids with those of a dictionary."""
    generator = np.random.default_rng(seed)
    pool = generator.integers(0, 2**64, distinct, dtype=np.uint64)
    numbers = interning.IdNumbers(gpu, first_rows)
    known = {}
    for _ in range(3):
        left, right = (pool[generator.integers(0, distinct, rows)] for _ in range(2))
        ends = numbers.number(gpu, left, right, Workspace())
        for u, v, *ids in zip(*ends.tolist(), left.tolist(), right.tolist(), strict=True):
            assert [u, v] == [known.setdefault(one, len(known)) for one in ids]
    assert numbers.ids.tolist() == list(known)


def inverse_of_mix(x):
    """Invert ``mix``: multiplications by inverses, and shifts undone from the highest bits."""

    def unshift(y, shift):
        x = y
        for _ in range(64 // shift):
            x = y ^ x >> shift
        return x

    x = unshift(x, 31) * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    x = unshift(x, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    return (unshift(x, 30) - 0x9E3779B97F4A7C15) % 2**64


@host
@pytest.mark.parametrize("seed", range(10))
def test_numbers_are_the_order_of_first_appearance(seed):
    check_numbers(seed, HostGpu(seed=seed))


@host
@pytest.mark.parametrize("shift", [0, 20, 40, 52])
def test_ids_alike_take_no_more_room_than_random_ones(shift):
    """4000 in a table of 2^13 slots: no stretch of slots is so full that one has no room."""
    numbers = interning.IdNumbers(HostGpu())
    ids = np.arange(4000, dtype=np.uint64) << np.uint64(shift)
    numbers.number(HostGpu(), ids, None, Workspace())
    assert numbers._bits == 13


@host
def test_a_table_that_is_full_is_made_anew(monkeypatch):
    """It has 64 slots at first, and 400 ids come."""
    monkeypatch.setattr(interning, "FEWEST_BITS", 6)
    monkeypatch.setattr(interning, "MARGIN", 0)
    check_numbers(0, HostGpu(), distinct=400)


@host
def test_the_id_whose_key_marks_free_slots(monkeypatch):
    """No table that is made by a word has room for it; the next one is made by another word."""
    drawn = iter([7, 8, 9])
    monkeypatch.setattr(interning.secrets, "randbits", lambda bits: next(drawn))
    numbers = interning.IdNumbers(HostGpu())
    ids = np.array([3, inverse_of_mix(0) ^ 7, 3], np.uint64)
    assert numbers.number(HostGpu(), ids, None, Workspace()).tolist() == [0, 1, 0]
    assert next(drawn) == 9


@host
def test_too_many_ids_for_a_table(monkeypatch):
    monkeypatch.setattr(interning, "MOST_BITS", 6)
    monkeypatch.setattr(interning, "FEWEST_BITS", 6)
    with pytest.raises(ValueError, match=r"too many distinct ids for a table of 2\*\*6 slots"):
        check_numbers(0, HostGpu(), distinct=400)


@host
@pytest.mark.parametrize("end", [*range(8), *range(8, 40, 5)])
def test_after_an_interruption_all_is_as_before(monkeypatch, end):
    """Wherever a call ends, the pairs may be in, and can be added again in another order."""
    generator = np.random.default_rng(5)
    left, right = (generator.integers(0, 60, 90).astype(np.uint64) for _ in range(2))
    weights = generator.integers(0, 4, 90).astype(np.float64)
    gpu = HostGpu()
    clusters = pair_clusters.GpuClusters(gpu, [1, 2, 3])
    clusters.add_pairs((left[:30],), (right[:30],), weights[:30])
    launched = []

    def launch(*arguments, **options):
        if len(launched) == end:
            raise KeyboardInterrupt
        launched.append(arguments)
        launcher.launch(*arguments, **options)

    def add_often():
        for _ in range(10):
            clusters.add_pairs((left,), (right,), weights)

    with monkeypatch.context() as patch:
        patch.setattr(interning, "launch", launch)
        patch.setattr(incremental, "launch", launch)
        with pytest.raises(KeyboardInterrupt):
            add_often()
    turned = [column[::-1].copy() for column in (left, right, weights)]
    clusters.add_pairs(*((column,) for column in turned[:2]), turned[2])
    (ids,) = clusters.all_keys()
    options = {"nodes": ids[:, 0], "threshold": [1, 2, 3]}
    whole = conncomp.cluster_pairs(left, right, weights=weights, **options)
    np.testing.assert_array_equal(whole["node"], ids[:, 0])
    for level in range(3):
        numbers, _ = clusters.numbered(clusters.roots(level))
        np.testing.assert_array_equal(numbers, whole[f"cluster_{level + 1}"])


@pytest.mark.gpu
def test_many_pairs_on_gpu():
    cupy = pytest.importorskip("cupy")
    generator = np.random.default_rng(0)
    for distinct in (1000, 10**6, 2 * 10**7):
        pool = generator.integers(0, 2**64, distinct, dtype=np.uint64)
        left, right = (pool[generator.integers(0, distinct, 3 * 10**6)] for _ in range(2))
        weights = generator.random(len(left), np.float32)
        options = {"threshold": [0.1, 0.5, 0.9]}
        placed = (cupy.asarray(column) for column in (left, right, weights))
        table = conncomp.cluster_pairs(
            *(columns := list(placed))[:2], weights=columns[2], **options
        )
        same(table, conncomp.cluster_pairs(left, right, weights=weights, **options))


@pytest.mark.gpu
def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    left, right = torch.tensor([3, 1, 4]), torch.tensor([1, 5, 9])
    with torch.cuda.stream(torch.cuda.Stream()):
        table = conncomp.cluster_pairs(left.cuda(), right.cuda())
        torch.cuda.current_stream().synchronize()  # columns are read on another one
    assert {column.device.type for column in table.values()} == {"cuda"}
    for name, column in conncomp.cluster_pairs(left.numpy(), right.numpy()).items():
        np.testing.assert_array_equal(table[name].cpu(), column)
