"""Clusters of Splink's predictions, by conncomp instead of SQL.

`cluster_predictions` returns what `linker.clustering.cluster_pairwise_predictions_at_threshold`
does, with the same names of clusters, and for as many thresholds at once as are wanted:

    predictions = linker.inference.predict()
    clusters = cluster_predictions(predictions, records, [0.8, 0.95])

Where several tables are linked, an id is of two columns:

    clusters = cluster_predictions(predictions, records, 0.95, ("source_dataset", "unique_id"))

To go on in Splink, register a table of one threshold:

    clusters = linker.table_management.register_table(clusters, "clusters")
"""

import pyarrow as pa
import pyarrow.compute as pc

import conncomp


def cluster_predictions(predictions, records, threshold, ids=("unique_id",)):
    """Return the records, each with the name of its cluster, as a table of Arrow.

    Parameters
    ----------
    predictions : SplinkDataFrame
        Of a linker on DuckDB.
    records : table
        All that were linked, such as a data frame.
    threshold : float or sequence of float
        Least probabilities of matches.
    ids : tuple of str
        The columns that identify a record.
    """
    names = [f'"{name}_{side}"' for name in ids for side in "lr"]
    pairs = pa.table(predictions.as_duckdbpyrelation().select(*names, "match_probability"))
    records = pa.table(records)
    # Splink names a cluster by its smallest id, which is the first one here.
    records = records.take(pc.sort_indices(ids_of(records, ids)))
    clusters = conncomp.cluster_pairs(
        ids_of(pairs, ids, "_l"),
        ids_of(pairs, ids, "_r"),
        weights=pairs["match_probability"],
        threshold=threshold,
        nodes=ids_of(records, ids),
        cluster_ids="first",
    )
    found = {
        name.replace("cluster", "cluster_id"): clusters[name]
        for name in clusters.column_names
        if name.startswith("cluster")
    }
    return pa.table(found | dict(zip(records.column_names, records.columns, strict=True)))


def ids_of(table, names, ending=""):
    """Return a column of ids, as Splink makes it of several columns."""
    columns = [table[name + ending] for name in names]
    if len(columns) == 1:
        return columns[0]
    return pc.binary_join_element_wise(*(column.cast("string") for column in columns), "-__-")
