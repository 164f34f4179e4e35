// Reads random text by random chunks under a sanitizer, each in memory of its own so that a look beyond
// its end is seen, and compares with the same text in one chunk. Built and run by test_sanitizers.py.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu/files/graph_text.h"
#include "cpu/files/graphml.h"
#include "cpu/files/named_arcs.h"
#include "cpu/files/plain_xml.h"
#include "cpu/files/png_filters.h"
#include "cpu/graph/rows_of_arcs.h"
#include "rounds.h"

using namespace conncomp;

namespace {

std::mt19937 generator(1);

int64_t plain_pieces = 0;  // that have been found

int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); }

struct Result {
  std::string error;
  std::vector<int64_t> first, second, names;
  bool operator==(const Result&) const = default;
};

// How many bytes of a chunk readers may leave to the next one.
template <class Reader> constexpr int64_t kMostHeld = Tokens::kLongest;
template <> constexpr int64_t kMostHeld<NamedArcReader> = NamedArcReader::kLongestRow;
template <> constexpr int64_t kMostHeld<GraphmlReader> = GraphmlReader::kLongestTag;

template <class Reader> bool are_numbers(const Reader& reader) {
  if constexpr (requires { reader.as_numbers(); }) return reader.as_numbers();
  return false;
}

template <class Reader> Result read(Reader&& reader, const std::string& text, size_t longest_chunk) {
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
      const auto read_from = [&](size_t begin) {
        const Progress done =
            reader.read(bytes.get() + begin, chunk.size() - begin, last, first.data(), second.data());
        result.first.insert(result.first.end(), first.begin(), first.begin() + done.first);
        result.second.insert(result.second.end(), second.begin(), second.begin() + done.second);
        return begin + done.used;
      };
      const bool as_numbers = are_numbers(reader);
      size_t used = read_from(0);
      if constexpr (requires { reader.as_numbers(); })
        if (as_numbers && !reader.as_numbers()) {
          reader.rename(result.first.data(), result.second.data(), int64_t(result.first.size()));
          used = read_from(used);
        }
      held = chunk.substr(used);
      if (held.size() >= size_t(kMostHeld<std::remove_cvref_t<Reader>>))
        throw std::logic_error("more is held than may be");
    }
  } catch (const std::invalid_argument& error) {
    return {error.what(), {}, {}, {}};
  }
  if constexpr (requires { reader.names(); }) {
    if (are_numbers(reader)) return result;
    const VertexNames& names = reader.names();
    std::vector<uint32_t> rows(size_t(names.count() * names.longest()));
    names.write(rows.data());
    result.names.assign(rows.begin(), rows.end());
    try {
      if (const auto numbers = names.numbers(false))
        result.names.insert(result.names.end(), numbers->begin(), numbers->end());
    } catch (const std::invalid_argument& error) {
      result.error = error.what();
    }
  }
  return result;
}

// Up to forty words, most of them of the first `common`.
template <size_t kWords> std::string join(const std::string (&words)[kWords], int common) {
  const int count = draw(0, 40), kinds = draw(0, 3) ? common : int(kWords);
  std::string text;
  for (int i = 0; i < count; ++i) text += words[draw(0, kinds - 1)];
  return text;
}

std::string draw_csv() {
  static const std::string words[] = {"a", "b", ",", ",", "\n", "\r\n", "a,b\n", "7,12\n", "\"a\",b\n", "\"",
      "\"\"", " ", "\r", "\xc3\xa4", "\xf0\x9f\x98\x80", "\xff", "\xed\xa0\x80", "\xc3", std::string(1, '\0'),
      std::string(300, 'x'), std::string(70000, ' ')};
  return join(words, 15);
}

std::string draw_graphml() {
  static const std::string words[] = {"<node id='a'/>", "<node id=\"&lt;&#x41;\"/>",
      "<edge source='a' target='b'/>", "<edge target = 'c'\n source='b'></edge>", "\n", "<data>1</data>",
      "<!-- <node> -->", "<![CDATA[ <node> ]]>", "<?x <node> ?>", "<node id='d'><port/></node>", "</graph>",
      "<", ">", "'", "&", "<node>", "<edge source='&", "<!-", "]]>", "<hyperedge/>", "=", "<edge =' source",
      std::string(70000, ' '), "<node id='\xff'/>"};
  return (draw(0, 9) ? "<graphml><graph edgedefault='directed'>" : "") + join(words, 10) +
         (draw(0, 1) ? "</graph></graphml>" : "");
}

