"""What other libraries' users write here instead: the tables of the page, each row with evidence.

``tests/test_coming_from.py`` runs both calls of every row that it can, and all evidence.
"""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from papers_page import list_table

import conncomp


@dataclass(frozen=True)
class Row:
    """A call of another library, and ours.

    Attributes
    ----------
    theirs, ours : str
        Expressions of Python.
    same : str
        An expression of ``a``, their result, and ``b``, ours, that is true.
    differs : tuple of (str, str)
        What differs, in words, and an expression of ``a`` and ``b`` that is true because of it.
    runs : bool
        Whether `theirs` can be run where the tests run.
    needs : str
        A function, or ``function.parameter``, without which there is no such row.
    """

    theirs: str
    ours: str
    same: str = "equal(a, b)"
    differs: tuple[tuple[str, str], ...] = ()
    runs: bool = True
    needs: str = "label"

    @property
    def is_there(self) -> bool:
        """Whether conncomp has what the row needs."""
        name, _, parameter = self.needs.partition(".")
        function = getattr(conncomp, name, None)
        return callable(function) and (
            not parameter or parameter in inspect.signature(function).parameters
        )


NARROW = (
    "Labels are int64 there; here int32 where every index fits, or as ``dtype=`` says.",
    "a.dtype == np.int64 and b.dtype == np.int32",
)

