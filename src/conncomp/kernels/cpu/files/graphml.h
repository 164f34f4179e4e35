// The nodes and edges of the first graph of GraphML as its text arrives; data, ports, nested graphs are
// ignored. The caller has checked, by a parser or plain_xml.h, that the text so far is well-formed UTF-8
// without a DOCTYPE; else nodes are wrong, or an error follows, nothing worse. A tag that the chunk's end
// cuts is left unused: tags have fewer than kLongestTag bytes. Nodes and edges with the form of the one
// before (plain_xml.h) are read at once. Source: the GraphML primer (Brandes et al.).
//   <graphml> <graph edgedefault="directed"> <node id="a"/> <edge source="a" target="b"/> </graph> </graphml>
//   depth 0   1                              2              2
#pragma once

#include "cpu/files/graph_text.h"
#include "cpu/files/plain_xml.h"

namespace conncomp {

class GraphmlReader {
 public:
  static constexpr int64_t kLongestTag = 1 << 16;

  Progress read(const char* text, size_t size, bool last, int64_t* src, int64_t* dst) {
    const char *at = text, *const end = text + size;
    src_ = src, dst_ = dst, edges_ = 0;
    while (at != end) {
      const char* next = nullptr;
      if (!hidden_by_.empty()) {
        next = leave_hidden(at, end);
      } else if (*at != '<') {
        next = static_cast<const char*>(std::memchr(at, '<', size_t(end - at)));
        if (!next) next = end;
      } else {
        next = read_plain_parts(at, end);
        if (next != at) {
          at = next;
          continue;
        }
        next = read_markup(at, end);
      }
      if (!next) break;
      count_lines(at, next);
      at = next;
      if (!hidden_by_.empty() && end - at < int64_t(hidden_by_.size())) break;
    }
    if (!last && end - at >= kLongestTag) fail(kTooLong);
    names_.flush();
    return {size_t(at - text), edges_, edges_};
  }

  int64_t largest() const { return names_.count() - 1; }
  const VertexNames& names() const { return names_; }
  bool is_directed() const { return directed_; }
  bool has_graph() const { return state_ != State::kBefore; }

 private:
  static constexpr const char* kTooLong = "expected a tag of fewer than 65536 bytes";

  enum class State { kBefore, kInside, kBehind };

  [[noreturn]] void fail(const std::string& reason) {
    names_.flush();  // a name of an earlier tag may be wrong as well
    throw std::invalid_argument(std::to_string(line_) + ": " + reason);
  }

  void count_lines(const char* at, const char* end) {
    if (at == end) return;
    line_ += *at == '\r' || (*at == '\n' && !returned_);
    for (const char* next = at + 1; next < end; ++next)
      line_ += (*next == '\r') | ((*next == '\n') & (next[-1] != '\r'));
    returned_ = end[-1] == '\r';
  }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  // Goes on to the end of what hides tags, or as far as that end cannot have begun.
  const char* leave_hidden(const char* at, const char* end) {
    const std::string_view text(at, size_t(end - at));
    const size_t place = text.find(hidden_by_);
    if (place == std::string_view::npos) return std::max(at, end - int64_t(hidden_by_.size()) + 1);
    const char* const next = at + place + hidden_by_.size();
    hidden_by_ = {};
    return next;
  }

