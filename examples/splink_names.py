"""Made-up people with slips of the pen, compared by Splink and clustered by conncomp.

    pip install splink matplotlib
    python examples/splink_names.py FOLDER

writes `names.txt`, a table of thresholds, and `names.png`, a picture of them, into the folder.
"""

import logging
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import splink
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on
from splink_clusters import cluster_predictions

THRESHOLDS = [0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999]


def people(seed, count):
    """Return people, each in one to four records."""
    rng = np.random.default_rng(seed)
    syllables = [consonant + vowel for consonant in "bdklmnrst" for vowel in "aeio"]
    first, last, towns = (["".join(rng.choice(syllables, 3)) for _ in range(60)] for _ in range(3))
    rows = []
    for person in range(count):
        born = f"{rng.integers(1950, 1990)}-{rng.integers(1, 13):02}"
        row = [rng.choice(first), rng.choice(last), born, rng.choice(towns)]
        for _ in range(rng.integers(1, 5)):
            copy = [word if rng.random() < 0.8 else slip(word, rng) for word in row]
            rows.append([*copy, person])
    frame = pd.DataFrame(rows, columns=["first", "last", "born", "town", "person"])
    frame.insert(0, "unique_id", rng.permutation(len(frame)) * 7 + 1)
    return frame


def slip(word, rng):
    """Return a word with another letter or digit somewhere."""
    at = rng.integers(0, len(word))
    return word[:at] + rng.choice(list("abcdefgh0123")) + word[at + 1 :]


def linker_of(tables, link_type):
    """Return a trained linker of tables, which have names."""
    logging.getLogger("splink").setLevel(logging.ERROR)
    settings = SettingsCreator(
        link_type=link_type,
        comparisons=[
            cl.JaroWinklerAtThresholds("first", [0.9, 0.7]),
            cl.JaroWinklerAtThresholds("last", [0.9, 0.7]),
            cl.LevenshteinAtThresholds("born", [1]),
            cl.LevenshteinAtThresholds("town", [1]),
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
    same = [block_on("first", "last", "born")]
    linker.training.estimate_probability_two_random_records_match(same, recall=0.5)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e5, seed=1)
    for column in ("born", "first"):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(column))
    return linker


def compare(clusters, threshold):
    """Return how many clusters there are, those of one person only, and persons in one only."""
    column = f"cluster_id_{threshold:g}"
    persons = clusters.groupby(column)["person"].nunique()
    parts = clusters.groupby("person")[column].nunique()
    return len(persons), int((persons == 1).sum()), int((parts == 1).sum()), len(parts)


def main(folder):
    """Write both files."""
    records = people(seed=1, count=1000)
    predictions = linker_of({"people": records}, "dedupe_only").inference.predict()
    pairs = len(predictions.as_duckdbpyrelation())
    clusters = cluster_predictions(predictions, records, THRESHOLDS).to_pandas()
    rows = [compare(clusters, threshold) for threshold in THRESHOLDS]
    persons = records["person"].nunique()
    lines = [
        f"Splink {splink.__version__}: {len(records)} records of {persons} persons, {pairs} pairs",
        "threshold   clusters   of one person   persons in one cluster",
    ]
    lines += [
        f"{threshold:9g} {count:10} {pure:15} {whole:24}"
        for threshold, (count, pure, whole, _) in zip(THRESHOLDS, rows, strict=True)
    ]
    print(*lines, sep="\n")
    (folder / "names.txt").write_text("\n".join(lines) + "\n")

    odds = [np.log10(threshold / (1 - threshold)) for threshold in THRESHOLDS]
    axes = plt.figure(figsize=(6, 3.5), layout="constrained").subplots()
    axes.plot(
        odds, [100 * pure / count for count, pure, *_ in rows], "o-", label="clusters of one person"
    )
    axes.plot(
        odds, [100 * whole / all_ for *_, whole, all_ in rows], "s-", label="persons in one cluster"
    )
    axes.set_xticks(odds[::2], [f"{threshold:g}" for threshold in THRESHOLDS[::2]])
    axes.set(xlabel="threshold", ylabel="per cent")
    axes.legend()
    axes.figure.savefig(folder / "names.png", dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
