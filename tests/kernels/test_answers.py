"""Numbers in pinned memory that kernels write to."""

from collections import defaultdict
from threading import Thread
from types import SimpleNamespace

from conncomp.kernels.cuda.launcher import PINNED_BYTES, Gpu


def test_a_handler_of_signals_may_ask_for_one_while_memory_is_asked_for():
    numbers, asked = [], []

    def pinned_memory(size):
        asked.append(size)
        if len(asked) == 1:
            numbers.append(gpu.new_answer())
        return bytearray(size)

    device = SimpleNamespace(attributes=defaultdict(int))
    cuda = SimpleNamespace(alloc_pinned_memory=pinned_memory, Device=lambda number: device)
    gpu = Gpu(SimpleNamespace(cuda=cuda), 0)
    thread = Thread(target=lambda: numbers.append(gpu.new_answer()), daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive()
    numbers += [gpu.new_answer() for _ in range(2 * PINNED_BYTES // 8)]
    assert len({number.ctypes.data for number in numbers}) == len(numbers)
    assert asked == 3 * [PINNED_BYTES]
