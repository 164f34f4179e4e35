// What the programs of this folder are told: how many rounds to go.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace {

// The one argument, a whole number above 0. Without it the program ends, with a line that says how it is
// called.
int rounds_of(int count, char** arguments) {
  const int rounds = count == 2 ? std::atoi(arguments[1]) : 0;
  if (rounds > 0) return rounds;
  std::printf("usage: %s ROUNDS, a number above 0; 60 take some seconds\n", count ? arguments[0] : "test");
  std::exit(2);
}

}
