"""`label` on real data, which lies beside the repository where it is there at all."""

from pathlib import Path

import cc3d
import numpy as np
import pytest

from conncomp import label

VOLUME = Path(__file__).parents[2].parent / "shared" / "data" / "connectomics-512x512x256.npz"


@pytest.fixture(scope="module")
def brain():
    if not VOLUME.exists():
        pytest.skip(f"{VOLUME.name} is not in ../shared/data")
    with np.load(VOLUME) as volume:
        return volume["labels"]


@pytest.mark.parametrize(
    ("connectivity", "name", "expected_num"), [(1, 6, 2043), (2, 18, 1619), (3, 26, 1610)]
)
def test_brain_tissue(brain, connectivity, name, expected_num):
    labels, num = label(brain, return_num=True, connectivity=connectivity)
    assert num == expected_num
    expected = cc3d.connected_components(brain, connectivity=name)
    partner = np.zeros(num + 1, np.int64)
    partner[labels] = expected
    assert len(np.unique(partner)) == num + 1  # background, of partner 0, among them
    assert partner[0] == 0
    np.testing.assert_array_equal(partner[labels], expected)
    roots = label(brain, connectivity=connectivity, numbering="roots").ravel()
    np.testing.assert_array_equal(
        labels.ravel()[roots == np.arange(brain.size)], np.arange(1, num + 1)
    )
