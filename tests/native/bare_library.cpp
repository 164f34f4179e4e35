// What a program of one thread needs of the C and C++ libraries, so that none has to be built for a processor
// that is emulated: that takes five times as long as the program. Memory, numbers and texts are here.
// Threads, exceptions and all else are not: the linker puts missing_function() in their places.
#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <new>
#include <thread>

extern "C" const Elf64_Ehdr __ehdr_start;
int main(int, char**);

namespace {

constexpr long kWrite = 64, kExit = 93, kMapMemory = 222;

long call_system(long number, long a, long b = 0, long c = 0) {
  register long x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c, x8 asm("x8") = number;
  asm volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
  return x0;
}

void write_text(const char* text) {
  size_t size = 0;
  while (text[size]) ++size;
  call_system(kWrite, 1, long(text), long(size));
}

// Blocks of each power of two; one that is free holds the next. Its header says which power.
struct alignas(64) Block {
  Block* next;
  int power;
};
std::array<Block*, 48> free_blocks;
char *heap = nullptr, *heap_end = nullptr;

// The variables of the one thread, behind the two words that the processor's manual puts there.
alignas(64) std::array<char, 4096> of_thread;

void begin_thread() {
  const auto* part = reinterpret_cast<const Elf64_Phdr*>(
      reinterpret_cast<const char*>(&__ehdr_start) + __ehdr_start.e_phoff);
  for (int i = 0; i < __ehdr_start.e_phnum; ++i, ++part) {
    if (part->p_type != PT_TLS) continue;
    const size_t place = (16 + part->p_align - 1) / part->p_align * part->p_align;
    if (place + part->p_memsz > of_thread.size()) __builtin_trap();
    std::copy_n(reinterpret_cast<const char*>(part->p_vaddr), part->p_filesz, of_thread.data() + place);
  }
  asm volatile("msr tpidr_el0, %0" ::"r"(of_thread.data()));
}

}

extern "C" {

void* malloc(size_t size) {
  const int power = std::bit_width(size + sizeof(Block) - 1);
  Block*& first = free_blocks[power];
  if (!first) {
    const ptrdiff_t wanted = ptrdiff_t(1) << power;
    if (heap_end - heap < wanted) {
      const ptrdiff_t mapped = std::max(wanted, ptrdiff_t(1) << 24);
      heap = reinterpret_cast<char*>(call_system(kMapMemory, 0, mapped));
      heap_end = heap + mapped;
    }
    first = ::new (heap) Block{nullptr, power};
    heap += wanted;
  }
  Block* const block = first;
  first = block->next;
  return block + 1;
}

void free(void* memory) {
  if (!memory) return;
  Block* const block = static_cast<Block*>(memory) - 1;
  block->next = free_blocks[block->power];
  free_blocks[block->power] = block;
}

void* aligned_alloc(size_t alignment, size_t size) {
  if (alignment > alignof(Block)) __builtin_trap();
  return malloc(size);
}

void* memcpy(void* to, const void* from, size_t size) {
  for (size_t i = 0; i < size; ++i) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  if (to <= from) return memcpy(to, from, size);
  while (size-- > 0) static_cast<char*>(to)[size] = static_cast<const char*>(from)[size];
  return to;
}

void* memset(void* to, int value, size_t size) {
  for (size_t i = 0; i < size; ++i) static_cast<char*>(to)[i] = char(value);
  return to;
}

int memcmp(const void* a, const void* b, size_t size) {
  const auto *const x = static_cast<const unsigned char*>(a), *const y = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < size; ++i)
    if (x[i] != y[i]) return int(x[i]) - int(y[i]);
  return 0;
}
int bcmp(const void* a, const void* b, size_t size) { return memcmp(a, b, size); }

int madvise(void*, size_t, int) { return 0; }
int clock_gettime(clockid_t, timespec* time) {
  *time = {};
  return 0;
}
char* getenv(const char*) { return nullptr; }

int atoi(const char* text) {
  int value = 0;
  for (; '0' <= *text && *text <= '9'; ++text) value = 10 * value + (*text - '0');
  return value;
}

// Whole numbers (%d) and texts (%s).
int printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (; *format; ++format) {
    std::array<char, 12> text{};
    if (*format != '%') {
      text[0] = *format;
      write_text(text.data());
    } else if (*++format == 's') {
      write_text(va_arg(arguments, const char*));
    } else if (*format == 'd') {
      char* digit = text.data() + text.size() - 1;
      const int value = va_arg(arguments, int);
      unsigned int left = value < 0 ? 0u - unsigned(value) : unsigned(value);
      do *--digit = char('0' + left % 10);
      while (left /= 10);
      if (value < 0) *--digit = '-';
      write_text(digit);
    } else {
      __builtin_trap();
    }
  }
  va_end(arguments);
  return 0;
}

void exit(int status) {
  call_system(kExit, status);
  __builtin_trap();
}

int __cxa_guard_acquire(char* guard) { return *guard == 0; }
void __cxa_guard_release(char* guard) { *guard = 1; }

using Step = void (*)();
extern const Step __init_array_start[], __init_array_end[];

[[noreturn]] void missing_function() {
  write_text("calls what bare_library.cpp does not have\n");
  exit(1);
}

[[noreturn]] void begin_program(long* stack) {
  begin_thread();
  for (const Step* step = __init_array_start; step != __init_array_end; ++step) (*step)();
  exit(main(int(stack[0]), reinterpret_cast<char**>(stack + 1)));
}
asm(".globl _start\n_start: mov x0, sp\n b begin_program");

}  // extern "C"

void* operator new(size_t size) { return malloc(size); }
void operator delete(void* memory, size_t) noexcept { free(memory); }

unsigned int std::thread::hardware_concurrency() noexcept { return 1; }

// libc++ has compiled this for numbers, and its header only declares it.
void sort_numbers(long* begin, long* end, void*) asm("_ZNSt3__16__sortIRNS_6__lessIllEEPlEEvT0_S5_T_");
void sort_numbers(long* begin, long* end, void*) {
  std::sort(begin, end, [](long a, long b) { return a < b; });
}
