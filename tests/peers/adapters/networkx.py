"""NetworkX calls its backend, and itself where that does not take the arguments."""

import os

from adapters.record import counted

from _conncomp_networkx import FUNCTIONS
from conncomp import networkx as backend

os.environ |= {"NETWORKX_TEST_BACKEND": "conncomp", "NETWORKX_FALLBACK_TO_NX": "1"}
for name in FUNCTIONS:
    setattr(backend, name, counted(getattr(backend, name), name))
