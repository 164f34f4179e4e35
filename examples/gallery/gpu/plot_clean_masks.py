"""
Masks of a network, cleaned inside torch.compile (PyTorch)
==========================================================

Masks that a network for segmentation draws have holes in their objects and sprinkles
beside them, and often more objects than the one that was asked for. ``conncomp.torch``
cleans a batch of them where they are: its functions take and return tensors, wait for
nothing, and stand in a model that ``torch.compile`` turns into one graph, without a
break. There is no loop over masks, and no way through main memory.

Where there is no PyTorch, or no GPU, this example does the same with NumPy and the
functions of ``conncomp``, which have the same results. The output tells which of the
two it was.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import conncomp

try:
    import torch

    import conncomp.torch

    on_gpu = torch.cuda.is_available()
except ImportError:
    on_gpu = False

# %%
# The network is not the subject here: smooth noise, with noise of single pixels above
# it, takes the place of its logits for six images.

random = np.random.default_rng(2)
smooth = gaussian_filter(random.standard_normal((6, 128, 128)), (0, 9, 9))
logits = 12 * smooth / smooth.std() - 9 + 5 * random.standard_normal(smooth.shape)
logits = logits.astype(np.float32)

# %%
# Holes of up to 30 pixels are filled, and then the largest component is kept.
# Inside the model these are two lines.


def clean(logits):
    filled = conncomp.torch.fill_holes(logits[:, None] > 0, max_size=30)
    return conncomp.torch.largest_components(filled)[:, 0]


def clean_by_numpy(logits):
    masks = []
    for mask in logits > 0:
        labels = conncomp.label(conncomp.fill_holes(mask, max_size=30))
        masks.append(conncomp.largest_components(labels, 1) > 0)
    return np.stack(masks)


if on_gpu:
    model = torch.compile(clean, fullgraph=True)
    masks = model(torch.as_tensor(logits, device="cuda")).cpu().numpy()
else:
    masks = clean_by_numpy(logits)

before, after = (logits > 0).sum((1, 2)), masks.sum((1, 2))
print(f"cleaned {'on a GPU, by PyTorch' if on_gpu else 'on the CPU: no GPU here'}")
print("pixels above the threshold:", before.tolist())
print("pixels of the cleaned masks:", after.tolist())

# %%
# Above, the masks as the network draws them; below, cleaned.

figure, axes = plt.subplots(2, 6, figsize=(9, 3.2), layout="constrained")
for row, images in zip(axes, (logits > 0, masks), strict=True):
    for panel, image in zip(row, images, strict=True):
        panel.imshow(image, cmap="gray", interpolation="none")
        panel.set_axis_off()
plt.show()
