// Windings of the components of an array on the CPU: all seam links, by any number of threads.
//
// The array has been labelled with all axes open, so what is left is a pass over the seam links that unites
// open components, and one that collects closed paths: core/windings.h tells how. Its cost is that of the
// surface of the array, times the steps to neighbours.
#pragma once

#include <algorithm>
#include <vector>

#include "core/seams.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/link_words.h"

namespace conncomp {

// A link rule as core/seams.h asks for it, element by element: by an indirect call for each link between
// other open components than the link before. Values are bytes, and sites are their offsets.
struct ElementLinks {
  using Value = char;
  const LinkWords& words;

  // Offsets are counted in elements.
  int64_t site(const char*, int64_t offset) const { return offset * words.value_bytes; }
  bool linked(const char* values, int64_t from, int64_t to, int axis, bool forward) const {
    const char* const plane = values + words.plane(axis);
    uint64_t word = 1;
    words.keep_linked(plane + from, plane + to, 0, 1, {axis, forward}, &word);
    return word != 0;
  }
};

// Boxes whose links lead over the ends of the same axes, and the lines of the one that has most. Their
// elements are those of one face, or nearly so: lines of the same number in all of them are taken one after
// the other, as what they read is in the cache.
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

// Calls body(from, to, box, link) for the links of a line of a box, but for those whose ends are those of
// the link before.
template <class Label, class Body>
void for_each_link_of_line(const SeamArray<ElementLinks, Label>& array, int64_t item, const SeamBox& box,
                           int64_t line, Body&& body) {
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

// The lines of all faces and items, in parts for threads.
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

// The same for the links of a part of them.
template <class Label, class Body>
void for_each_link(const SeamArray<ElementLinks, Label>& array, const LinesOfFaces& lines, int64_t part,
                   Body&& body) {
  for (int64_t i = lines.parts.begin(part); i < lines.parts.end(part); ++i) {
    const int64_t item = i / lines.lines, of_item = i - item * lines.lines;
    const SeamFace& face = lines.face_of(of_item);
    const int64_t line = of_item - face.first_line;
    for (const SeamBox* box = face.begin; box < face.end; ++box)
      if (line < lines_of(array.seams, *box)) for_each_link_of_line(array, item, *box, line, body);
  }
}

template <class Body>
void for_each_slot(const SeamWindings& windings, const Body& body) {
  const Parts parts(windings.table.slots, kGrain);
  parallel_for(parts.parts, [&](int64_t part) {
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t slot) { body(slot); });
  });
}

// A link between open components.
struct SeamUnion {
  int32_t from, to;  // slots
  const SeamBox* box;

  Winding winding() const { return box->winding(); }
};

// Collects the closed paths that links make, once all are united.
template <class Union>
void close_paths(const SeamWindings& windings, const std::vector<std::vector<Union>>& unions) {
  parallel_for(int64_t(unions.size()), [&](int64_t part) {
    SeamWindings::Path last{SeamWindings::kNoRoot, {}};
    for_each_in(0, int64_t(unions[part].size()), [&](int64_t i) {
      const Union& link = unions[part][i];
      const auto path = windings.path_over<Shared>(link.from, link.to, link.winding());
      if (!path.exists() || path == last) return;
      last = path;
      windings.lattices.add<Shared>(path.root, path.winding);
    });
  });
}

template <class Label>
void find_windings(const SeamArray<ElementLinks, Label>& array, const SeamWindings& windings) {
  const std::vector<SeamFace> faces = faces_of(array.seams, array.box);
  const LinesOfFaces lines(array.seams, faces);
  std::vector<std::vector<SeamUnion>> unions(lines.parts.parts);
  parallel_for(lines.parts.parts, [&](int64_t part) {
    for_each_link(array, lines, part, [&](int64_t from, int64_t to, const SeamBox& box, int64_t link) {
      const int32_t from_slot = windings.table.slot_of<Shared>(from);
      const int32_t to_slot = from == to ? from_slot : windings.table.slot_of<Shared>(to);
      windings.unite<Shared>(from_slot, to_slot, box.winding(), link);
      unions[part].push_back({from_slot, to_slot, &box});
    });
  });
  close_paths(windings, unions);
  for_each_slot(windings, [&](int64_t slot) { windings.tell_smallest<Shared>(slot); });
  for_each_slot(windings, [&](int64_t slot) { windings.ask_smallest<Shared>(slot); });
}

}  // namespace conncomp
