"""
Masks of a neural network, a batch at a time (PyTorch)
======================================================

A network for segmentation returns a batch of probabilities, on the GPU. What follows,
labelling every mask, counting its objects and keeping the largest one, need not leave
the GPU: functions of conncomp take tensors and return tensors, on the stream that is
current in PyTorch. ``batch_axes=1`` says that the first axis counts images; each of
them is labelled on its own, all in one call, with none of the loops over images that
scikit-image or SciPy need.

Where there is no PyTorch, or no GPU, this example does the same with NumPy: the calls
of conncomp are the same, and so are the labels. The output tells which of the two it
was.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import conncomp

try:
    import torch

    on_gpu = torch.cuda.is_available()
except ImportError:
    on_gpu = False

# %%
# The network is not the subject here; noise that was smoothed takes its place.

noise = np.random.default_rng(4).standard_normal((8, 128, 128), dtype=np.float32)
logits = 90 * gaussian_filter(noise, (0, 7, 7)) - 1.7
probabilities = 1 / (1 + np.exp(-logits))
if on_gpu:
    probabilities = torch.as_tensor(probabilities, device="cuda")

labels, counts = conncomp.label(probabilities > 0.5, batch_axes=1, return_num=True)
sizes = conncomp.component_sizes(labels, background=0, batch_axes=1)  # (images, labels)
largest = conncomp.largest_components(labels, 1, background=0, batch_axes=1)

print(f"labelled {'on a GPU, by PyTorch' if on_gpu else 'on the CPU: no GPU here'}")
print(f"labels: {type(labels)} of shape {tuple(labels.shape)}")
print("objects of each image:", counts.tolist())
print("elements of the largest of each:", [max(row) for row in sizes.tolist()])

# %%
# Only what is drawn comes back to main memory. Each image has its largest object in
# white.

if on_gpu:
    labels, largest = labels.cpu().numpy(), largest.cpu().numpy()
colours = conncomp.colour_components(labels, batch_axes=1)
colours[largest > 0] = 255

figure, axes = plt.subplots(2, 4, figsize=(9, 4.9), layout="constrained")
for panel, image, count in zip(axes.flat, colours, counts.tolist(), strict=True):
    panel.imshow(image, interpolation="none")
    panel.set_title(f"{count} objects")
    panel.set_axis_off()
plt.show()
