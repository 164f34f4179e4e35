// Labels arrays by union–find over bricks in tiles: label[i] becomes the smallest index of i's component or
// its number, or -1 or 0 for background. The default for large arrays. A block takes a tile, each thread a
// brick of 64 elements as a word of bits, whose components it finds by shifts. worked_example.md draws an
// image in every stage: link_bricks (for rules that do not link all equal neighbours of a connectivity),
// label_tiles, join_tiles, number_tiles (consecutive labels) and write_labels; sparse_tiles.cuh does part of
// two. A component that reaches no border of its tile is settled there; others get an entry in global memory.
// The owner may change values and labels meanwhile: elements and addresses follow from masks in the
// workspace, values read again only choose among the masks' foreground, and an entry, which may never have
// been written, is followed to smaller indices only. Cost: array read and labels written once; 2 or 3 bits
// per element and 4 or 8 bytes per component of a brick at its tile's border; a bit per element and step for
// given links. Source: ours; blocks of pixels: Grana, Borghesani and Cucchiara 2010, Allegretti, Bolelli and
// Grana 2020; a first union by a store: ECL-CC (Jaiganesh and Burtscher 2018).
#pragma once

#include "cuda/grid/join_tiles.cuh"
#include "cuda/grid/label_tiles.cuh"
#include "cuda/grid/link_bricks.cuh"
#include "cuda/grid/number_tiles.cuh"
#include "cuda/grid/write_labels.cuh"
