// The instructions of _registers_native. Nothing here may run: the file has that module's flags.
#include "bindings/instructions.h"

// A macro that is defined is 1, and its text "1"; the text of another one is its name.
#define CONNCOMP_TEXT_OF(macro) #macro
#define CONNCOMP_TEXT(macro) CONNCOMP_TEXT_OF(macro)

namespace conncomp {

namespace {

constexpr uint32_t compiled_for() {
  uint32_t set = 0, bit = 1;
#define CONNCOMP_ADD(macro, name)                 \
  if (CONNCOMP_TEXT(macro)[0] == '1') set |= bit; \
  bit <<= 1;
  CONNCOMP_INSTRUCTIONS(CONNCOMP_ADD)
  return set;
}

}

constinit const uint32_t instructions_of_native = compiled_for();

}
