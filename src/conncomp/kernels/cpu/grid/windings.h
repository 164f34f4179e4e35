// Windings on the CPU: a pass over all seam links that unites open components, and one that collects closed
// paths (core/wrapping/windings.h), of lattices (swendsen_wang.h) and of arrays labelled with all axes open.
#pragma once

#include "core/wrapping/seams.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/grid/link_words.h"

namespace conncomp {

// A link rule as core/wrapping/seams.h asks for it, by indirect calls. Sites are offsets of values.
struct ElementLinks {
  using Value = char;
  const LinkWords& words;

  int64_t site(const char*, int64_t offset) const { return offset * words.value_bytes; }
  bool linked(const char* values, int64_t from, int64_t to, int axis, bool forward) const {
    const char* const plane = values + words.plane(axis);
    uint64_t word = 1;
    words.keep_linked(plane + from, plane + to, 0, 1, {axis, forward}, &word);
    return word != 0;
  }
};

// Boxes over the ends of the same axes; lines of one number follow each other, for the cache.
struct SeamFace {
  const SeamBox *begin, *end;
  int64_t first_line, lines;  // the former among those of all faces
};
inline int64_t lines_of(const Seams& seams, const SeamBox& box) {
  int64_t lines = 1;
  for (int64_t k = 0; k < seams.rank - 1; ++k) lines *= box.extent[k];
  return lines;
}
inline std::vector<SeamFace> faces_of(const Seams& seams, const SeamBox* box) {
  const auto same = [](const SeamBox& a, const SeamBox& b) {
    for (int k = 0; k < kMostClosedAxes; ++k)
      if ((a.periods[k] != 0) != (b.periods[k] != 0)) return false;
    return true;
  };
  std::vector<SeamFace> faces;
  for (const SeamBox* at = box; at < box + seams.boxes; ++at) {
    if (faces.empty() || !same(*at, *faces.back().begin)) {
      const int64_t first = faces.empty() ? 0 : faces.back().first_line + faces.back().lines;
      faces.push_back({at, at, first, 0});
    }
    faces.back().end = at + 1;
    faces.back().lines = std::max(faces.back().lines, lines_of(seams, *at));
  }
  return faces;
}

template <class Label>
void for_each_link_of_line(const SeamArray<ElementLinks, Label>& array, int64_t item, const SeamBox& box,
    int64_t line, auto&& body) {
  const int64_t last = array.seams.rank - 1, begin = box.first + line * box.extent[last];
  SeamEnd place = end_of(array.seams, box, begin);
  int64_t last_from = SeamTable::kNoKey, last_to = SeamTable::kNoKey;
  const int64_t first_link = item * array.seams.links + begin;
  for_each_in(first_link, first_link + box.extent[last], [&](int64_t link) {
    const auto wanted = [&](int64_t from, int64_t to) { return from != last_from || to != last_to; };
    array.with_link(item, box, place, wanted, [&](int64_t from, int64_t to) {
      last_from = from;
      last_to = to;
      body(from, to, box, link);
    });
    place.index += box.stride[last];
    place.value += box.value_stride[last];
  });
}

struct LinesOfFaces {
  const std::vector<SeamFace>& faces;
  int64_t lines;  // of an item
  Parts parts;

  LinesOfFaces(const Seams& seams, const std::vector<SeamFace>& faces)
      : faces(faces),
        lines(faces.back().first_line + faces.back().lines),
        parts(seams.items * lines, std::max<int64_t>(1, kGrain * lines / seams.links)) {}

  const SeamFace& face_of(int64_t line) const {
    const auto begins_after = [](int64_t line, const SeamFace& face) { return line < face.first_line; };
    return *std::prev(std::upper_bound(faces.begin(), faces.end(), line, begins_after));
  }
};

template <class Label>
void for_each_link(
    const SeamArray<ElementLinks, Label>& array, const LinesOfFaces& lines, int64_t part, auto&& body) {
  for (int64_t i = lines.parts.begin(part); i < lines.parts.end(part); ++i) {
    const int64_t item = i / lines.lines, line_of_item = i - item * lines.lines;
    const SeamFace& face = lines.face_of(line_of_item);
    const int64_t line = line_of_item - face.first_line;
    for (const SeamBox* box = face.begin; box < face.end; ++box)
      if (line < lines_of(array.seams, *box)) for_each_link_of_line(array, item, *box, line, body);
  }
}

void for_each_slot(const SeamWindings& windings, const auto& body) {
  for_each_index(windings.table.slots, body);
}

class SeamTables {
 public:
  // `slots`: a power of two, more than links have ends. Smallest keys need room if somebody asks.
  SeamTables(int64_t slots, int64_t links, int64_t lattices, bool asks)
      : key_(slots),
        smallest_(asks ? slots : 0),
        link_(slots),
        number_at_root_(slots),
        hook_(links),
        lattice_(lattices),
        windings_{{key_.data(), slots}, {link_.data(), hook_.data()},
            {number_at_root_.data(), lattice_.data(), &count_}, asks ? smallest_.data() : nullptr, nullptr} {
    for_each_slot(windings_, [&](int64_t slot) { windings_.clear(slot); });
  }
  SeamTables(const SeamTables&) = delete;
  SeamTables& operator=(const SeamTables&) = delete;

