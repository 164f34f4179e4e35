// Clusters of runs that are known: their sizes, and the new states of their sites.
//
// What: whoever derives from this lets a forest of runs (forest.h) be united, a strip of rows at a time,
// within slabs first and then between them. Lengths of runs are then added up at the roots, and runs take the
// states of their roots (strip_flip.h). Source: ours.
#pragma once

#include "cpu/models/potts/record.h"
#include "cpu/models/potts/strip_flip.h"

namespace conncomp {

template <class Index>
class RunClusters {
 public:
  // `record` is nullptr or the records of all replicas.
  RunClusters(const Replicas& replicas, ForestMemory<Index>& memory, Bits32 step, int64_t* record)
      : replicas_(replicas),
        lattice_(replicas.lattice),
        strips_(replicas),
        memory_(memory),
        step_(step),
        record_(record),
        slabs_(strips_),
        end_(strips_.count),
        sewn_(strips_.count) {}

  // Adds the sizes of clusters to the records. An entry of a root is meanwhile the complement of the size.
  void measure() {
    each_run([](Index* parent, Index run) { flatten_entry(parent, run); });
    each_run([](Index* parent, Index run) { parent[run] = parent[run] == run ? ~Index(0) : parent[run]; });
    strips_.for_each([&](const Strip& strip) {
      strips_.per_replica == 1 ? add_lengths<Exclusive>(strip) : add_lengths<Shared>(strip);
    });
    parallel_for(strips_.count, [&](int64_t piece) {
      ClusterTally tally;
      const Strip strip = strips_[piece];
      Index* const parent = RunForest<Index>(lattice_, memory_, strip.replica).parents();
      for (int64_t begin = first_run(strip); begin < end_[piece]; begin += kWord) {
        poll(kWord);
        const Index* const entry = parent + begin;
        const Bits64 roots = mask_where(int(std::min<int64_t>(end_[piece] - begin, kWord)),
                                        [=](int p) { return entry[p] < 0; });
        for_each_bit(roots, [&](int p) {
          tally.add(~parent[begin + p]);
          parent[begin + p] = Index(begin + p);
        });
      }
      tally.add_to(record_of(strip.replica));
    });
  }

  // Writes the new spins.
  void flip(Bits64* new_words) {
    const auto flip_of = [&](const Strip& slab) {
      return StripFlip<Index>(lattice_, memory_, strips_, slab, replicas_.draws(slab.replica, step_));
    };
    if (strips_.per_replica > 1)
      parallel_for(strips_.count,
                   [&](int64_t piece) { flip_of(strips_[piece]).settle_first(sewn_[piece].runs); });
    Slabs slabs(strips_);
    parallel_for(strips_.count, [&](int64_t piece) {
      const Strip strip = strips_[piece];
      StripFlip<Index> flip = flip_of(slabs.take(piece));
      Bits64* const spins = replicas_.spins(new_words, strip.replica);
      for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) { flip.write(begin, end, spins); });
    });
  }

 protected:
  // The roots of slabs that are none of the lattice, as they have been sewn to others.
  struct SewnRuns {
    std::vector<Index> runs;
    void united(Index run) { runs.push_back(run); }
  };

  Index first_run(const Strip& strip) const { return Index(strip.begin * lattice_.length[kRowAxis]); }
  int64_t* record_of(int64_t replica) const { return record_ + replica * (kCounts + lattice_.states); }

  // Adds the lengths of runs to the sizes at their roots.
  template <class Access>
  void add_lengths(const Strip& strip) {
    const RunForest<Index> forest(lattice_, memory_, strip.replica);
    Index* const parent = forest.parents();
    for (int64_t row = strip.begin; row < strip.end; ++row)
      forest.for_each_run(lattice_, row, [&](Index run, int64_t length) {
        const Index entry = Access::load(parent + run);
        Access::fetch_add(parent + (entry < 0 ? run : entry), Index(-length));
      });
  }

  // Calls body(parents, run) for every run, in parallel.
  void each_run(auto&& body) {
    parallel_for(strips_.count, [&](int64_t piece) {
      const Strip strip = strips_[piece];
      Index* const parent = RunForest<Index>(lattice_, memory_, strip.replica).parents();
      for_each_in(first_run(strip), end_[piece], [&](int64_t run) { body(parent, Index(run)); });
    });
  }

  const Replicas replicas_;
  const Lattice lattice_;
  const Strips strips_;
  ForestMemory<Index>& memory_;
  const Bits32 step_;
  int64_t* const record_;
  Slabs slabs_;                 // of those who unite the runs of strips
  std::vector<Index> end_;      // by strip: the number after its last run
  std::vector<SewnRuns> sewn_;  // by strip
};

}  // namespace conncomp
