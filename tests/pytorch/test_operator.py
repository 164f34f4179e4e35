"""``conncomp::label`` as PyTorch's compiler, its exporter and CUDA graphs see it."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
tensors = pytest.importorskip("conncomp.torch")

# PyTorch warns of itself: of what it imports to compile, of numbers of lower precision that a GPU
# has, of the mode in which it refuses to wait.
pytestmark = pytest.mark.filterwarnings("default")

CALLS = {
    "label": lambda m: tensors.label(m),
    "label_and_count": lambda m: tensors.label_and_count(m, 1),
    "largest_components": lambda m: tensors.largest_components(m),
    "the two largest": lambda m: tensors.largest_components(m, 2, 1),
    "remove_small_components": lambda m: tensors.remove_small_components(m, 3),
    "fill_holes": lambda m: tensors.fill_holes(m),
    "fill_holes, small ones": lambda m: tensors.fill_holes(m, 2),
    "scores": lambda m: tensors.fill_holes_in_mask_scores(m.float() - 0.5, 3),
}
SHAPES = (2, 3, 9, 7), (1, 2, 5, 8), (2, 1, 12, 11), (2, 1, 4, 5, 3)


def masks_of(shape, device, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(shape, generator=generator) < 0.5).to(device)


@pytest.mark.parametrize(
    "view",
    [
        lambda m: m,
        lambda m: m.transpose(2, 3),
        lambda m: m[:0],
        lambda m: m[..., 1::2],
        lambda m: m[:, :1].expand(-1, 3, -1, -1),
        lambda m: m.to(torch.uint8) * 7,
        lambda m: m.double().requires_grad_(),
        lambda m: m.unsqueeze(2),
    ],
)
def test_opcheck(device, view):
    masks = view(masks_of(SHAPES[0], device))
    report = torch.library.opcheck(torch.ops.conncomp.label.default, (masks, 1))
    assert set(report.values()) == {"SUCCESS"}


def test_schema():
    schema = str(torch.ops.conncomp.label.default._schema)
    assert schema == "conncomp::label(Tensor masks, int connectivity) -> Tensor"


def test_results_are_new_memory(device):
    masks = masks_of(SHAPES[0], device)
    first, second = tensors.label(masks), tensors.label(masks)
    assert len({part.untyped_storage().data_ptr() for part in (masks, first, second)}) == 3
    first.fill_(-7)
    assert second.min() == 0


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_compiled_without_a_break(device, call, dynamic):
    torch._dynamo.reset()
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for shape in SHAPES:
        masks = masks_of(shape, device)
        torch.testing.assert_close(compiled(masks), call(masks), rtol=0, atol=0)


def clean(logits):
    """Do what a network's last lines do."""
    scores = tensors.fill_holes_in_mask_scores(logits.sigmoid() - 0.5, 3)
    kept = tensors.largest_components(tensors.fill_holes(scores > 0))
    return scores * kept, tensors.label_and_count(kept, 1)


def test_compiled_by_inductor(device):
    """Fused with what is before and behind, with gradients; on a GPU in CUDA graphs as well."""
    for mode in ("default", "reduce-overhead") if device == "cuda" else ("default",):
        torch._dynamo.reset()
        compiled = torch.compile(clean, fullgraph=True, mode=mode)
        for seed in range(4):  # captured after the first ones
            logits = torch.randn(2, 2, 31, 45, generator=torch.Generator().manual_seed(seed))
            logits = logits.to(device)
            of_compiled, of_eager = (logits.clone().requires_grad_() for _ in range(2))
            result, right = compiled(of_compiled), clean(of_eager)
            torch.testing.assert_close(result, right)
            result[0].sum().backward()
            right[0].sum().backward()
            torch.testing.assert_close(of_compiled.grad, of_eager.grad)


def test_errors_while_it_is_compiled():
    torch._dynamo.reset()
    compiled = torch.compile(tensors.label, backend="aot_eager")
    with pytest.raises(Exception, match=r"masks has shape \(3, 3\)"):
        compiled(torch.ones(3, 3))


