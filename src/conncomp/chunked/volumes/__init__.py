"""Labels of volumes in files, block by block.

``formats`` opens what its modules read, each a `volume.Volume`; ``targets.py`` is
what labels are written to, ``kept.py`` what is done already, ``writing.py`` how these go together,
``job.py`` the engine of the stages, ``block_files.py`` what threads or workers do with a block.
"""

from conncomp.chunked.volumes.labelling import label_file
from conncomp.chunked.volumes.plan import plan_labels

__all__ = ["label_file", "plan_labels"]
