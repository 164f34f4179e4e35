// Pieces of XML that are well-formed by themselves, and plain enough to be told so by a short scan.
//
// What: where elements lie one after the other that are whole, of ASCII, without references, sections,
// comments and instructions, and not deep. If all around is well-formed with one empty element in place of
// such a piece, it is well-formed with the piece, and the other way round; so a parser of XML needs not see
// the piece.
// How: a scan of each element with a stack of the names that are open. What it does not know, or what is not
// well-formed, is in no piece, and is left to the parser. Nor is "]", not even in values: a section may have
// begun before, which the scan does not know, and "]]>" would end it.
// Cost: one pass over the bytes, and up to kDeepest more where elements do not end.
// Source: the grammar of XML 1.0, productions 1, 3 to 5, 10, 14, 25 and 39 to 44.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace conncomp {

class PlainXml {
 public:
  static constexpr int kDeepest = 4, kMostAttributes = 8;
  static constexpr std::ptrdiff_t kShortest = 256;  // bytes of a piece that is worth it

  struct Piece {
    int64_t begin, end;
  };

  // The pieces of a text that begins outside of tags.
  static std::vector<Piece> pieces(std::string_view text) {
    std::vector<Piece> found;
    const char *const begin = text.data(), *const end = begin + text.size();
    const char* at = next_tag(begin, end);
    while (at != end) {
      const char* last = at;
      for (const char* next = at; next != end && (next = end_of_element(next, end));) {
        last = next;
        while (next != end && is(kBlank, *next)) ++next;
        if (next != end && *next != '<') break;
      }
      if (last - at >= kShortest) found.push_back({at - begin, last - begin});
      at = next_tag(std::max(last, at + 1), end);
    }
    return found;
  }

 private:
  enum Kind : uint8_t { kNameStart = 1, kName = 2, kText = 4, kValue = 8, kBlank = 16 };

  static constexpr std::array<uint8_t, 256> kinds() {
    std::array<uint8_t, 256> kinds{};
    for (int c = 0; c < 128; ++c) {
      const bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
      const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      const bool plain = blank || (c > ' ' && c <= '~' && c != '<' && c != '&');
      if (letter || c == '_' || c == ':') kinds[c] |= kNameStart | kName;
      if ((c >= '0' && c <= '9') || c == '-' || c == '.') kinds[c] |= kName;
      if (plain && c != ']') kinds[c] |= kText;
      if (plain && c != ']' && c != '"' && c != '\'') kinds[c] |= kValue;
      if (blank) kinds[c] |= kBlank;
    }
    return kinds;
  }
  static bool is(Kind kind, char c) {
    static constexpr std::array<uint8_t, 256> kKinds = kinds();
    return kKinds[uint8_t(c)] & kind;
  }

  static const char* next_tag(const char* at, const char* end) {
    const void* const tag = std::memchr(at, '<', size_t(end - at));
    return tag ? static_cast<const char*>(tag) : end;
  }

  // Where what is of a kind ends, or the text.
  static const char* skip(Kind kind, const char* at, const char* end) {
    while (at != end && is(kind, *at)) ++at;
    return at;
  }

  // The name that begins here, or none.
  static std::string_view name_at(const char* at, const char* end) {
    if (at == end || !is(kNameStart, *at)) return {};
    return {at, size_t(skip(kName, at, end) - at)};
  }

  // A tag, at its end: none if it is not plain.
  struct Tag {
    const char* end = nullptr;
    std::string_view name;
    bool is_empty = false;
  };

  // The tag that begins with the "<" at a place.
  static Tag tag_at(const char* at, const char* end) {
    Tag tag;
    tag.name = name_at(at + 1, end);
    if (tag.name.empty()) return {};
    at += 1 + tag.name.size();
    std::string_view attributes[kMostAttributes];
    for (int count = 0;; ++count) {
      const char* const after = skip(kBlank, at, end);
      if (after == end) return {};
      if (*after == '>' || *after == '/') {
        tag.is_empty = *after == '/';
        const char* const close = after + tag.is_empty;
        tag.end = close + 1;
        return close == end || *close != '>' ? Tag{} : tag;
      }
      const std::string_view name = name_at(after, end);
      if (name.empty() || after == at || count == kMostAttributes) return {};
      if (std::find(attributes, attributes + count, name) != attributes + count) return {};
      attributes[count] = name;
      at = end_of_value(after + name.size(), end);
      if (!at) return {};
    }
  }

  // Where the value of an attribute ends whose name ends here; nullptr if it is not plain.
  static const char* end_of_value(const char* at, const char* end) {
    at = skip(kBlank, at, end);
    if (at == end || *at != '=') return nullptr;
    at = skip(kBlank, at + 1, end);
    if (at == end || (*at != '"' && *at != '\'')) return nullptr;
    const char* const close = skip(kValue, at + 1, end);
    return close == end || *close != *at ? nullptr : close + 1;
  }

  // Where the end tag of an element ends, which begins here; nullptr if it is another's.
  static const char* end_of_end_tag(const char* at, const char* end, std::string_view element) {
    if (name_at(at + 2, end) != element) return nullptr;
    at = skip(kBlank, at + 2 + element.size(), end);
    return at == end || *at != '>' ? nullptr : at + 1;
  }

  // Where an element ends that begins with the "<" at a place; nullptr if it is not plain, or has no end.
  static const char* end_of_element(const char* at, const char* end) {
    std::string_view open[kDeepest];
    for (int depth = 0;;) {
      if (end - at < 2) return nullptr;
      if (at[1] == '/') {
        if (depth == 0) return nullptr;
        at = end_of_end_tag(at, end, open[--depth]);
        if (!at) return nullptr;
      } else {
        const Tag tag = tag_at(at, end);
        if (!tag.end || (!tag.is_empty && depth == kDeepest)) return nullptr;
        at = tag.end;
        if (!tag.is_empty) open[depth++] = tag.name;
      }
      if (depth == 0) return at;
      at = skip(kText, at, end);
      if (at == end || *at != '<') return nullptr;
    }
  }
};

}  // namespace conncomp
