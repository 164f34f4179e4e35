"""Maddix 2014: eight images by Kernels A, B and D of Hawick, Leist and Playne."""

from reproductions.laboratory import Laboratory
from reproductions.maddix_2014 import blocks, further_work, images, profile, times
from reproductions.paper import Exhibit, Paper

MADDIX_2014 = Paper(
    "maddix-2014",
    'D. Maddix, "Optimizations of Algorithms to Identify Strongly Connected Components in CUDA", '
    "project report, CME 213 (2014)",
    {
        "images": Exhibit(
            "Images, and their components",
            images.label_images,
            images.draw_images,
            {"cpu": (1, 2, 40), "cuda": (2, 6, 60)},
            images.claims_of_images,
            since="The report's images were not published, so stand-ins take their places. scikit- "
            "image labels such images on a CPU today, and all labels are held against its "
            "own.",
        ),
        "times": Exhibit(
            "Table: eight images by four columns, transfers included",
            times.measure_times,
            times.draw_times,
            {"cpu": (1, 20, 300), "cuda": (2, 55, 300)},
            times.claims_of_times,
            since="A Tesla C2075 had 144 GB/s of memory, and a GPU of today some thirty times as "
            "much, while to launch a kernel still takes microseconds. So what sweeps "
            "thousands of times over an image of these sizes gains least, and what the way to "
            "the GPU takes counts for more.",
        ),
        "times-over-pixels": Exhibit(
            "Plot: time over the size of the image, transfers included",
            times.measure_over_pixels,
            times.draw_over_pixels,
            {"cpu": (1, 20, 300), "cuda": (2, 55, 300)},
            times.claims_of_pixels,
            since="The kinks of the curves come from the images: what is in them decides how many "
            "sweeps there are. The default, which does not sweep, depends on that far less.",
        ),
        "profile": Exhibit(
            "Profile: the shares of Kernel D's kernels",
            profile.profile,
            profile.draw_profile,
            {"cuda": (2, 60, 300)},
            profile.claims_of_profile,
            since="Images of these sizes and their labels fit into the caches of a GPU today, and "
            "did not then. What is around the kernels, the transfers, grows in weight as "
            "kernels get faster.",
        ),
        "blocks": Exhibit(
            "Blocks of threads, and cells a thread",
            blocks.measure_blocks,
            blocks.draw_blocks,
            {"cuda": (3, 70, 500)},
            blocks.claims_of_blocks,
            since="Rows of 32 threads were a matter of coalescing when caches were small. Today's "
            "GPUs hold more threads and caches, so that shapes of blocks differ less.",
        ),
        "further-work": Exhibit(
            "Further work: Kernel D with the report's ideas",
            further_work.measure_ideas,
            further_work.draw_ideas,
            {"cuda": (3, 65, 300)},
            further_work.claims_of_ideas,
            since="Shared memory is what helped most since: tiles are labelled there, and their "
            "borders are united by union-find instead of sweeps. Stores without atomics are "
            "of little use for that, as every union has to be kept.",
        ),
    },
    Laboratory,
)