  const SeamWindings& windings() const { return windings_; }

 private:
  Buffer<int64_t> key_, smallest_;
  Buffer<int32_t> link_, number_at_root_;
  Buffer<Hook> hook_;
  Buffer<WindingLattice> lattice_;
  int32_t count_ = 0;
  const SeamWindings windings_;
};

inline void close_paths(const SeamWindings& windings, const std::vector<std::vector<SeamLink>>& links) {
  parallel_for(int64_t(links.size()), [&](int64_t piece) {
    SeamWindings::Path last{};
    for_each_in(0, int64_t(links[piece].size()), [&](int64_t i) {
      const auto path = windings.path_over<Concurrent>(links[piece][i]);
      if (!path.exists() || path == last) return;
      last = path;
      windings.lattices.add<Concurrent>(path.root, path.winding);
    });
  });
}

// Unites open components over links, and collects closed paths. for_each_link(piece, unite) calls unite(from,
// to, winding, number) with the keys of each link's ends; repetitions of the one before are left out.
void find_windings(const SeamWindings& windings, int64_t pieces, auto&& for_each_link) {
  std::vector<std::vector<SeamLink>> links(pieces);
  parallel_for(pieces, [&](int64_t piece) {
    int64_t last_from = SeamTable::kNoKey, last_to = SeamTable::kNoKey;
    Winding last{};
    for_each_link(piece, [&](int64_t from, int64_t to, const Winding& winding, int64_t number) {
      if (from == last_from && to == last_to && winding == last) return;
      last_from = from, last_to = to, last = winding;
      links[piece].push_back(windings.unite<Concurrent>(from, to, winding, number));
    });
  });
  close_paths(windings, links);
}

struct ArrayWindings {
  std::vector<int64_t> smallest, bases, left_out;
};

template <class Label>
ArrayWindings find_windings(const SeamArray<ElementLinks, Label>& array, int64_t slots, int64_t lattices) {
  const SeamTables tables(slots, array.links(), lattices, true);
  const SeamWindings& windings = tables.windings();
  const std::vector<SeamFace> faces = faces_of(array.seams, array.box);
  const LinesOfFaces lines(array.seams, faces);
  find_windings(windings, lines.parts.parts, [&](int64_t part, const auto& unite) {
    for_each_link(array, lines, part, [&](int64_t from, int64_t to, const SeamBox& box, int64_t link) {
      unite(from, to, box.winding(), link);
    });
  });
  for_each_slot(windings, [&](int64_t slot) { windings.tell_smallest<Concurrent>(slot); });
  for_each_slot(windings, [&](int64_t slot) { windings.ask_smallest<Concurrent>(slot); });
  ArrayWindings listed;
  for_each_in(0, slots, [&](int64_t slot) {
    if (windings.is_left_out(slot)) listed.left_out.push_back(windings.table.key[slot]);
    const WindingBasis* const basis = windings.basis_at(slot);
    if (basis == nullptr) return;
    listed.smallest.push_back(windings.smallest[slot]);
    for (const auto& row : basis->row) listed.bases.insert(listed.bases.end(), row, row + kMostClosedAxes);
  });
  return listed;
}

// Calls body(item, basis) for each component that so many links wind.
void wind_links(int64_t links, int64_t pieces, auto&& for_each_link, auto&& body) {
  // Each link has two ends, and one lattice at most.
  const SeamTables tables(int64_t(std::bit_ceil(uint64_t(2 * links + 1))), links, links, false);
  const SeamWindings& windings = tables.windings();
  find_windings(windings, pieces, for_each_link);
  for_each_in(0, windings.table.slots, [&](int64_t slot) {
    if (const WindingBasis* const basis = windings.basis_at(slot)) body(windings.item_of(slot), *basis);
  });
}

// Bonds over ends of axes of items labelled without: item, labels of both ends, windings.
struct GivenBonds {
  int64_t count;
  const int64_t *item, *from, *to;
  const int8_t* along;

  Winding winding(int64_t bond) const {
    Winding winding;
    for (int k = 0; k < kMostClosedAxes; ++k) winding.along[k] = along[kMostClosedAxes * bond + k];
    return winding;
  }
};

inline void wind_bonds(const GivenBonds& bonds, int64_t* axes, int64_t* rank) {
  if (bonds.count == 0) return;
  const Parts parts(bonds.count, kGrain);
  const auto unite_bonds = [&](int64_t part, const auto& unite) {
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t bond) {
      const auto key_of = [&](int64_t label) { return SeamWindings::key_of(bonds.item[bond], label); };
      unite(key_of(bonds.from[bond]), key_of(bonds.to[bond]), bonds.winding(bond), bond);
    });
  };
  wind_links(bonds.count, parts.parts, unite_bonds, [=](int64_t item, const WindingBasis& basis) {
    axes[item] |= basis.axes();
    rank[item] = std::max<int64_t>(rank[item], basis.rank());
  });
}

}
