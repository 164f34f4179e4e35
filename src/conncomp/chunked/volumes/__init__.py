"""Labels of volumes in files, block by block.

The way of `label_file` through this room:

    labelling.py    `label_file` checks; `formats` open the source, a `volume.Volume`
    writing.py      `write_labels` locks TARGET.partial (kept.py), opens the target (targets.py)
    job.py          `Job` runs `stages.label_all` as an engine; block_files.py works on a block
"""

from conncomp.chunked.volumes.labelling import label_file
from conncomp.chunked.volumes.plan import plan_labels

__all__ = ["label_file", "plan_labels"]
