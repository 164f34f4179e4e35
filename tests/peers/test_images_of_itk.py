"""Images of SimpleITK and ITK themselves, each in a process: together they crash, without us."""

import importlib.util
import subprocess
import sys

import pytest

BEGIN = """
import numpy as np
import conncomp

volume = np.random.default_rng(0).integers(0, 3, (5, 6, 7)).astype(np.int16)
expected = conncomp.label(volume)
"""

SIMPLE_ITK = """
import SimpleITK as sitk

image = sitk.GetImageFromArray(volume)
labels = conncomp.label(image)
np.testing.assert_array_equal(labels, expected, strict=True)
assert labels[4, 3, 2] == sitk.GetImageFromArray(labels)[2, 3, 4]
sizes = conncomp.component_sizes(sitk.Cast(image, sitk.sitkUInt8))
np.testing.assert_array_equal(sizes, conncomp.component_sizes(volume))

def error_of(given):
    try:
        conncomp.label(given)
    except TypeError as error:
        return str(error)

label_map = sitk.Cast(sitk.Cast(image, sitk.sitkUInt8), sitk.sitkLabelUInt8)
assert error_of(label_map).startswith("label_image is a label map of SimpleITK")
np.testing.assert_array_equal(conncomp.label(sitk.LabelMapToLabel(label_map)), expected)
assert "a VectorDouble of SimpleITK, a sequence" in error_of(sitk.VectorDouble([1.0, 2.0]))
"""

ITK = """
import itk

labels = conncomp.label(itk.image_from_array(volume))
np.testing.assert_array_equal(labels, expected, strict=True)
"""


@pytest.mark.parametrize(("package", "program"), [("SimpleITK", SIMPLE_ITK), ("itk", ITK)])
def test_images(package, program):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    subprocess.run([sys.executable, "-c", BEGIN + program], check=True)