SCIKIT_IMAGE = (
    Row(
        "skimage.measure.label(image)",
        "conncomp.label(image)",
        differs=(
            NARROW,
            (
                "Any number of axes; three at most there.",
                "raises(NotImplementedError, lambda: skimage.measure.label(np.ones((2,) * 4, int)))"
                " and conncomp.label(np.ones((2,) * 4, int)).max() == 1",
            ),
        ),
    ),
    Row(
        "skimage.measure.label(image, connectivity=1, return_num=True)",
        "conncomp.label(image, connectivity=1, return_num=True)",
        "equal(a[0], b[0]) and a[1] == b[1]",
        (
            (
                "Without ``connectivity``, both connect all that touches: ``image.ndim``.",
                "equal(skimage.measure.label(image, connectivity=image.ndim),"
                " conncomp.label(image))",
            ),
        ),
    ),
    Row(
        "skimage.measure.label(image, background=-1)",
        "conncomp.label(image, background=-1)",
        differs=(
            (
                "Of bool images scikit-image takes False for background all the same.",
                "skimage.measure.label(mask, background=-1).min() == 0"
                " and conncomp.label(mask, background=-1).min() == 1",
            ),
        ),
    ),
    Row(
        "skimage.measure.label(field.astype(int))",
        "conncomp.label(field)",
        "equal(skimage.measure.label((4 * field).astype(int)), b)",
        (
            (
                "Floats are compared as they are; scikit-image truncates them to integers.",
                "equal(skimage.measure.label(field), a) and not equal(a, b)",
            ),
        ),
    ),
    Row(
        "skimage.measure.label(line)",
        "conncomp.label(line)",
        "alike(a, b)",
        (
            (
                "Where an axis that is not the first has length 1, numbers there follow a scan with"
                " two axes exchanged; here always the C order.",
                "line.shape[-1] == 1 and not equal(a, b)",
            ),
        ),
    ),
    Row(
        "skimage.measure.regionprops_table(labels, properties=('area', 'bbox', 'centroid'))",
        "conncomp.component_statistics(labels)",
        "equal(a['area'], b.sizes) and equal(a['bbox-0'], b.bounding_boxes[:, 0, 0])"
        " and equal(a['bbox-3'], b.bounding_boxes[:, 1, 1])"
        " and np.allclose(a['centroid-1'], b.centroids[:, 1])",
        (
            (
                "A row for each label, as arrays; boxes are ``[row, axis, (first, end)]``.",
                "b.bounding_boxes.shape == (len(b.labels), 2, 2)",
            ),
        ),
    ),
    Row(
        "skimage.measure.regionprops_table(labels, field, properties=('label', 'eccentricity',"
        " 'perimeter', 'solidity', 'moments_hu', 'intensity_median'))",
        "conncomp.component_statistics(labels, field, properties=('label', 'eccentricity',"
        " 'perimeter', 'solidity', 'moments_hu', 'intensity_median')).columns()",
        "[*a] == [*b] and all(np.allclose(a[name], b[name], 1e-6, 1e-12) for name in a)",
        (
            (
                "Every column is there, by its name, or the one that it had before: see"
                " :doc:`columns`.",
                "a['moments_hu-6'].shape == b['label'].shape",
            ),
        ),
        needs="component_statistics.properties",
    ),
    Row(
        "skimage.morphology.remove_small_objects(labels, max_size=9)",
        "conncomp.remove_small_components(labels, 10)",
        differs=(
            (
                "The smallest size that stays, rather than the largest that goes.",
                "np.bincount(b[b > 0]).max() > 9 and np.bincount(b[b > 0])[np.unique(b[b > 0])]"
                ".min() >= 10",
            ),
        ),
    ),
    Row(
        "skimage.morphology.remove_small_objects(mask, max_size=9)",
        "conncomp.remove_small_components(mask, 10, connectivity=1)",
        differs=(
            (
                "Masks are labelled first: by faces there unless ``connectivity`` says otherwise,"
                " here by all that touches.",
                "equal(skimage.morphology.remove_small_objects(mask, max_size=9, connectivity=2),"
                " conncomp.remove_small_components(mask, 10))",
            ),
        ),
        needs="remove_small_components.connectivity",
    ),
    Row(
        "skimage.morphology.remove_small_holes(mask, max_size=9)",
        "~conncomp.remove_small_components(~mask, 10, connectivity=1)",
        differs=(
            (
                "Gaps at the border are filled, too, as there; `conncomp.fill_holes` leaves them,"
                " as they are no holes.",
                "(conncomp.fill_holes(mask, max_size=9) <= b).all()",
            ),
        ),
        needs="remove_small_components.connectivity",
    ),
    Row(
        "skimage.measure.regionprops_table(labels, field, properties=('mean_intensity',"
        " 'max_intensity'))",
        "conncomp.component_statistics(labels, field)",
        "np.allclose(a['mean_intensity'], b.means) and equal(a['max_intensity'], b.maxima)",
        (
            (
                "``.columns()`` is a table by names, ``.to_pandas()`` a DataFrame.",
                "equal(b.columns()['intensity_mean'], b.means)",
            ),
        ),
        needs="component_statistics.image",
    ),
    Row(
        "skimage.measure.regionprops_table(labels, spacing=(2, 0.5), properties=('area',"
        " 'centroid'))",
        "conncomp.component_statistics(labels, spacing=(2, 0.5))",
        "np.allclose(a['area'], b.volumes) and np.allclose(a['centroid-1'], b.centroids[:, 1])",
        (
            (
                "``sizes`` stay numbers of elements.",
                "b.sizes.dtype == np.int64 and b.sizes.sum() == (labels > 0).sum()",
            ),
        ),
        needs="component_statistics.spacing",
    ),
    Row(
        "skimage.segmentation.relabel_sequential(3 * labels)[0]",
        "conncomp.relabel_consecutive(3 * labels)",
        differs=(
            (
                "``return_labels=True`` returns the old labels too, rather than maps both ways.",
                "equal(conncomp.relabel_consecutive(3 * labels, return_labels=True)[1][b],"
                " 3 * labels)",
            ),
        ),
        needs="relabel_consecutive",
    ),
    Row(
        "skimage.color.label2rgb(labels, field, bg_label=0)",
        "conncomp.colour_components(labels, field)",
        "a.shape == b.shape",
        (
            (
                "Bytes rather than floats; components close to each other always differ in colour.",
                "a.dtype == np.float64 and b.dtype == np.uint8",
            ),
        ),
        needs="colour_components.image",
    ),
)

