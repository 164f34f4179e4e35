"""Maddix 2014: eight images by Kernels A, B and D of Hawick, Leist and Playne."""

from reproductions.laboratory import Laboratory
from reproductions.maddix_2014 import images, kernels, times
from reproductions.paper import Paper, Show

MADDIX_2014 = Paper.read(
    __file__,
    {
        "images": Show(images.label_images, images.draw_images, images.claims_of_images),
        "times": Show(times.measure_times, times.draw_times, times.claims_of_times),
        "times-over-pixels": Show(
            times.measure_over_pixels, times.draw_over_pixels, times.claims_of_pixels
        ),
        "profile": Show(kernels.profile, kernels.draw_profile, kernels.claims_of_profile),
        "blocks": Show(kernels.measure_blocks, kernels.draw_blocks, kernels.claims_of_blocks),
        "further-work": Show(kernels.measure_ideas, kernels.draw_ideas, kernels.claims_of_ideas),
    },
    Laboratory,
)