def test_exported():
    class Cleaner(torch.nn.Module):
        def forward(self, scores):
            return tensors.largest_components(scores > 0)

    scores = torch.randn(2, 1, 9, 7)
    program = torch.export.export(Cleaner(), (scores,))
    assert "conncomp.label.default" in str(program.graph)
    assert torch.equal(program.module()(scores), Cleaner()(scores))


def test_meta_tensors():
    labels, areas = tensors.label_and_count(torch.ones(2, 1, 5, 7, device="meta"))
    assert labels.shape == areas.shape == (2, 1, 5, 7)
    assert labels.dtype == areas.dtype == torch.int32


def test_threads():
    """The operator can be called from several threads at a time, as data loaders do."""
    from concurrent.futures import ThreadPoolExecutor

    batches = [masks_of((3, 1, 64, 65), "cpu", seed) for seed in range(16)]
    right = [tensors.label(masks) for masks in batches]
    with ThreadPoolExecutor(4) as pool:
        for labels, wanted in zip(pool.map(tensors.label, batches), right, strict=True):
            assert torch.equal(labels, wanted)


def test_import_takes_no_gpu():
    """Nor does labelling on the CPU, which neither loads CuPy nor makes a context."""
    script = (
        "import sys, torch, conncomp.torch as t; t.label(torch.ones(1, 1, 2, 2));"
        "print('cupy' in sys.modules, torch.cuda.is_initialized())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["False", "False"]


def test_pytorch_that_is_too_old():
    script = "import torch; del torch.library.register_fake; import conncomp.torch"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.stderr.splitlines()[-1] == (
        "ImportError: conncomp.torch needs PyTorch 2.4 or newer, whose torch.library has "
        "register_fake: pip install 'conncomp[torch]'"
    )


@pytest.mark.gpu
class TestOnGpu:
    @pytest.fixture(autouse=True)
    def masks(self):
        """Masks that kernels were compiled for."""
        self.batches = [masks_of((4, 2, 65, 77), "cuda", seed) for seed in range(3)]
        for call in CALLS.values():
            call(self.batches[0])
        torch.cuda.synchronize()

    @pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
    def test_nothing_waits(self, call):
        """PyTorch refuses to wait; and calls return while the GPU is not there yet."""
        try:
            torch.cuda.set_sync_debug_mode("error")
            torch.cuda._sleep(10**9)  # cycles, half a second
            call(self.batches[0])
            assert not torch.cuda.current_stream().query()
        finally:
            torch.cuda.set_sync_debug_mode("default")
            torch.cuda.synchronize()

    @pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
    def test_captured(self, call):
        """A graph cleans what is in its input by then, whatever memory others take meanwhile."""
        import cupy

        placed = self.batches[0].clone()
        side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        with torch.cuda.stream(side):
            call(placed)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            result = call(placed)
        taken = [cupy.full(1 << k, 0x7F, "u1") for k in range(6, 24)]
        for masks in self.batches:
            placed.copy_(masks)
            graph.replay()
            taken.append(torch.full((1 << 20,), 0x7F, dtype=torch.uint8, device="cuda"))
            torch.testing.assert_close(result, call(masks), rtol=0, atol=0)
        assert all(int(array[0]) == 0x7F for array in taken)

    def test_streams(self):
        """Each call works on the stream that is current where it is made."""
        streams = [torch.cuda.Stream() for _ in self.batches]
        right = [tensors.label_and_count(masks)[1].cpu() for masks in self.batches]
        for _ in range(20):
            areas = []
            for stream, masks in zip(streams, self.batches, strict=True):
                with torch.cuda.stream(stream):
                    areas.append(tensors.label_and_count(masks)[1])
            torch.cuda.synchronize()
            assert all(map(torch.equal, (part.cpu() for part in areas), right))

    @pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
    def test_another_gpu(self):
        masks = self.batches[0].to("cuda:1")
        labels = tensors.label(masks)
        assert labels.device == masks.device
        assert torch.equal(labels.cpu(), tensors.label(self.batches[0].cpu()))

    def test_deterministic_algorithms(self):
        torch.use_deterministic_algorithms(True)
        try:
            for call in CALLS.values():
                call(self.batches[0])
        finally:
            torch.use_deterministic_algorithms(False)
