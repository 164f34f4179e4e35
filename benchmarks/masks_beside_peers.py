"""Times `conncomp.torch` beside kornia, MONAI and a loop over SciPy, on batches of masks.

    python benchmarks/masks_beside_peers.py [--device cpu] [--rounds 7]

Answers are compared before calls are timed, in turns. A line has milliseconds of ours, eager and
compiled, and those of each peer with the multiple of ours. Peers that are not installed are left
out. MONAI works on the CPU, where scikit-image and SciPy do.
"""

import argparse
import warnings
from importlib.util import find_spec

import torch
from scipy import ndimage
from turns import medians_in_turns, place_on

import conncomp.torch as tensors

BATCHES = (64, 1, 256, 256), (16, 1, 1008, 1008), (2, 1, 96, 96, 96)


def blobs(shape, device):
    """Return masks of blobs, as networks give them."""
    smooth = torch.nn.functional.avg_pool2d if len(shape) == 4 else torch.nn.functional.avg_pool3d
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    return (smooth(noise, 9, 1, 4) > 0).to(device)


def by_scipy(masks):
    """Label one mask after the other in main memory."""
    items = masks.flatten(0, 1).cpu().numpy()
    full = ndimage.generate_binary_structure(items.ndim - 1, items.ndim - 1)
    labels = [torch.from_numpy(ndimage.label(item, full)[0]) for item in items]
    return torch.stack(labels).reshape(masks.shape).to(masks.device)


def by_monai(transform):
    """Return a function that applies a transform of MONAI's to one item after the other."""
    return lambda masks: torch.stack([transform(item.clone()) for item in masks.byte()]).bool()


def tasks(masks):
    """Yield the name of a task, our function, and those of peers."""
    peers = {"SciPy": by_scipy}
    if find_spec("kornia") and masks.dim() == 4:
        from kornia.contrib.connected_components import connected_components_union_find

        peers["kornia"] = lambda masks: connected_components_union_find(masks.float())
    yield "label", tensors.label, peers
    if find_spec("monai"):
        from monai.transforms import FillHoles, KeepLargestConnectedComponent

        keep = by_monai(KeepLargestConnectedComponent(applied_labels=[1], is_onehot=False))
        yield "largest_components", tensors.largest_components, {"MONAI": keep}
        fill = by_monai(FillHoles(applied_labels=[1], connectivity=1))
        yield "fill_holes", tensors.fill_holes, {"MONAI": fill}


def check(ours, theirs):
    """Raise unless masks are equal, or labels but for their numbers."""
    pairs = torch.stack([ours.flatten(), theirs.flatten().to(ours.dtype)])
    if ours.dtype != torch.bool:
        items = torch.arange(len(ours), device=ours.device).repeat_interleave(ours[0].numel())
        pairs = torch.stack([items, ours.flatten(), theirs.flatten()]).unique(dim=1)
        assert len(pairs[:2].unique(dim=1)[0]) == len(pairs[::2].unique(dim=1)[0]) == len(pairs[0])
    else:
        assert (pairs[0] != pairs[1]).sum() == 0


def main():
    """Print a line for each batch and task."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    place = place_on(arguments.device)
    print(place.machine, torch.__version__)
    for shape in BATCHES:
        masks = blobs(shape, arguments.device)
        for name, ours, peers in tasks(masks):
            functions = {"ours": ours, "compiled": torch.compile(ours, fullgraph=True), **peers}
            for function in functions.values():
                check(ours(masks), function(masks))
            calls = {who: lambda f=f, m=masks: f(m) for who, f in functions.items()}
            medians = medians_in_turns(calls, arguments.rounds, place)
            mine = medians["ours"]
            shown = [f"{who} {ms:.3g} ms ({ms / mine:.3g})" for who, ms in medians.items()]
            print(f"{'x'.join(map(str, shape)):18} {name:20}", ", ".join(shown), flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