  const char* read_markup(const char* at, const char* end) {
    static constexpr std::string_view kHiding[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    const std::string_view text(at, size_t(end - at));
    for (const auto& [begin, close] : kHiding) {
      if (text.starts_with(begin)) {
        hidden_by_ = close;
        return at + begin.size();
      }
      if (begin.starts_with(text)) return nullptr;
    }
    const char* const close = end_of_tag(at, end);
    if (!close) return nullptr;
    if (close - at >= kLongestTag) fail(kTooLong);
    const bool closes = at[1] == '/', is_empty = close[-1] == '/';
    if (closes) {
      --depth_;
      if (depth_ == 1 && state_ == State::kInside) state_ = State::kBehind;
    } else {
      open(std::string_view(at + 1, size_t(close - at - 1)));
      depth_ += !is_empty;
      if (is_empty && depth_ == 1 && state_ == State::kInside) state_ = State::kBehind;
    }
    return close + 1;
  }

  const char* read_plain_parts(const char* at, const char* end) {
    if (depth_ != 2 || state_ != State::kInside) return at;
    std::string_view values[PlainParts::kMost];
    const char* next = form_.match(at, end, values);
    bool is_of_use = next;  // and not only for the element that it was learnt from
    if (!next && form_.may_learn() && learn_form(at, end)) next = form_.match(at, end, values);
    for (; next && next - at < kLongestTag; next = form_.match(at, end, values), is_of_use = true) {
      if (is_of_use) form_.was_of_use();
      if (is_edge_) {
        add_plain(values[first_], src_ + edges_);
        add_plain(values[second_], dst_ + edges_);
        ++edges_;
      } else {
        add_plain(values[first_], &node_);
      }
      line_ += lines_;
      returned_ = false;
      for (at = next; at != end && (*at == '\n' || *at == ' '); ++at) line_ += *at == '\n';
    }
    return at;
  }

  // Learns the form of the node or edge that begins here, if it is plain.
  bool learn_form(const char* at, const char* end) {
    PlainParts parts;
    const char* const stop = PlainXml::end_of_element(at, end, parts);
    if (!stop) return false;
    form_.count_learning();
    const std::string_view element(at, size_t(stop - at));
    const bool is_edge = element.starts_with("<edge"), is_node = element.starts_with("<node");
    if ((!is_edge && !is_node) || !is_blank(at[5]) || element.find('\r') != std::string_view::npos)
      return false;
    if (parts.count > PlainParts::kMost) return false;
    const auto place = [&parts](std::string_view name) {
      int k = 0;
      while (k < parts.count && (parts.parts[k].depth > 0 || parts.parts[k].name != name)) ++k;
      return k;
    };
    const int first = place(is_edge ? "source" : "id"), second = is_edge ? place("target") : first;
    // read_part looks at whether an edge is directed.
    if (std::max(first, second) == parts.count || (is_edge && place("directed") < parts.count)) return false;
    form_.learn(element, parts);
    is_edge_ = is_edge, first_ = first, second_ = second;
    lines_ = std::count(form_.fixed().begin(), form_.fixed().end(), '\n');
    return true;
  }

  void add_plain(std::string_view name, int64_t* number) {
    names_.add(Bytes{name.data(), int64_t(name.size())}, line_, number);
  }

  static const char* end_of_tag(const char* at, const char* end) {
    for (char quote = 0; ++at < end;) {
      if (quote) {
        if (*at == quote) quote = 0;
      } else if (*at == '"' || *at == '\'') {
        quote = *at;
      } else if (*at == '>') {
        return at;
      }
    }
    return nullptr;
  }

  void open(std::string_view tag) {
    const auto behind = std::find_if(tag.begin(), tag.end(), [](char c) { return c == '/' || is_blank(c); });
    std::string_view name = tag.substr(0, size_t(behind - tag.begin()));
    const std::string_view attributes = tag.substr(name.size());
    name.remove_prefix(name.find(':') + 1);  // 0 where there is no colon
    if (depth_ == 0) {
      if (name != "graphml")
        fail("the file begins with <" + shown(name) + ">; GraphML begins with <graphml>");
    } else if (depth_ == 1 && name == "graph" && state_ == State::kBefore) {
      state_ = State::kInside;
      directed_ = attribute(attributes, "edgedefault") == "directed";
    } else if (depth_ == 2 && state_ == State::kInside) {
      read_part(name, attributes);
    }
  }

  void read_part(std::string_view name, std::string_view attributes) {
    if (name == "node") {
      add(attributes, "id", "a node", &node_);
    } else if (name == "edge") {
      const std::string_view directed = attribute(attributes, "directed");
      const std::string_view allowed[] = {directed_ ? "true" : "false", directed_ ? "1" : "0"};
      if (!directed.empty() && directed != allowed[0] && directed != allowed[1])
        fail(std::string("an edge is ") + (directed_ ? "undirected" : "directed") +
             ", and others of its graph are not; write two graphs");
      add(attributes, "source", "an edge", src_ + edges_);
      add(attributes, "target", "an edge", dst_ + edges_);
      ++edges_;
    } else if (name == "hyperedge") {
      fail("a hyperedge has any number of ends; write edges, which have two");
    }
  }

  void add(std::string_view attributes, std::string_view name, const char* whose, int64_t* number) {
    const std::string_view value = attribute(attributes, name);
    if (!value.data()) fail(std::string(whose) + " has no " + std::string(name));
    if (std::any_of(value.begin(), value.end(), [](char c) { return c == '&' || (c != ' ' && is_blank(c)); }))
      names_.add(unescaped(value), line_, number);
    else
      names_.add(Bytes{value.data(), int64_t(value.size())}, line_, number);
  }

  static std::string_view attribute(std::string_view attributes, std::string_view name) {
    const char *at = attributes.data(), *const end = at + attributes.size();
    while (true) {
      while (at != end && is_blank(*at)) ++at;
      const char* const begin = at;
      while (at != end && *at != '=' && !is_blank(*at)) ++at;
      const std::string_view key(begin, size_t(at - begin));
      while (at != end && *at != '"' && *at != '\'') ++at;
      if (at == end) return {};
      const char* const close = std::find(at + 1, end, *at);
      if (close == end) return {};
      if (key == name) return {at + 1, size_t(close - at - 1)};
      at = close + 1;
    }
  }

  std::string unescaped(std::string_view value) {
    static constexpr std::pair<std::string_view, char> kEntities[] = {
        {"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}};
    std::string name;
    while (!value.empty()) {
      const char c = value.front();
      value.remove_prefix(1);
      if (c != '&') {
        if (c == '\r' && value.starts_with('\n')) value.remove_prefix(1);  // XML has one end of a line
        name += c == '\t' || c == '\r' || c == '\n' ? ' ' : c;
        continue;
      }
      const size_t close = std::min(value.find(';'), value.size() - 1);
      const std::string_view entity = value.substr(0, close + 1);
      if (entity.starts_with('#')) append_code_point(name, code_of(entity));
      for (const auto& [known, character] : kEntities)
        if (entity == known) name += character;
      value.remove_prefix(entity.size());
    }
    return name;
  }

  static uint32_t code_of(std::string_view entity) {
    const bool is_hex = entity.size() > 1 && entity[1] == 'x';
    uint32_t code = 0;
    for (const char c : entity.substr(is_hex ? 2 : 1)) {
      const int digit = c >= '0' && c <= '9'                 ? c - '0'
                        : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                             : -1;
      if (digit >= 0) code = std::min(code * (is_hex ? 16u : 10u) + uint32_t(digit), 0x110000u);
    }
    return code;
  }

  static void append_code_point(std::string& text, uint32_t point) {
    const int following = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    constexpr int kLead[] = {0, 0xc0, 0xe0, 0xf0};
    text += char(uint32_t(kLead[following]) | point >> 6 * following);
    for (int k = following; k-- > 0;) text += char(0x80 | (point >> 6 * k & 0x3f));
  }

  static std::string shown(std::string_view name) { return std::string(name.substr(0, 40)); }

  State state_ = State::kBefore;
  bool directed_ = false;
  int64_t depth_ = 0, line_ = 1;
  bool returned_ = false;       // whether a CR was last, with which an LF is one end of a line
  std::string_view hidden_by_;  // the end of a comment, section or instruction that has begun
  int64_t *src_ = nullptr, *dst_ = nullptr, edges_ = 0, node_ = 0;
  VertexNames names_;

  PlainForm form_;
  bool is_edge_ = false;
  int first_ = 0, second_ = 0;
  int64_t lines_ = 0;
};

}
