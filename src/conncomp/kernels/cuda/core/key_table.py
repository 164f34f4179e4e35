"""What kernels are told of hash tables: the structs of ``key_table.cuh``."""

from __future__ import annotations

import secrets

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/core/key_table.cuh"
# By which slots are found: odd, and drawn for each process. A signed integer, as kernels take it.
FACTOR = secrets.randbits(64) - (1 << 63) | 1

HASH = Struct("KeyHash", factor=COUNT)
TABLE = Struct(
    "KeyTable<int64_t>", hash=HASH.dtype, bits=np.dtype(np.int32), empty=COUNT, slots=POINTER
)
