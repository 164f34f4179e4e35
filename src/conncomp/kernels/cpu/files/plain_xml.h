// Pieces of XML that a short scan shows to be well-formed: whole ASCII elements without references, sections,
// comments and instructions, not deep. The rest is well-formed with the piece if and only if it is with an
// empty element in its place; so a parser need not see it. Elements are scanned with a stack of open names;
// one with the same bytes as the one before around values and texts (PlainForm) needs no scan. All else is
// left to the parser, so is "]", even in values: a section may have begun before, and "]]>" would end it.
// Cost: one pass, and up to kDeepest more where elements do not end. Source: XML 1.0, productions 1, 3 to 5,
// 10, 14, 25, 39 to 44.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace conncomp {

// ASCII bytes that stand for themselves in a text and in a value, whatever quotes are around it.
inline bool is_plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\'' && c != '<' && c != '&' && c != ']';
}

// Where plain bytes end: sixteen at a time, as values are short.
inline const char* end_of_plain(const char* at, const char* end) {
  constexpr int64_t kBytes = 16;
  __extension__ typedef uint8_t Vector __attribute__((vector_size(kBytes)));
  for (; end - at >= kBytes; at += kBytes) {
    Vector c;
    std::memcpy(&c, at, sizeof c);
    const auto others = (c - uint8_t(' ') > uint8_t('~' - ' ')) | (c == uint8_t('"')) | (c == uint8_t('\'')) |
                        (c == uint8_t('<')) | (c == uint8_t('&')) | (c == uint8_t(']'));
    uint64_t halves[2];
    static_assert(sizeof halves == sizeof others && std::endian::native == std::endian::little);
    std::memcpy(halves, &others, sizeof halves);
    if (halves[0]) return at + std::countr_zero(halves[0]) / 8;
    if (halves[1]) return at + 8 + std::countr_zero(halves[1]) / 8;
  }
  while (at != end && is_plain(*at)) ++at;
  return at;
}

// How often a byte comes: sixteen at a time, summed before counts overflow a byte.
inline int64_t count_of(char wanted, const char* at, const char* end) {
  constexpr int64_t kBytes = 16, kMost = 255;
  __extension__ typedef uint8_t Vector __attribute__((vector_size(kBytes)));
  int64_t count = 0;
  while (end - at >= kBytes) {
    Vector sums{};
    for (int64_t k = std::min((end - at) / kBytes, kMost); k > 0; --k, at += kBytes) {
      Vector c;
      std::memcpy(&c, at, sizeof c);
      sums -= Vector(c == uint8_t(wanted));  // -1 where it is
    }
    for (int64_t k = 0; k < kBytes; ++k) count += sums[k];
  }
  return count + std::count(at, end, wanted);
}

// What elements of one form differ in: values of attributes and texts that are not blank.
struct PlainParts {
  static constexpr int kMost = 8;
  struct Part {
    std::string_view text, name;  // of the attribute, or of none
    int depth;                    // of the tag, 0 of the element's own
  };

  int count = 0;  // of all, of which the first kMost are kept
  Part parts[kMost];

  void add(const Part& part) {
    if (count < kMost) parts[count] = part;
    ++count;
  }
};

class PlainForm {
 public:
  bool may_learn() const { return misses_ < kMostMisses; }

  void count_learning() { ++misses_; }
  void was_of_use() { misses_ = 0; }

  void learn(std::string_view element, const PlainParts& parts) {
    parts_ = -1;
    if (parts.count > PlainParts::kMost || element.size() > kLongest) return;
    fixed_.clear();
    const char* at = element.data();
    for (int k = 0; k <= parts.count; ++k) {
      const char* const stop = k < parts.count ? parts.parts[k].text.data() : element.data() + element.size();
      fixed_.append(at, stop);
      lengths_[k] = size_t(stop - at);
      if (k < parts.count) at = stop + parts.parts[k].text.size();
    }
    parts_ = parts.count;
  }

  // Where the element of this form that begins here ends, and its parts; nullptr if none, or cut.
  const char* match(const char* at, const char* end, std::string_view* parts) const {
    const char* fixed = fixed_.data();
    for (int k = 0; k <= parts_; ++k) {
      const size_t length = lengths_[k];
      if (size_t(end - at) < length || std::memcmp(at, fixed, length) != 0) return nullptr;
      at += length, fixed += length;
      if (k == parts_) return at;
      const char* const stop = end_of_plain(at, end);
      parts[k] = {at, size_t(stop - at)};
      at = stop;
    }
    return nullptr;
  }

