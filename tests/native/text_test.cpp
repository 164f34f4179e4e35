// Reads random text by random chunks under a sanitizer, each in memory of its own so that a look beyond
// its end is seen, and compares with the same text in one chunk. Built and run by test_sanitizers.py.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cpu/files/compact.h"
#include "cpu/files/graph_text.h"
#include "rounds.h"

using namespace conncomp;

namespace {

std::mt19937 generator(1);

int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); }

struct Result {
  std::string error;
  std::vector<int64_t> first, second;
  bool operator==(const Result&) const = default;
};

template <class Reader>
Result read(Reader reader, const std::string& text, size_t longest_chunk) {
  Result result;
  std::string held;
  try {
    for (size_t at = 0, last = 0; !last;) {
      const size_t size = std::min<size_t>(draw(1, int(longest_chunk)), text.size() - at);
      last = size == 0;
      const std::string chunk = held + text.substr(at, size);
      at += size;
      const auto bytes = std::make_unique<char[]>(chunk.size());
      std::copy(chunk.begin(), chunk.end(), bytes.get());
      std::vector<int64_t> first(chunk.size() + 1), second(chunk.size() + 1);
      const Progress done = reader.read(bytes.get(), chunk.size(), last, first.data(), second.data());
      result.first.insert(result.first.end(), first.begin(), first.begin() + done.first);
      result.second.insert(result.second.end(), second.begin(), second.begin() + done.second);
      held = chunk.substr(done.used);
      if (held.size() >= size_t(Tokens::kLongest)) throw std::logic_error("more is held than a word");
    }
  } catch (const std::invalid_argument& error) {
    return {error.what(), {}, {}};
  }
  return result;
}

std::string draw_text() {
  const std::string words[] = {"0",
                               "1",
                               "7",
                               "12",
                               "a",
                               "%",
                               "#",
                               " ",
                               " ",
                               "\t",
                               ",",
                               "\n",
                               "\n",
                               "\r",
                               "\r\n",
                               "9223372036854775807",
                               "9223372036854775808",
                               "-1",
                               "x.5",
                               std::string(1, '\0'),
                               "\xff",
                               std::string(255, '0'),
                               std::string(256, '1'),
                               std::string(300, ' ')};
  const int count = draw(0, 40), kinds = draw(0, 3) ? 15 : int(std::size(words));
  std::string text;
  for (int i = 0; i < count; ++i) text += words[draw(0, kinds - 1)];
  return text;
}

template <class Reader>
void test(const Reader& reader, const std::string& text) {
  const Result whole = read(reader, text, text.size() + 1);
  if (read(reader, text, 8) == whole && read(reader, text, 300) == whole) return;
  std::printf("wrong: chunks change what is read, or its error: %s\n", whole.error.c_str());
  std::exit(1);
}

template <class Vertex>
void test_compact() {
  const int vertices = draw(1, 700), arcs = draw(0, 300);
  std::vector<Vertex> src(arcs), dst(arcs);
  for (int i = 0; i < arcs; ++i)
    src[i] = Vertex(draw(0, vertices - 1)), dst[i] = Vertex(draw(0, vertices - 1));
  std::vector<Vertex> before(src);
  before.insert(before.end(), dst.begin(), dst.end());
  const auto ids = compact_ids(src.data(), dst.data(), arcs, vertices);
  for (int i = 0; i < arcs; ++i)
    if (ids.at(src[i]) != before[i] || ids.at(dst[i]) != before[arcs + i]) {
      std::printf("wrong: a compact number\n");
      std::exit(1);
    }
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  for (int round = 0; round < rounds; ++round) {
    const std::string text = draw_text();
    const int64_t vertices = draw(0, 12);
    test(ArcReader("#%", "", 0, INT64_MAX, 0), text);
    test(ArcReader("c", "a", 1, vertices, 3), text);
    test(NeighbourReader(vertices, draw(0, 2), draw(0, 1), 1), text);
    process().wanted_threads = draw(1, 5);
    test_compact<int32_t>();
    test_compact<int64_t>();
  }
  std::printf("%d rounds\n", rounds);
}
