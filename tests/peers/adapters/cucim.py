"""cuCIM's tests of `label`, with NumPy in place of CuPy, which needs a GPU."""

import sys
import types

import numpy as np

import conncomp


def module(name, **contents):
    sys.modules[name] = made = types.ModuleType(name)
    vars(made).update(contents)


module("cupy", **{name: getattr(np, name) for name in dir(np) if not name.startswith("__")})
sys.modules["cupy"].asnumpy = np.asarray
module("cupy.testing", assert_array_equal=np.testing.assert_array_equal)
sys.modules["cupy"].testing = sys.modules["cupy.testing"]
for package in ("cucim", "cucim.skimage"):
    module(package, __path__=[])
module("cucim.skimage.measure", label=conncomp.label, __path__=[])
# The tests of these are about cuCIM's own parts, and are listed among the differences.
module(
    "cucim.skimage.measure._label",
    _INT32_LABEL_SIZE_LIMIT=2**31,
    _get_structure=None,
    _label_dtype_for_size=None,
)
module("cucim.skimage.measure._label_kernels", _label=None)
