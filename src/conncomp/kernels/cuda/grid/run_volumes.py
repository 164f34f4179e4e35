from math import prod
import numpy as np
from conncomp.kernels.cuda.core.numbering import WORDS
from conncomp.kernels.cuda.launcher import COUNT, launch
from conncomp.kernels.cuda.grid import row_tiles
FILE = "cuda/grid/run_volumes.cuh"
SHAPE = np.dtype([("value_stride", "i8", 3), ("length", "i4", 3), ("tiles", "i4", 2), ("words_of_row", "i4")], align=True)
SHARED = 512 * (4 + 4 + 2 + 8) + 4 + 4 * 512 * 16
def takes(geometry, links):
    return (links.rule, links.value_type) == ("equal", "u1") and len(geometry.shape) == 3 and geometry.connectivity == 1 and not any(geometry.steps.periodic) and geometry.items == 1
def fill_labels(gpu, image, labels, workspace):
    label, join, follow = gpu.load(FILE, ("label_volume_tiles<>", "join_volume_tiles<>", "follow_volume_roots<>"))
    g = image.geometry
    columns = -(-g.shape[2] // 32); words = g.shape[0] * g.shape[1] * columns
    along = [-(-n // s) for n, s in zip(g.shape[::-1], (64, 16, 16))]
    shape = np.array((g.value_strides[::-1], g.shape[::-1], along[:2], columns), SHAPE)[()]
    flat = np.array(((1, 1), (g.shape[2], g.shape[0] * g.shape[1]), 1, columns), row_tiles.SHAPE)[()]
    tiles = prod(along)
    reaching, settled, components = workspace.take(gpu, (words, WORDS), (tiles, np.dtype(np.int32)), (1, COUNT))
    launch(label, (tiles, 512), image.rule, image.values, labels, shape, reaching, settled, components, shared=SHARED)
    launch(join, (tiles, 128), image.values, labels, shape)
    launch(follow, (gpu.blocks(words, 256), 256), labels, flat, reaching, settled, components, words, tiles)
    return components