  const std::string& fixed() const { return fixed_; }

 private:
  static constexpr size_t kLongest = 1 << 10;
  static constexpr int kMostMisses = 64;

  int misses_ = 0;  // forms that were taken since one was of use
  int parts_ = -1;  // -1 where there is no form
  size_t lengths_[PlainParts::kMost + 1] = {};
  std::string fixed_;
};

class PlainXml {
 public:
  static constexpr int kDeepest = 4, kMostAttributes = 8;
  static constexpr std::ptrdiff_t kShortest = 256;  // bytes of a piece that is worth it

  struct Piece {
    int64_t begin, end, line_feeds;
  };

  static std::vector<Piece> pieces(std::string_view text) {
    std::vector<Piece> found;
    const char *const begin = text.data(), *const end = begin + text.size();
    const char* at = next_tag(begin, end);
    PlainForm form;
    const auto end_of_next = [&](const char* next) {
      std::string_view values[PlainParts::kMost];
      if (const char* const stop = form.match(next, end, values)) {
        form.was_of_use();
        return stop;
      }
      PlainParts parts;
      const char* const stop = end_of_element(next, end, parts);
      if (stop && form.may_learn()) {
        form.count_learning();
        form.learn({next, size_t(stop - next)}, parts);
      }
      return stop;
    };
    while (at != end) {
      const char* last = at;
      for (const char* next = at; next != end && (next = end_of_next(next));) {
        last = next;
        while (next != end && is(kBlank, *next)) ++next;
        if (next != end && *next != '<') break;
      }
      if (last - at >= kShortest) found.push_back({at - begin, last - begin, count_of('\n', at, last)});
      at = next_tag(std::max(last, at + 1), end);
    }
    return found;
  }

  // Where the element that begins with this "<" ends, and its parts; nullptr if not plain, or endless.
  static const char* end_of_element(const char* at, const char* end, PlainParts& parts) {
    std::string_view open[kDeepest];
    for (int depth = 0;;) {
      if (end - at < 2) return nullptr;
      if (at[1] == '/') {
        if (depth == 0) return nullptr;
        at = end_of_end_tag(at, end, open[--depth]);
        if (!at) return nullptr;
      } else {
        const Tag tag = tag_at(at, end, depth, parts);
        if (!tag.end || (!tag.is_empty && depth == kDeepest)) return nullptr;
        at = tag.end;
        if (!tag.is_empty) open[depth++] = tag.name;
      }
      if (depth == 0) return at;
      const char* const text = at;
      at = skip(kText, at, end);
      if (at == end || *at != '<') return nullptr;
      if (skip(kBlank, text, at) != at) parts.add({{text, size_t(at - text)}, {}, depth});
    }
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

  static const char* skip(Kind kind, const char* at, const char* end) {
    while (at != end && is(kind, *at)) ++at;
    return at;
  }

  static std::string_view name_at(const char* at, const char* end) {
    if (at == end || !is(kNameStart, *at)) return {};
    return {at, size_t(skip(kName, at, end) - at)};
  }

  struct Tag {
    const char* end = nullptr;
    std::string_view name;
    bool is_empty = false;
  };

  static Tag tag_at(const char* at, const char* end, int depth, PlainParts& parts) {
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
      const std::string_view value = value_at(after + name.size(), end);
      if (!value.data()) return {};
      parts.add({value, name, depth});
      at = value.data() + value.size() + 1;
    }
  }

  static std::string_view value_at(const char* at, const char* end) {
    at = skip(kBlank, at, end);
    if (at == end || *at != '=') return {};
    at = skip(kBlank, at + 1, end);
    if (at == end || (*at != '"' && *at != '\'')) return {};
    const char* const close = skip(kValue, at + 1, end);
    return close == end || *close != *at ? std::string_view()
                                         : std::string_view(at + 1, size_t(close - at - 1));
  }

  static const char* end_of_end_tag(const char* at, const char* end, std::string_view element) {
    if (name_at(at + 2, end) != element) return nullptr;
    at = skip(kBlank, at + 2 + element.size(), end);
    return at == end || *at != '>' ? nullptr : at + 1;
  }
};

}
