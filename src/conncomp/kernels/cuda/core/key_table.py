"""The factor by which hash tables on a GPU find slots: see ``key_table.cuh``."""

import secrets

# Odd, and drawn for each process. A signed integer, as kernels take it.
FACTOR = secrets.randbits(64) - (1 << 63) | 1
