"""The clusters of `examples/splink_clusters.py` beside Splink's own, where that is installed."""

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import conncomp

splink = pytest.importorskip("splink")
pytestmark = pytest.mark.filterwarnings("ignore")  # of packages that Splink uses

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module", autouse=True)
def names():
    """Import the examples, the one of which imports the other."""
    pytest.importorskip("matplotlib").use("agg")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        yield importlib.import_module("splink_names")


@pytest.fixture
def recipe(names):
    return names.cluster_predictions


def splinks_own(linker, predictions, threshold):
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
        predictions, threshold_match_probability=threshold
    )
    return clusters.as_duckdbpyrelation().df()


def same(ours, theirs, by):
    ours, theirs = (table.sort_values(by).reset_index(drop=True) for table in (ours, theirs))
    pd.testing.assert_frame_equal(ours[theirs.columns], theirs, check_dtype=False)


@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_equal_at_every_threshold(names, recipe, seed):
    records = names.people(seed, 300)
    linker = names.linker_of({"people": records}, "dedupe_only")
    predictions = linker.inference.predict()
    several = recipe(predictions, records, names.THRESHOLDS).to_pandas()
    counts = set()
    for threshold in names.THRESHOLDS:
        theirs = splinks_own(linker, predictions, threshold)
        one = recipe(predictions, records, threshold).to_pandas()
        same(one, theirs, ["unique_id"])
        column = f"cluster_id_{threshold:g}"
        same(several.rename(columns={column: "cluster_id"}), theirs, ["unique_id"])
        counts.add(theirs["cluster_id"].nunique())
    assert len(counts) > 3  # so thresholds matter


def test_tables_that_are_linked(names, recipe):
    records = names.people(7, 300)
    half = np.arange(len(records)) % 2 == 0
    tables = {"north": records[half], "south": records[~half]}
    linker = names.linker_of(tables, "link_and_dedupe")
    predictions = linker.inference.predict()
    both = pd.concat([table.assign(source_dataset=name) for name, table in tables.items()])
    ids = ("source_dataset", "unique_id")
    for threshold in names.THRESHOLDS:
        ours = recipe(predictions, both, threshold, ids).to_pandas()
        same(ours, splinks_own(linker, predictions, threshold), list(ids))


def test_tables_without_a_linker():
    """Splink's functions on tables, at many thresholds in one call."""
    from splink import DuckDBAPI
    from splink.internals.clustering import cluster_pairwise_predictions_at_multiple_thresholds

    rng = np.random.default_rng(1)
    nodes = pd.DataFrame({"id": rng.permutation(2000)})
    edges = pd.DataFrame(rng.integers(0, 2000, (3000, 2)), columns=["id_l", "id_r"])
    edges["match_probability"] = rng.random(3000)
    thresholds = [0.2, 0.5, 0.6, 0.8, 0.95]
    theirs = (
        cluster_pairwise_predictions_at_multiple_thresholds(
            nodes, edges, DuckDBAPI(), "id", match_probability_thresholds=list(thresholds)
        )
        .as_duckdbpyrelation()
        .df()
        .sort_values("id")
    )
    ours = conncomp.cluster_pairs(
        edges,
        "id_l",
        "id_r",
        weights="match_probability",
        threshold=thresholds,
        nodes=np.arange(2000),
        cluster_ids="first",
    )
    for threshold in thresholds:
        column = f"cluster_p_{threshold}".replace(".", "_")
        assert theirs[column].tolist() == ours[f"cluster_{threshold}"].tolist()


def test_clusters_go_back_to_splink_which_finds_the_same_bridges(names, recipe):
    pytest.importorskip("igraph")
    records = names.people(2, 300)
    linker = names.linker_of({"people": records}, "dedupe_only")
    predictions = linker.inference.predict()
    clusters = recipe(predictions, records, 0.5)
    registered = linker.table_management.register_table(clusters, "ours")
    metrics = linker.clustering.compute_graph_metrics(
        predictions, registered, threshold_match_probability=0.5
    )
    quality = conncomp.cluster_quality(
        clusters,
        predictions.as_duckdbpyrelation(),
        "unique_id_l",
        "unique_id_r",
        weights="match_probability",
        threshold=0.5,
        node="unique_id",
        cluster="cluster_id",
    ).to_pandas()
    theirs = metrics.clusters.as_duckdbpyrelation().df().set_index("cluster_id")
    theirs = theirs.loc[quality["cluster"]].reset_index()
    assert quality["size"].tolist() == theirs["n_nodes"].tolist()
    assert quality["pairs"].tolist() == theirs["n_edges"].tolist()
    large = quality["size"] > 1
    np.testing.assert_allclose(quality["density"][large], theirs["density"][large])
    edges = metrics.edges.as_duckdbpyrelation().df()
    of_record = dict(
        zip(clusters["unique_id"].to_pylist(), clusters["cluster_id"].to_pylist(), strict=True)
    )
    bridges = edges[edges["is_bridge"]]["composite_unique_id_l"].map(of_record).value_counts()
    wanted = quality["cluster"].map(bridges).fillna(0).astype(int)
    assert quality["bridges"].tolist() == wanted.tolist()
    assert wanted.max() > 1


def test_what_the_page_shows_is_what_the_example_prints(names, tmp_path):
    """Numbers may change with Splink's version; the shape of the table does not."""
    names.main(tmp_path)
    shown = (EXAMPLES.parent / "docs" / "pictures" / "splink" / "names.txt").read_text()
    printed = (tmp_path / "names.txt").read_text()
    assert (tmp_path / "names.png").stat().st_size > 10_000
    if shown.splitlines()[0] == printed.splitlines()[0]:
        assert shown == printed
    assert len(shown.splitlines()) == len(printed.splitlines()) == 12
