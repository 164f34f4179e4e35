"""The clusters of `examples/splink_clusters.py` beside Splink's own, where that is installed."""

import importlib.util
import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import conncomp

splink = pytest.importorskip("splink")
pytestmark = pytest.mark.filterwarnings("ignore")  # of packages that Splink uses

EXAMPLE = Path(__file__).parents[2] / "examples" / "splink_clusters.py"
THRESHOLDS = [0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999]


@pytest.fixture(scope="module")
def recipe():
    spec = importlib.util.spec_from_file_location("splink_clusters", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cluster_predictions


def people(seed, count=300):
    """Return made-up people, each in one to four records with slips of the pen."""
    rng = np.random.default_rng(seed)
    syllables = [consonant + vowel for consonant in "bdklmnrst" for vowel in "aeio"]

    def names():
        return ["".join(rng.choice(syllables, 3)) for _ in range(60)]

    first, last = names(), names()
    rows = []
    for person in range(count):
        row = [rng.choice(first), rng.choice(last), str(rng.integers(1950, 1990))]
        for _ in range(rng.integers(1, 5)):
            copy = [word if rng.random() < 0.8 else slip(word, rng) for word in row]
            rows.append([*copy, person])
    frame = pd.DataFrame(rows, columns=["first", "last", "born", "person"])
    frame.insert(0, "unique_id", rng.permutation(len(frame)) * 7 + 1)
    return frame


def slip(word, rng):
    at = rng.integers(0, len(word))
    return word[:at] + rng.choice(list("abcdefgh0123")) + word[at + 1 :]


def linker_of(tables, link_type):
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    logging.getLogger("splink").setLevel(logging.ERROR)
    settings = SettingsCreator(
        link_type=link_type,
        comparisons=[
            cl.JaroWinklerAtThresholds("first", [0.9, 0.7]),
            cl.JaroWinklerAtThresholds("last", [0.9, 0.7]),
            cl.LevenshteinAtThresholds("born", [1]),
        ],
        blocking_rules_to_generate_predictions=[
            block_on("first"),
            block_on("last"),
            block_on("born"),
        ],
    )
    api = DuckDBAPI()
    named = [api.register(table, dataset_display_name=name) for name, table in tables.items()]
    linker = Linker(named if len(named) > 1 else named[0], settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e5, seed=1)
    for rule in ("born", "first"):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(rule))
    return linker


def splinks_own(linker, predictions, threshold):
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
        predictions, threshold_match_probability=threshold
    )
    return clusters.as_duckdbpyrelation().df()


def same(ours, theirs, by):
    ours, theirs = (table.sort_values(by).reset_index(drop=True) for table in (ours, theirs))
    pd.testing.assert_frame_equal(ours[theirs.columns], theirs, check_dtype=False)


@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_equal_at_every_threshold(recipe, seed):
    records = people(seed)
    linker = linker_of({"people": records}, "dedupe_only")
    predictions = linker.inference.predict()
    several = recipe(predictions, records, THRESHOLDS).to_pandas()
    counts = set()
    for threshold in THRESHOLDS:
        theirs = splinks_own(linker, predictions, threshold)
        one = recipe(predictions, records, threshold).to_pandas()
        same(one, theirs, ["unique_id"])
        column = f"cluster_id_{threshold:g}"
        same(several.rename(columns={column: "cluster_id"}), theirs, ["unique_id"])
        counts.add(theirs["cluster_id"].nunique())
    assert len(counts) > 3  # so thresholds matter


def test_tables_that_are_linked(recipe):
    records = people(7)
    half = np.arange(len(records)) % 2 == 0
    tables = {"north": records[half], "south": records[~half]}
    linker = linker_of(tables, "link_and_dedupe")
    predictions = linker.inference.predict()
    both = pd.concat([table.assign(source_dataset=name) for name, table in tables.items()])
    ids = ("source_dataset", "unique_id")
    for threshold in THRESHOLDS:
        ours = recipe(predictions, both, threshold, ids).to_pandas()
        same(ours, splinks_own(linker, predictions, threshold), list(ids))


def test_tables_without_a_linker(recipe):
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


def test_clusters_go_back_to_splink_which_finds_the_same_bridges(recipe):
    pytest.importorskip("igraph")
    records = people(2)
    linker = linker_of({"people": records}, "dedupe_only")
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
