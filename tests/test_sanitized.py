"""Kernels of all rooms on the host executor, for AddressSanitizer and ThreadSanitizer.

Those of simulations and of papers are beside their own tests. A sanitizer sees few cases, with
something for each kernel: all of them would take it minutes.
"""

from pathlib import Path

import pytest

from host_cuda.host_gpu import check_sanitized

BONDS = "test_bonds and 33 and True"
NOISES = "test_noise and (small or few) and (75x320 or 9x20x96)"
# Of which each seed is of one device.
ON_HOST, ALONE = (" or ".join(f"{before}{seed}]" for seed in (1, 3, 5)) for before in "-[")
# What each sees of a file, as for ``pytest -k``: both the same, or else one after the other.
BOTH = {
    "components/test_columns_on_gpu.py": "changing or moments_of_more or one_noise",
    "components/test_distinct_on_gpu.py": "test_many_labels or test_more_labels",
    "components/test_gpu.py": (
        "test_hard_labels and (noise-0 or noise--1) or test_members_by_parts and 0-1000"
    ),
    "components/test_neighbours_on_gpu.py": "test_tables_grow and shape0-5-3",
    "components/test_tile_sums.py": "changing or more_labels",
    "graph/test_forests.py": "test_hard_graphs_on_gpu and brooms and both or test_phases and both",
    "graph/test_gpu_algorithms.py": (
        "test_number or test_check or test_list_of_edges or test_a_last_word_of_few_vertices "
        "or test_hubs and both or test_hard_graphs and sorts"
    ),
    "graph/test_incremental.py": "interleavings or ends_that_change or long_paths",
    "graph/test_strong_on_gpu.py": "(test_digraphs or test_what_sweeps) and hubs and not hubs-arcs",
    "grid/test_above.py": "test_equals_label_of_what_is_above and ([0- or [4-)",
    "grid/test_gpu_default.py": f"{NOISES} or test_alignment or test_items and small",
    "grid/test_gpu_items.py": "(test_noise and 67) or test_patterns or small_square and 31",
    "grid/test_gpu_quads.py": "(test_noise and 33) or test_patterns or test_items",
    "grid/test_gpu_row_tiles.py": "test_changes or test_patterns or taken",
    "grid/test_wrapping.py": f"host and ({ON_HOST}) or test_lattices and ({ALONE})",
    "tables/test_gpu.py": "test_numbers_are_the_order_of_first_appearance",
}
ADDRESS = BOTH | {
    "components/test_gpu_changing_labels.py": "test_changes",
    "components/test_gpu_intensities.py": "test_labels_that_change",
    "grid/test_gpu_algorithms.py": f"test_small and not auto or test_numbering_and or {BONDS}",
    "grid/test_gpu_bundle_tiles.py": "(changes and consecutive) or several",
    "grid/test_gpu_changing_input.py": "test_changes and (between or ahead or during)",
    "grid/test_gpu_run_tiles.py": "test_changes or many_runs",
    "grid/test_gpu_sparse_tiles.py": "test_changes or test_patterns",
    "kernels/test_numbering.py": "64-32 or test_changes",
}
THREAD = BOTH | {
    "components/test_gpu_intensities.py": "test_interleavings and 0",
    # To ThreadSanitizer, links, indices and ranks are as any others.
    "grid/test_gpu_algorithms.py": (
        f"test_small_images and not auto or test_numbering_and and noise or {BONDS}"
    ),
    "grid/test_gpu_bundle_tiles.py": "several or (noise and 33)",
    "grid/test_gpu_run_tiles.py": "many_runs or (noise and 33)",
    "kernels/test_numbering.py": "test_chunks and 64-32",
}
CASES = [("address", file) for file in ADDRESS] + [("thread", file) for file in THREAD]


@pytest.mark.soak
@pytest.mark.parametrize(("sanitizer", "file"), CASES)
def test_sanitized(sanitizer, file):
    chosen = {"address": ADDRESS, "thread": THREAD}[sanitizer][file]
    check_sanitized(sanitizer, str(Path(__file__).parent / file), chosen)
