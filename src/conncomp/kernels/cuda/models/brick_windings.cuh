// Windings of clusters found by bricks and tiles, a thread a seam link, over the end of an axis: join_links
// joins tiles without these, unite_seams_of_bricks then takes them as unite_seams (windings.cuh) does, with
// roots as names of open clusters; join_seams joins them at last.
#pragma once

#include "cuda/grid/tiled_bricks.cuh"
#include "cuda/grid/windings.cuh"

namespace conncomp {

// Calls body(entries, from, to, box) with the places of the ends of a seam link, if there is one.
template <class Tiles, class Index>
void with_places(const Tiles& tiles, const Seams& seams, const SeamBox* box, int64_t link, Index* label,
    const BrickTable& table, auto&& body) {
  using Links = GivenLinks<1>;
  const int64_t item = seams.item_of(link), link_of_item = link - item * seams.links;
  const SeamBox& seam_box = seams.box_of(box, link_of_item);
  const Index element = Index(item * seams.item_size + end_of(seams, seam_box, link_of_item).index);
  const Entries<Links, Tiles, Index> entries{tiles, nullptr, label, table};
  const auto from = entries.place_of(element);
  // Steps lead backward along one axis each; the words of the last axis come last.
  const int64_t step = Tiles::kAxes - 1 - seam_box.axis;
  if (!(table.links[step * table.bricks + from.number] >> from.bit & 1)) return;
  body(entries, from, entries.place_of(Index(element + seam_box.distance)), seam_box);
}

template <class Tiles, class Index>
__global__ void unite_seams_of_bricks(Tiles tiles, Seams seams, const SeamBox* __restrict__ box, Index* label,
    BrickTable table, SeamWindings windings) {
  unite_links(windings, seams.items * seams.links, [&](int64_t link) {
    KeyedLink keyed;
    with_places(tiles, seams, box, link, label, table,
        [&](const auto& entries, const auto& from, const auto& to, const SeamBox& seam_box) {
          const auto key_of = [&](const auto& place) {
            const Index entry = Index(entries.entry_at(place) - place.first_of_item);
            const Index root = follow_entry<false>(label + place.first_of_item, entry).root;
            return SeamWindings::key_of(seams.item_of(link), int64_t(root));
          };
          keyed = {key_of(from), key_of(to), seam_box.winding()};
        });
    return keyed;
  });
}

template <class Tiles, class Index>
__global__ void join_seams(
    Tiles tiles, Seams seams, const SeamBox* __restrict__ box, Index* label, BrickTable table) {
  for (int64_t i = grid_thread(); i < seams.items * seams.links; i += grid_threads())
    with_places(tiles, seams, box, i, label, table,
        [&](const auto& entries, const auto& from, const auto& to, const SeamBox&) {
          unite<Concurrent>(label + from.first_of_item, Index(entries.entry_at(from) - from.first_of_item),
              Index(entries.entry_at(to) - to.first_of_item));
        });
}

}