NDIMAGE = (
    Row(
        "ndimage.label(mask)",
        "conncomp.label(mask, connectivity=1, return_num=True)",
        "equal(a[0], b[0]) and a[1] == b[1]",
        (
            (
                "SciPy's default are faces; ours is all that touches.",
                "equal(ndimage.label(mask, np.ones((3, 3)))[0], conncomp.label(mask))",
            ),
            (
                "The number is returned with ``return_num=True``.",
                "isinstance(a, tuple) and isinstance(conncomp.label(mask), np.ndarray)",
            ),
        ),
    ),
    Row(
        "ndimage.label(image)",
        "conncomp.label(image != 0, connectivity=1, return_num=True)",
        "equal(a[0], b[0]) and a[1] == b[1]",
        (
            (
                "SciPy takes whatever is not 0 for one thing; ours keeps unequal values apart,"
                " unless the image is made binary.",
                "conncomp.label(image, connectivity=1, return_num=True)[1] > a[1]",
            ),
            (
                "So NaN, which is not 0, is foreground there; here a NaN is foreground that"
                " connects to nothing.",
                "equal(ndimage.label([np.nan, np.nan])[0], [1, 1])"
                " and equal(conncomp.label([np.nan, np.nan]), [1, 2])",
            ),
        ),
    ),
    Row(
        "ndimage.label(mask, structure=[[0, 0, 1], [0, 1, 0], [1, 0, 0]])[0]",
        "conncomp.label(mask, structure=[[0, 0, 1], [0, 1, 0], [1, 0, 0]])",
        differs=(
            (
                "The centre does not count in either.",
                "equal(ndimage.label(mask, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])[0], b)",
            ),
        ),
    ),
    Row(
        "ndimage.label(mask, output=np.uint16)[0]",
        "conncomp.label(mask, connectivity=1, dtype=np.uint16)",
        "equal(a, b) and a.dtype == b.dtype",
        (
            (
                "Or ``dtype='smallest'``; an array to write to is ``out=``.",
                "conncomp.label(mask, connectivity=1, dtype='smallest').dtype == np.uint8",
            ),
        ),
    ),
    Row(
        "ndimage.sum_labels(mask, labels, range(1, labels.max() + 1))",
        "conncomp.component_sizes(labels)[1:]",
        differs=(
            (
                "Integers; entry 0 of the whole array is 0, for the background.",
                "b.dtype == np.int64 and conncomp.component_sizes(labels)[0] == 0",
            ),
        ),
    ),
    Row(
        "ndimage.find_objects(labels)",
        "[statistics.slices(row) for row in range(len(statistics.labels))]",
        "a == b",
        (
            (
                "``statistics = conncomp.component_statistics(labels)`` has a row for each label"
                " that occurs; SciPy None for others.",
                "ndimage.find_objects(np.array([0, 2]))[0] is None"
                " and len(conncomp.component_statistics(np.array([[0, 2]])).labels) == 1",
            ),
        ),
    ),
    Row(
        "ndimage.center_of_mass(mask, labels, range(1, labels.max() + 1))",
        "conncomp.component_statistics(labels).centroids",
        "np.allclose(a, b)",
        (("An array of shape (n, ndim).", "b.shape == (len(a), 2)"),),
    ),
    Row(
        "ndimage.value_indices(labels, ignore_value=0)",
        "conncomp.component_members(labels)",
        "all(equal(np.ravel_multi_index(a[k], labels.shape), b[1][b[0][k]:b[0][k + 1]])"
        " for k in range(1, labels.max() + 1))",
        (
            (
                "Flat indices of all components in one array, and where each begins.",
                "len(b[1]) == (labels > 0).sum()",
            ),
        ),
    ),
    Row(
        "ndimage.binary_fill_holes(mask)",
        "conncomp.fill_holes(mask)",
        differs=(
            (
                "Labels may be given, too: a hole gets the label around it.",
                "conncomp.fill_holes([[1, 1, 1], [1, 0, 1], [1, 1, 1]])[1, 1] == 1",
            ),
        ),
        needs="fill_holes",
    ),
    Row(
        "ndimage.mean(field, labels, range(1, labels.max() + 1))",
        "conncomp.component_statistics(labels, field).means",
        "np.allclose(a, b)",
        (
            (
                "Sums are exact to far below a rounding, and do not depend on threads.",
                "b.dtype == np.float64",
            ),
        ),
        needs="component_statistics.image",
    ),
)

