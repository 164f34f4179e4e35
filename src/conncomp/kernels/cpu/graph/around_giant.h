// Labels of a graph around a giant component that bits tell.
//
// What: unites the vertices that are not members of the giant, and gives all vertices their labels. How: one
// member stands for all, so that only the others have parents, which few of them need in the caches; and
// roots are bits, so that the label of one is known from the others before it without a pass over all
// vertices. Only labels are written for each of them, once. Cost: the arcs of the others, each at a bit and a
// parent; two bits a vertex and what counts the roots of 64. Every arc that leaves the members is to be
// listed from its other end, too. Source: unions of Jaiganesh and Burtscher 2018.
#pragma once

#include "cpu/core/buffer.h"
#include "cpu/graph/vertex_bits.h"

namespace conncomp {

template <class Index>
class AroundGiant {
 public:
  // Of the members there is one at least.
  AroundGiant(const VertexBits& members, int64_t vertices, Index* labels)
      : members_(members), vertices_(vertices), first_(members.first()), parent_(labels) {
    for_each_word([this](int64_t w) { for_each_other_of(w, [this](int64_t v) { parent_[v] = Index(v); }); });
  }

  // Unites the vertices that are not members with what their arcs lead to.
  template <class Pointer, class Vertex>
  void unite(const Rows<Pointer, Vertex> rows) {
    for_each_word([=, this](int64_t w) {
      for_each_other_of(w, [=, this](int64_t v) {
        if (v == first_) return;
        Index root = shorten(parent_, v);
        rows.for_each_neighbour(v, [&, this](Vertex u) {
          const Index end = members_.has(u) ? Index(first_) : Index(u);
          if (const Index above = Shared::load(parent_ + end); above != root)
            root = hook<Shared>(parent_, root, find_from<Shared>(parent_, end, above));
        });
      });
    });
  }

  // Fills the labels 0, 1, ... in the order of the roots, or roots; returns the number of components.
  int64_t label(bool consecutive) {
    VertexBits roots(vertices_);
    for_each_word([&, this](int64_t w) {
      uint64_t bits = 0;
      for_each_other_of(w, [&, this](int64_t v) {
        bits |= uint64_t(shorten(parent_, v) == Index(v)) << (v % VertexBits::kWord);
      });
      roots.put(w, bits);
    });
    Buffer<Index> before(roots.words());  // each word, so many roots are
    const int64_t components = rank_words(roots.data(), roots.words(), before.data());
    const auto label_of = [&](int64_t root) {
      if (!consecutive) return Index(root);
      const int64_t w = root / VertexBits::kWord;
      const uint64_t lower = (uint64_t(1) << (root % VertexBits::kWord)) - 1;
      return Index(before[w] + std::popcount(roots.word(w) & lower));
    };
    const Index of_giant = label_of(parent_[first_]);
    for_each_word([&, this](int64_t w) {
      const int64_t begin = w * VertexBits::kWord;
      std::array<Index, VertexBits::kWord> labels;
      labels.fill(of_giant);
      for_each_other_of(w, [&, this](int64_t v) { labels[v - begin] = label_of(parent_[v]); });
      std::copy_n(labels.begin(), std::min(vertices_ - begin, VertexBits::kWord), parent_ + begin);
    });
    return components;
  }

 private:
  // Calls body(w) for every word of vertices, in parallel, after a poll.
  void for_each_word(auto body) const {
    const auto polled = [body](int64_t w) {
      poll(VertexBits::kWord);
      body(w);
    };
    for_each_index((vertices_ + VertexBits::kWord - 1) / VertexBits::kWord, polled,
                   VertexBits::kWord * kParentWork);
  }

  // Calls body(v) for the vertices of a word that are no members, and for the first member.
  void for_each_other_of(int64_t w, auto body) const {
    const int64_t begin = w * VertexBits::kWord, count = std::min(vertices_ - begin, VertexBits::kWord);
    uint64_t left = ~members_.word(w);
    if (first_ / VertexBits::kWord == w) left |= uint64_t(1) << (first_ % VertexBits::kWord);
    if (count < VertexBits::kWord) left &= (uint64_t(1) << count) - 1;
    for (; left; left &= left - 1) body(begin + std::countr_zero(left));
  }

  const VertexBits& members_;
  const int64_t vertices_, first_;
  Index* const parent_;  // of the others and of the first member, until they become labels
};

}  // namespace conncomp
