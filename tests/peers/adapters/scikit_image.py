"""`skimage.measure.label` is `conncomp.label`, for all that use it within scikit-image, too."""

import skimage.measure
import skimage.measure._label

import conncomp

skimage.measure._label.label = conncomp.label
skimage.measure.label = conncomp.label