CSGRAPH = (
    Row(
        "csgraph.connected_components(matrix, directed=False)",
        "conncomp.connected_components(matrix, directed=False)",
        "a[0] == b[0] and equal(a[1], b[1]) and a[1].dtype == b[1].dtype",
    ),
    Row(
        "csgraph.connected_components(arcs)",
        "conncomp.connected_components(arcs)",
        "a[0] == b[0] and equal(a[1], b[1])",
        (
            (
                "Both ignore directions by default: ``connection='weak'``.",
                "equal(a[1], csgraph.connected_components(arcs, directed=False)[1])",
            ),
        ),
    ),
    Row(
        "csgraph.connected_components(arcs, connection='strong')",
        "conncomp.connected_components(arcs, connection='strong')",
        "a[0] == b[0] and alike(a[1] + 1, b[1] + 1)",
        (
            (
                "SciPy numbers strong components in the order of its search, which changes with its"
                " version; here by their smallest vertices, or with ``numbering='topological'`` so"
                " that no arc leads to a larger number.",
                "not equal(a[1], b[1]) and is_topological(arcs,"
                " conncomp.connected_components(arcs, connection='strong',"
                " numbering='topological')[1])",
            ),
        ),
    ),
    Row(
        "csgraph.connected_components(matrix, return_labels=False)",
        "conncomp.connected_components(matrix, return_labels=False)",
        "a == b",
    ),
    Row(
        "csgraph.minimum_spanning_tree(weighted)",
        "conncomp.minimum_spanning_forest(weighted, weighted.data)",
        "np.isclose(a.sum(), weighted.data[b].sum()) and a.nnz == len(b)",
        (
            (
                "Numbers of arcs, in ascending order, rather than a matrix; of equal weights the"
                " arc of the lower number is taken, always.",
                "(np.diff(b) > 0).all()",
            ),
            (
                "An arc of weight 0 is one.",
                "csgraph.minimum_spanning_tree(np.zeros((2, 2))).nnz == 0"
                " and len(conncomp.minimum_spanning_forest("
                "conncomp.Graph.from_edges([0], [1]), [0.0])) == 1",
            ),
        ),
    ),
    Row(
        "scipy.cluster.hierarchy.DisjointSet(range(5))",
        "conncomp.IncrementalComponents(5)",
        "(a.merge(0, 3), a.connected(0, 3), a.n_subsets)[1:]"
        " == (b.add_edges([0], [3]), bool(b.connected([0], [3])[0]), b.count)[1:]",
        (
            (
                "Vertices are 0, 1, ...; edges and questions come in arrays.",
                "equal(b.connected([0, 0], [3, 1]), [True, False])",
            ),
        ),
    ),
)

