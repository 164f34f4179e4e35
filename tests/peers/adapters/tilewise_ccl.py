"""`tilewise_ccl.label_array` is `conncomp.label` of Dask arrays, with its arguments for them.

Of its diagnostics there is what says something of the components, not of its own graph.
"""

import dask
import dask.array
import tilewise_ccl

import conncomp


def label_array(
    mask, tile_shape=None, connectivity=2, *, diagnostics=False, properties=False, **others
):
    if tile_shape is not None and len(tile_shape) != mask.ndim:
        raise ValueError(f"tile_shape has {len(tile_shape)} dims but mask has {mask.ndim}")
    chunks = tile_shape or getattr(mask, "chunks", "auto")
    image = dask.array.asarray(mask).rechunk(chunks) != 0
    labels, num = conncomp.label(image, return_num=True, connectivity=connectivity)
    if not diagnostics and not properties:
        return labels
    told = {"n_final_objects": int(num.compute())}
    if properties:
        (measured,) = dask.compute(conncomp.component_statistics(labels, moments=False))
        told |= {"label_values": measured.labels, "area": measured.sizes}
        told["bbox_start"], told["bbox_stop"] = measured.bounding_boxes.transpose(2, 0, 1)
    return labels, told


tilewise_ccl.label_array = label_array