// Nodes and edges of few forms, mostly listed one after the other, whose names and data are of any kind.
std::string draw_listed_graphml() {
  static const std::string forms[] = {"<edge source=\"*\" target=\"*\"/>\n",
      "<edge  id='*' target='*'\n source='*' ><data key='w'>*</data>\n</edge>\n ", "<node id=\"*\" />",
      "<node id='*'>\n<data key=\"id\">*</data><port name='*'/> * </node>\n\n",
      "<edge directed='true' source='*' target='*'/>", "<node id='*'\r>\r</node>",
      "<node n='1' id='*' o='*' p='*' q='*' r='*' s='*' t='*' u='*' v='*'/>\t",
      "<node a='*'><port id='*'/></node>", "<edge source='*' directed='*' target='*'/>",
      "<edges source='*' target='*'/>", "<data id='*'>*</data>"};
  static const std::string words[] = {"a", "b", "an id of sixteen", "c d", "/>", "=", "\xc3\xa4", "&amp;",
      "x\ny", "x\r\ny", "]", "", "true", std::string(300, 'x')};
  const int common = draw(0, 3) ? 5 : 12, kinds = draw(0, 3) ? 6 : 11;
  std::string text = "<graphml>\n<graph edgedefault='directed'>";
  for (int k = draw(0, 5); k > 0; --k) {
    const std::string& form = forms[draw(0, kinds - 1)];
    for (int times = draw(1, 20); times > 0; --times)
      for (const char c : form) c == '*' ? text += words[draw(0, common + draw(0, 1))] : text += c;
    if (!draw(0, 2)) text += "<!-- <node id='e'/> -->\r\n";
  }
  return text + "</graph><graph><node id='f'/></graph></graphml>";
}

// Nodes and edges that are told by their form are read as others, such as those with a prefix.
void test_forms(const std::string& text) {
  std::string prefixed;
  for (size_t k = 0; k < text.size(); ++k) {
    prefixed += text[k];
    const std::string_view rest = std::string_view(text).substr(k + 1);
    if (text[k] == '<' && (rest.starts_with("node") || rest.starts_with("edge"))) prefixed += "x:";
  }
  if (read(GraphmlReader(), text, text.size() + 1) == read(GraphmlReader(), prefixed, prefixed.size() + 1))
    return;
  std::printf("wrong: a plain node or edge of GraphML\n");
  std::exit(1);
}

// Runs of elements, some long enough to be a piece, with anything between.
std::string draw_elements() {
  static const std::string elements[] = {"<edge source='a' target='b'/>",
      "<node id = \"n\" ><data>1 > 0</data>\n</node >", "<a><b><c><d/></c></b></a>",
      "<a><b><c><d><e/></d></c></b></a>", "<e s=']]>'/>", "<a b='1' b='2'/>"};
  std::string text;
  for (int k = draw(1, 4); k > 0; --k) {
    const std::string& element = elements[draw(0, 5)];
    for (int times = draw(1, 40); times > 0; --times) text += element;
    text += draw_graphml();
  }
  return text.substr(size_t(draw(0, 9)), text.size() - size_t(draw(0, 40)) / 4);
}

std::string draw_text() {
  static const std::string words[] = {"0", "1", "7", "12", "a", "%", "#", " ", " ", "\t", ",", "\n", "\n",
      "\r", "\r\n", "9223372036854775807", "9223372036854775808", "-1", "x.5", std::string(1, '\0'), "\xff",
      std::string(255, '0'), std::string(256, '1'), std::string(300, ' ')};
  return join(words, 15);
}

template <class Make> void test(Make make, const std::string& text) {
  const Result whole = read(make(), text, text.size() + 1);
  if (read(make(), text, text.size() < 4096 ? 8 : 30000) == whole &&
      read(make(), text, 300 + text.size() / 3) == whole)
    return;
  std::printf("wrong: chunks change what is read, or its error: %s\n", whole.error.c_str());
  std::exit(1);
}

// What is read as numbers first is what is read as names.
template <class Make> void test_numbers(Make make_named, const std::string& text) {
  Result names = read(make_named(false), text, text.size() + 1);
  auto reader = make_named(true);
  const Result found = read(reader, text, text.size() + 1);
  if (reader.as_numbers() && names.error.empty()) {
    const size_t count = names.names.size();
    int64_t most = -1;
    for (const auto* ends : {&names.first, &names.second})
      for (const int64_t name : *ends) most = std::max(most, name);
    const int64_t* const numbers = names.names.data() + count - size_t(most + 1);
    std::vector<int64_t> kept(numbers, numbers + most + 1);
    for (auto* ends : {&names.first, &names.second})
      for (int64_t& name : *ends) name = kept[size_t(name)];
    names.names.clear();
  }
  if (found == names) return;
  std::printf("wrong: numbers in a table\n");
  std::exit(1);
}

