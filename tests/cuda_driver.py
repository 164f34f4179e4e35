"""A stand-in for CUDA's driver, a library for `native.Launches` and `native.Transfers` to load."""

import subprocess
from pathlib import Path

from host_cuda.host_gpu import COMPILER


def driver_stand_in(folder):
    """Compile it in a folder; return its path."""
    path = folder / "driver.so"
    source = Path(__file__).parent / "native" / "driver_stand_in.c"
    subprocess.run(
        [COMPILER, "-x", "c", "-shared", "-fPIC", "-pthread", source, "-o", path], check=True
    )
    return str(path)