CC3D = (
    Row(
        "cc3d.connected_components(volume)",
        "conncomp.label(volume)",
        differs=(
            (
                "uint16 there if the labels fit, else uint32; here int32 or int64, or as ``dtype=``"
                " says.",
                "a.dtype == np.uint16 and b.dtype == np.int32"
                " and conncomp.label(volume, dtype=np.uint16).dtype == np.uint16",
            ),
            (
                "Any number of axes; three at most there.",
                "raises(Exception, lambda: cc3d.connected_components(np.ones((2,) * 4, np.uint8)))",
            ),
        ),
    ),
    Row(
        "cc3d.connected_components(volume, connectivity=6, return_N=True)",
        "conncomp.label(volume, connectivity=1, return_num=True)",
        "equal(a[0], b[0]) and a[1] == b[1]",
        (
            (
                "4 and 6 are 1; 8 and 18 are 2; 26 is 3.",
                "equal(cc3d.connected_components(volume, connectivity=18),"
                " conncomp.label(volume, connectivity=2))"
                " and equal(cc3d.connected_components(image, connectivity=4),"
                " conncomp.label(image, connectivity=1))",
            ),
        ),
    ),
    Row(
        "cc3d.connected_components(np.asfortranarray(volume), connectivity=6)",
        "conncomp.label(np.asfortranarray(volume), connectivity=1)",
        "alike(a, b)",
        (
            (
                "cc3d numbers arrays of Fortran order in the order of memory; here numbers follow"
                " the C order of indices, however the array lies.",
                "not equal(a, b) and equal(a, conncomp.label(volume.T, connectivity=1).T)",
            ),
        ),
    ),
    Row(
        "cc3d.connected_components(field, delta=0.3, connectivity=4)",
        "conncomp.label(field, tolerance=0.3, connectivity=1)",
        differs=(
            (
                "Here integers differ exactly, whatever their dtype, and floats are compared in"
                " float64.",
                "equal(conncomp.label(np.array([1, 255], np.uint8), tolerance=254), [1, 1])"
                " and equal(conncomp.label(np.array([2**63, 2**63 + 2], np.uint64), tolerance=1,"
                " background=1), [1, 2])",
            ),
        ),
    ),
    Row(
        "cc3d.connected_components(image, connectivity=8, periodic_boundary=True)",
        "conncomp.label(image, periodic=True)",
        differs=(
            (
                "An answer for each axis, too: ``periodic=(True, False)``; for any connectivity.",
                "conncomp.label(image, periodic=(True, False)).max() > b.max()",
            ),
        ),
    ),
    Row(
        "cc3d.connected_components(image, binary_image=True, connectivity=8)",
        "conncomp.label(image != 0)",
    ),
    Row(
        "cc3d.dust(labels, threshold=10, connectivity=8)",
        "conncomp.remove_small_components(labels, 10)",
        differs=(
            (
                "Labels in, labels out; what they are components of is not asked again. cc3d labels"
                " its input first.",
                "equal(cc3d.dust(mask.astype(np.uint8), threshold=10, connectivity=8) > 0, b > 0)",
            ),
        ),
    ),
    Row(
        "cc3d.largest_k(mask, k=3, connectivity=8, return_N=True)[0] > 0",
        "conncomp.largest_components(mask, 3)",
        differs=(
            (
                "Of labels they keep the numbers; there they begin with 1 again.",
                "set(np.unique(conncomp.largest_components(labels, 3))) <= set(np.unique(labels))",
            ),
        ),
    ),
    Row(
        "cc3d.statistics(labels.astype(np.uint32))",
        "conncomp.component_statistics(labels)",
        "equal(a['voxel_counts'][1:], b.sizes) and np.allclose(a['centroids'][1:], b.centroids)",
        (
            (
                "cc3d has a row 0 for the background; here rows are those of components.",
                "len(a['voxel_counts']) == len(b.sizes) + 1",
            ),
        ),
    ),
    Row(
        "cc3d.contacts(zones, connectivity=8)",
        "conncomp.contacts(zones)",
        "a == dict(zip(map(tuple, b.pairs.tolist()), b.areas.tolist(), strict=True))",
        (
            (
                "Arrays rather than a dict: ``pairs``, ``areas`` of faces, ``counts`` of contacts.",
                "len(b.pairs) == len(b.areas) == len(b.counts)",
            ),
            (
                "``spacing=`` is what ``anisotropy=`` is there.",
                "np.allclose(conncomp.contacts(zones, spacing=(1, 3)).areas,"
                " [area for _, area in sorted(cc3d.contacts(zones, connectivity=8,"
                " anisotropy=(1, 3)).items())])",
            ),
        ),
        needs="contacts",
    ),
    Row(
        "cc3d.region_graph(zones, connectivity=8)",
        "conncomp.region_adjacency(zones)",
        "a == set(map(tuple, conncomp.contacts(zones).pairs.tolist()))"
        " and b.num_arcs == 2 * len(a)",
        (
            (
                "A `conncomp.Graph`, whose vertices are the labels, rather than a set of pairs.",
                "b.num_vertices == zones.max() + 1",
            ),
        ),
        needs="region_adjacency",
    ),
    Row(
        "[(label, part.sum()) for label, part in cc3d.each(labels.astype(np.uint32), binary=True)]",
        "[(part.label, part.size) for part in conncomp.iterate_components(labels)]",
        "a == b",
        (
            (
                "A part knows its bounding box, ``slices``, and its ``mask`` is of that box; cc3d's"
                " images are of the whole array.",
                "all((labels[part.slices][part.mask] == part.label).all()"
                " for part in conncomp.iterate_components(labels))",
            ),
        ),
        needs="iterate_components",
    ),
)