// Pieces that no parser sees come in order and are long; each is one by itself, in memory of its own.
void test_plain_xml(const std::string& text) {
  const auto pieces_of = [](const std::string& part) {
    const auto bytes = std::make_unique<char[]>(part.size());
    std::copy(part.begin(), part.end(), bytes.get());
    return PlainXml::pieces({bytes.get(), part.size()});
  };
  int64_t last = 0;
  for (const auto& [begin, end, line_feeds] : pieces_of(text)) {
    const std::string piece = text.substr(size_t(begin), size_t(end - begin));
    if (line_feeds != std::count(piece.begin(), piece.end(), '\n')) std::abort();
    const auto alone = pieces_of(piece);
    if (begin < last || end - begin < PlainXml::kShortest || piece.find_first_of("&]") != piece.npos ||
        alone.size() != 1 || alone[0].begin != 0 || alone[0].end != end - begin) {
      std::printf("wrong: a piece of XML\n");
      std::exit(1);
    }
    last = end;
    ++plain_pieces;
  }
}

template <class Vertex> void test_compact() {
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

// Lines of a picture, random bytes in memory of their own, beside the specification's words.
void test_png_lines() {
  const int height = draw(1, 5), bytes = draw(1, 70), step = draw(1, 8), last_filter = draw(0, 30) ? 4 : 6;
  const auto lines = std::make_unique<uint8_t[]>(height * (bytes + 1));
  const auto image = std::make_unique<uint8_t[]>(height * bytes);
  for (int i = 0; i < height * (bytes + 1); ++i)
    lines[i] = uint8_t(i % (bytes + 1) ? draw(0, 255) : draw(0, last_filter));
  const bool are_known = PngLines(bytes, step).write(lines.get(), height, image.get());
  for (int y = 0; y < height; ++y) {
    const uint8_t* const line = lines.get() + y * (bytes + 1);
    if (line[0] > 4) {
      if (are_known) std::abort();
      return;
    }
    for (int x = 0; x < bytes; ++x) {
      const auto at = [&](int row, int place) {
        return row < 0 || place < 0 ? 0 : int(image[row * bytes + place]);
      };
      const int a = at(y, x - step), b = at(y - 1, x), c = at(y - 1, x - step), guess = a + b - c;
      const int pa = std::abs(guess - a), pb = std::abs(guess - b), pc = std::abs(guess - c);
      const int paeth = pa <= pb && pa <= pc ? a : (pb <= pc ? b : c);
      const int taken[] = {0, a, b, (a + b) / 2, paeth};
      if (image[y * bytes + x] != uint8_t(line[1 + x] + taken[line[0]])) std::abort();
    }
  }
  if (!are_known) std::abort();
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  for (int round = 0; round < rounds; ++round) {
    const std::string text = draw_text();
    const int64_t vertices = draw(0, 12);
    test([] { return ArcReader("#%", "", 0, 0, INT64_MAX, true); }, text);
    test([] { return DigitArcReader("#%", "", 0); }, text);
    test([=] { return ArcReader("c", "a", 3, 1, vertices, false); }, text);
    const int64_t skipped = draw(0, 2);
    const bool weighted = draw(0, 1);
    test([=] { return NeighbourReader(vertices, skipped, weighted, 1); }, text);
    const int64_t column = draw(0, 1);
    const std::string csv = draw_csv();
    const auto make_named = [=](bool as_numbers) {
      return NamedArcReader(',', 2 + column, column, 1 - column, 1, as_numbers);
    };
    test([=] { return make_named(false); }, csv);
    test([=] { return make_named(true); }, csv);
    test_numbers(make_named, csv);
    test([] { return GraphmlReader(); }, draw_graphml());
    const std::string listed = draw_listed_graphml();
    test([] { return GraphmlReader(); }, listed);
    test_forms(listed);
    test_plain_xml(listed);
    test_plain_xml(draw_elements());
    process().wanted_threads = draw(1, 5);
    test_compact<int32_t>();
    test_compact<int64_t>();
    test_png_lines();
  }
  if (rounds > 20 && plain_pieces < rounds / 4) {
    std::printf("wrong: %d pieces of XML are few\n", int(plain_pieces));
    std::exit(1);
  }
  std::printf("%d rounds\n", rounds);
}
