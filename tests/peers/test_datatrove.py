"""The step of `examples/datatrove_clusters.py` beside datatrove's own, where that is installed."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

minhash = pytest.importorskip("datatrove.pipeline.dedup.minhash")
Document = pytest.importorskip("datatrove.data").Document

SENTINEL = 2**32 - 1
EXAMPLE = Path(__file__).parents[2] / "examples" / "datatrove_clusters.py"


@pytest.fixture(scope="module")
def step():
    spec = importlib.util.spec_from_file_location("datatrove_clusters", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ClusterDups


def write_dups(folder, seed, buckets):
    """Write random pairs, a fifth of them with an index in half of all folders."""
    rng = np.random.default_rng(seed)
    documents = int(rng.integers(1, 400))
    for bucket in range(buckets):
        count = int(rng.integers(0, documents)) if seed % 3 else int(rng.integers(0, 12))
        pairs = rng.integers(0, documents, (count, 4), np.uint32)
        pairs[:, [0, 2]] %= np.uint32(rng.integers(1, 6))
        if seed % 2:
            pairs[rng.random(count) < 0.2, :2] = SENTINEL
        alone = (pairs[:, :2] == pairs[:, 2:]).all(axis=1)  # pairs of one document do not occur
        pairs[~alone].astype("<u4").tofile(folder / f"{bucket:05d}_00.dups")


def run(step, source, target, config, options):
    made = step(str(source), str(target), config=config, **options)
    made.run()
    files = {path.name: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    stats = {name: made.stats[name].total for name in ("duplicates", "to_remove", "clusters")}
    return files, stats


@pytest.mark.parametrize("seed", range(60))
def test_files_are_the_same_byte_for_byte(step, tmp_path, seed):
    config = minhash.MinhashConfig(num_buckets=3)
    source = tmp_path / "dups"
    source.mkdir()
    write_dups(source, seed, 3)
    for k in range(8):
        options = {
            "save_cluster_id": bool(k & 1),
            "save_cluster_size": bool(k & 2),
            "ignore_index_matches": bool(k & 4),
        }
        theirs, their_stats = run(
            minhash.MinhashDedupCluster, source, tmp_path / f"theirs{k}", config, options
        )
        ours, our_stats = run(step, source, tmp_path / f"ours{k}", config, options)
        assert ours == theirs
        if options["save_cluster_id"]:
            assert our_stats == their_stats


def test_one_document_of_each_kind_passes_the_filter(step, tmp_path):
    """Buckets and filter are datatrove's, and the clusters between them ours."""
    kinds = np.random.default_rng(0).integers(0, 30, 200)
    config = minhash.MinhashConfig(num_buckets=4, hashes_per_bucket=2)
    folders = {name: str(tmp_path / name) for name in ("signatures", "dups", "removed")}
    for bucket in range(4):
        # A kind shares its signature in three of four buckets.
        shared = np.where(kinds % 4 == bucket, 1000 + np.arange(200), kinds)
        rows = np.zeros(200, [("hashes", "<u8", 2), ("document", "<u4")])
        rows["hashes"], rows["document"] = shared[:, None], np.arange(200)
        folder = tmp_path / "signatures" / f"bucket_{bucket:03d}"
        folder.mkdir(parents=True)
        rows[np.argsort(shared, kind="stable")].tofile(folder / "00000.minhash.sig")
    for rank in range(4):
        buckets = minhash.MinhashDedupBuckets(folders["signatures"], folders["dups"], config=config)
        buckets.run(None, rank, 4)
    step(folders["dups"], folders["removed"], config).run()
    documents = [Document(text=str(kind), id=str(k)) for k, kind in enumerate(kinds)]
    kept = minhash.MinhashDedupFilter(folders["removed"]).run(iter(documents))
    texts = [document.text for document in kept]
    assert sorted(texts) == sorted(map(str, set(kinds.tolist())))


def test_buckets_that_are_missing(step, tmp_path):
    (tmp_path / "00000_00.dups").write_bytes(bytes(16))
    with pytest.raises(ValueError, match=r"1 \.dups files are not of 14 buckets"):
        step(str(tmp_path), str(tmp_path)).run()