OPENCV = (
    Row(
        "cv2.connectedComponents(bytes)",
        "conncomp.label(bytes != 0, return_num=True)",
        "a[0] == b[1] + 1 and alike(a[1], b[0]) and a[1].dtype == b[0].dtype",
        (
            (
                "With all neighbours OpenCV numbers in the order of blocks of 2 x 2 pixels; here"
                " the order is that of a scan.",
                "not equal(cv2.connectedComponents(mask.astype(np.uint8))[1], labels)"
                " and alike(cv2.connectedComponents(mask.astype(np.uint8))[1], labels)",
            ),
            (
                "OpenCV counts the background as one; the pair is the other way round.",
                "a[0] - 1 == a[1].max() == b[1]",
            ),
            (
                "OpenCV takes 8 bits of one channel, and whatever is not 0 is one thing; ours any"
                " dtype, bool too, and unequal values are apart.",
                "raises(cv2.error, lambda: cv2.connectedComponents(mask))"
                " and conncomp.label(bytes).max() > b[1]",
            ),
        ),
    ),
    Row(
        "cv2.connectedComponents(bytes, connectivity=4)[1]",
        "conncomp.label(bytes != 0, connectivity=1)",
    ),
    Row(
        "cv2.connectedComponents(bytes, connectivity=4, ltype=cv2.CV_16U)[1]",
        "conncomp.label(bytes != 0, connectivity=1, dtype=np.uint16)",
        "equal(a, b) and a.dtype == b.dtype",
    ),
    Row(
        "cv2.connectedComponentsWithStats(bytes, connectivity=4)",
        "conncomp.component_statistics(conncomp.label(bytes != 0, connectivity=1))",
        "equal(a[2][1:, cv2.CC_STAT_AREA], b.sizes)"
        " and equal(a[2][1:, cv2.CC_STAT_LEFT], b.bounding_boxes[:, 1, 0])"
        " and equal(a[2][1:, cv2.CC_STAT_HEIGHT], np.diff(b.bounding_boxes[:, 0])[:, 0])"
        " and np.allclose(a[3][1:], b.centroids[:, ::-1])",
        (
            (
                "Coordinates are those of indices, row first; OpenCV has x first. It has a row 0"
                " for the background.",
                "len(a[3]) == len(b.sizes) + 1 and not np.allclose(a[3][1:], b.centroids)",
            ),
        ),
    ),
)

