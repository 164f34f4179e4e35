"""Runs a program for 64-bit Arm on any machine: a static Linux executable of one thread, emulated.

Of the system it gets memory, an end, and somewhere to write; any other call fails as one that the
kernel does not know.
"""

import struct

import pytest

unicorn = pytest.importorskip("unicorn")  # of the soak
arm = pytest.importorskip("unicorn.arm64_const")

PAGE = 4096
STACK_END, STACK_SIZE = 0x7F0000000000, 8 << 20
HEAP = 0x200000000
ENOSYS = 38
LOADED = 1  # a segment of the file that is mapped
# Of the vector of facts that Linux puts behind a program's arguments.
PROGRAM_HEADERS, HEADER_SIZE, HEADERS, PAGE_SIZE, RANDOM_BYTES = 3, 4, 5, 6, 25


def pages(size):
    return (size + PAGE - 1) // PAGE * PAGE


class Process:
    """A process of one program, before it has begun."""

    def __init__(self, program, arguments):
        self.cpu = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.output = b""
        self.exit_status = None
        self.heap_end = HEAP
        facts = self.load(program.read_bytes())
        self.push([str(program), *arguments], facts)
        self.calls = {
            64: self.write,
            66: self.write_vector,
            93: self.exit,
            94: self.exit,
            215: self.unmap_memory,
            222: self.map_memory,
        }
        self.cpu.hook_add(unicorn.UC_HOOK_INTR, self.call_system)

    def load(self, file):
        """Map the segments of an ELF file, and return what the program is told of them."""
        self.entry, first = struct.unpack_from("<QQ", file, 24)
        size, count = struct.unpack_from("<HH", file, 54)
        end = 0  # of what is mapped; segments are in ascending order, and may share a page
        facts = {HEADER_SIZE: size, HEADERS: count, PAGE_SIZE: PAGE}
        for i in range(count):
            kind, _, offset, address, _, in_file, in_memory, _ = struct.unpack_from(
                "<IIQQQQQQ", file, first + i * size
            )
            if kind != LOADED:
                continue
            begin, end = max(address // PAGE * PAGE, end), pages(address + in_memory)
            self.cpu.mem_map(begin, end - begin)
            self.cpu.mem_write(address, file[offset : offset + in_file])
            if offset <= first < offset + in_file:
                facts[PROGRAM_HEADERS] = address + first - offset
        return facts

    def push(self, arguments, facts):
        """Put the arguments, no environment, and facts on the stack."""
        self.cpu.mem_map(STACK_END - STACK_SIZE, STACK_SIZE)
        strings = [bytes(range(16)), *(argument.encode() + b"\0" for argument in arguments)]
        addresses, top = [], STACK_END
        for string in strings:
            top -= len(string)
            self.cpu.mem_write(top, string)
            addresses.append(top)
        facts[RANDOM_BYTES], *places = addresses
        words = [len(places), *places, 0, 0]
        for fact in facts.items():
            words += fact
        words += [0, 0]
        top = (top - 8 * len(words)) // 16 * 16
        self.cpu.mem_write(top, struct.pack(f"<{len(words)}Q", *words))
        self.cpu.reg_write(arm.UC_ARM64_REG_SP, top)

    def run(self):
        """Return the exit status and what was written."""
        self.cpu.emu_start(self.entry, 0)
        return self.exit_status, self.output.decode()

    def call_system(self, cpu, *_):
        arguments = [cpu.reg_read(arm.UC_ARM64_REG_X0 + i) for i in range(6)]
        call = self.calls.get(cpu.reg_read(arm.UC_ARM64_REG_X8))
        answer = -ENOSYS if call is None else call(*arguments)
        cpu.reg_write(arm.UC_ARM64_REG_X0, answer % 2**64)

    def write(self, _file, address, size, *_):
        self.output += self.cpu.mem_read(address, size)
        return size

    def write_vector(self, file, address, count, *_):
        pieces = self.cpu.mem_read(address, 16 * count)
        return sum(self.write(file, *piece) for piece in struct.iter_unpack("<QQ", pieces))

    def map_memory(self, _address, size, *_):
        begin = self.heap_end
        self.cpu.mem_map(begin, pages(size))
        self.heap_end += pages(size) + PAGE  # a page that no one may touch lies between
        return begin

    def unmap_memory(self, address, size, *_):
        self.cpu.mem_unmap(address, pages(size))
        return 0

    def exit(self, status, *_):
        self.exit_status = status
        self.cpu.emu_stop()
        return 0