NETWORKX = (
    Row(
        "list(nx.connected_components(graph))",
        "list(nx.connected_components(graph, backend='conncomp'))",
        "a == b",
        (
            (
                "Or set ``NETWORKX_BACKEND_PRIORITY=conncomp`` and change nothing: see"
                " :doc:`networkx`.",
                "nx.connected_components.backends >= {'conncomp'}",
            ),
        ),
    ),
    Row(
        "nx.number_connected_components(graph)",
        "conncomp.connected_components(graph, return_labels=False)",
        "a == b",
    ),
    Row(
        "list(nx.connected_components(graph))",
        "conncomp.connected_components(graph)",
        "len(a) == b[0] and [set(np.array(graph)[b[1] == k].tolist()) for k in range(b[0])] == a",
        (
            (
                "An array of labels, in the order of the nodes, rather than sets of nodes.",
                "b[1].shape == (len(graph),)",
            ),
        ),
    ),
    Row(
        "list(nx.strongly_connected_components(digraph))",
        "conncomp.connected_components(digraph, connection='strong')",
        "len(a) == b[0]",
        (
            (
                "Numbered by their first nodes; sets come in the order of a search there.",
                "b[1][0] == 0 and b[1].max() + 1 == len(a)",
            ),
        ),
    ),
    Row(
        "nx.condensation(digraph)",
        "conncomp.condensation(digraph)",
        "len(a) == b.graph.num_vertices and a.number_of_edges() == b.graph.num_arcs",
        (("A `conncomp.Graph` and labels.", "isinstance(b.graph, conncomp.Graph)"),),
    ),
    Row(
        "nx.utils.UnionFind(range(5))",
        "conncomp.IncrementalComponents(5)",
        "(a.union(0, 3), a[0] == a[3])[1] == (b.add_edges([0], [3]), b.connected([0], [3])[0])[1]",
        (("Edges come in arrays, and nodes are 0, 1, ...", "b.count == 4"),),
    ),
)

DASK_IMAGE = (
    Row(
        "dask_image.ndmeasure.label(dask.array.from_array(mask, chunks=16))",
        "conncomp.label(mask, connectivity=1, return_num=True)",
        "alike(a[0].compute(), b[0]) and int(a[1].compute()) == b[1]",
        (
            (
                "dask-image numbers chunk by chunk; here the order is that of a scan of the whole.",
                "not equal(a[0].compute(), b[0])",
            ),
            (
                "Chunks are labelled on their own there and then joined, when something is"
                " computed. An array in memory is labelled at once; ours takes Dask arrays, too.",
                "not isinstance(a[0], np.ndarray)",
            ),
            (
                "Faces by default, and whatever is not 0 is one thing, as in SciPy.",
                "a[0].compute().max() == ndimage.label(mask)[1]",
            ),
        ),
        runs=False,
    ),
    Row(
        "dask_image.ndmeasure.label(dask.array.from_array(mask, chunks=16), wrap_axes=(0, 1))",
        "conncomp.label(mask, connectivity=1, periodic=(True, True), return_num=True)",
        "alike(a[0].compute(), b[0])",
        (
            (
                "The axes by number there, an answer for each here, or one for all.",
                "equal(b[0], conncomp.label(mask, connectivity=1, periodic=True))",
            ),
        ),
        runs=False,
    ),
)

CUCIM = (
    Row(
        "cucim.skimage.measure.label(cupy_image)",
        "conncomp.label(cupy_image)",
        differs=(
            (
                "Arrays of CuPy in, arrays of CuPy out, on the current stream, in both. PyTorch's"
                " tensors need no detour here.",
                "True",
            ),
        ),
        runs=False,
    ),
    Row(
        "cucim.skimage.measure.label(cupy_image, connectivity=1, return_num=True)",
        "conncomp.label(cupy_image, connectivity=1, return_num=True)",
        differs=(("As from scikit-image, whose arguments both have.", "True"),),
        runs=False,
    ),
    Row(
        "cupyx.scipy.ndimage.label(cupy_image)",
        "conncomp.label(cupy_image != 0, connectivity=1, return_num=True)",
        differs=(("As from ``scipy.ndimage.label``.", "True"),),
        runs=False,
    ),
    Row(
        "cucim.skimage.measure.regionprops_table(labels, properties=('area', 'bbox', 'centroid'))",
        "conncomp.component_statistics(labels)",
        differs=(("Columns by name there; attributes here, arrays of CuPy in both.", "True"),),
        runs=False,
    ),
)

PAIRS = (
    Row(
        "list(nx.connected_components(nx.Graph(zip(left, right))))",
        "conncomp.cluster_pairs(left, right)",
        "{frozenset(one) for one in a} == {frozenset(b['node'][b['cluster'] == k].tolist())"
        " for k in range(len(a))}",
        (
            (
                "A table with a row for each node instead of sets; clusters are numbered in the"
                " order of their first nodes.",
                "(np.diff(np.unique(b['cluster'], return_index=True)[1]) > 0).all()",
            ),
        ),
        needs="cluster_pairs",
    ),
    Row(
        "list(nx.bridges(nx.Graph(zip(left, right))))",
        "conncomp.cluster_quality(conncomp.cluster_pairs(left, right), left, right)",
        "len(a) == b['bridges'].sum()",
        (
            (
                "How many bridges each cluster has, and the one that divides it most evenly.",
                "all((u, v) in a or (v, u) in a for u, v, cut in zip(b['bridge_left'],"
                " b['bridge_right'], b['cut_off']) if cut)",
            ),
        ),
        needs="cluster_quality",
    ),
    Row(
        "linker.clustering.cluster_pairwise_predictions_at_threshold(predictions, 0.9)",
        "cluster_predictions(predictions, records, 0.9)",
        differs=(
            (
                "Of ``examples/splink_clusters.py``. The same names of clusters; as many"
                " thresholds at once as are wanted.",
                "True",
            ),
        ),
        runs=False,
        needs="cluster_pairs",
    ),
    Row(
        "MinhashDedupCluster('dups', 'clusters').run()",
        "conncomp.cluster_dups('dups', 'clusters')",
        differs=(
            (
                "The same files, byte for byte; in a pipeline by ``ClusterDups`` of"
                " ``examples/datatrove_clusters.py``.",
                "True",
            ),
        ),
        runs=False,
        needs="cluster_dups",
    ),
)

TABLES = {
    "scikit_image": ("scikit-image", SCIKIT_IMAGE),
    "ndimage": ("scipy.ndimage", NDIMAGE),
    "csgraph": ("scipy.sparse.csgraph", CSGRAPH),
    "cc3d": ("cc3d", CC3D),
    "opencv": ("OpenCV", OPENCV),
    "cucim": ("cuCIM and CuPy", CUCIM),
    "networkx": ("NetworkX", NETWORKX),
    "pairs": ("NetworkX, Splink and datatrove", PAIRS),
    "dask_image": ("dask-image", DASK_IMAGE),
}


def _cells(row: Row) -> tuple[str, str, str]:
    words = " ".join(words for words, _ in row.differs)
    return f"``{row.theirs}``", f"``{row.ours}``", words or "Nothing."


def _table(library: str, rows: tuple[Row, ...]) -> Iterator[str]:
    header = library, "conncomp", "what differs"
    yield from list_table(
        [header, *(_cells(row) for row in rows if row.is_there)],
        ":widths: 34 34 32",
        ":class: calls",
    )


def _write(app: Any) -> None:
    """Write a table for each library."""
    folder = Path(app.srcdir) / "generated" / "coming_from"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (library, rows) in TABLES.items():
        (folder / f"{name}.inc").write_text("\n".join(_table(library, rows)) + "\n")


def _let_calls_break(app: Any, doctree: nodes.document, docname: str) -> None:
    """Let browsers break the calls of tables after dots and brackets, and not within a name."""
    if app.builder.format != "html":
        return
    tables = [table for table in doctree.findall(nodes.table) if "calls" in table["classes"]]
    for literal in [literal for table in tables for literal in table.findall(nodes.literal)]:
        call = re.sub(r"(?<=[.(\[])(?=\w)", "<wbr>", html.escape(literal.astext()))
        marked = f'<code class="docutils literal notranslate">{call}</code>'
        literal.replace_self(nodes.raw("", marked, format="html"))


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx write the tables before it reads the page, and lines break within calls."""
    if "_static" not in app.config.html_static_path:
        app.config.html_static_path.append("_static")
    app.add_css_file("calls.css")
    app.connect("builder-inited", _write)
    app.connect("doctree-resolved", _let_calls_break)
    return {"parallel_read_safe": True}
