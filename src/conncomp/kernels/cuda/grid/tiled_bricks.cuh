// Connected components of an array on the GPU by union–find over bricks in tiles: fills label[i] with the
// smallest index of i's component or its number, or -1 or 0 for background. The default for large arrays.
//
// A block takes a tile, and each thread of it a brick of 64 elements as a word of bits, whose components it
// finds by shifts. The stages, each in a file of its own, in the order of launches:
//   link_bricks    where not all equal neighbours of a connectivity are linked: links as words of bits
//   label_tiles    components of tiles, in shared memory
//   join_tiles     their unions across the borders of tiles, among the labels
//   number_tiles   for consecutive labels: bits of roots, and the numbers of words of them
//   write_labels   the label of each element
// Tiles of images with few elements are labelled by sparse_tiles.cuh, in label_tiles and write_labels. A
// component stands where its first element is, so that the smallest index is the root. One that reaches no
// border of its tile is labelled with that: nothing but a bit is written for it, or its root if it is in
// several bricks. The others get an entry in global memory. worked_example.md draws an image of 16 x 16
// through every stage.
//
// Values and labels may be memory that its owner changes meanwhile. So no kernel takes for granted what
// another one found in values, or wrote to the labels: what an element is, and which words and shared memory
// an index leads to, follows from the masks, which are ours, and values that are read again only choose among
// foreground of the masks. An entry is followed only to a smaller index (union_find.h); in a component it may
// be one that was never written.
//
// Cost: array read and labels written once, values of several kinds in a tile read again; beyond that, two
// bits an element, three for consecutive labels, and 4 or 8 bytes for each component of a brick that reaches
// the border of its tile, both written and read; where links are words, a bit for each element and step,
// written once and read three times. Source: ours. Labelling blocks of pixels is Grana, Borghesani and
// Cucchiara 2010, and Allegretti, Bolelli and Grana 2020 on GPUs, with blocks of 2 x 2. The first union by a
// plain store is the start of ECL-CC (Jaiganesh and Burtscher 2018).
#pragma once

#include "cuda/grid/join_tiles.cuh"
#include "cuda/grid/label_tiles.cuh"
#include "cuda/grid/link_bricks.cuh"
#include "cuda/grid/number_tiles.cuh"
#include "cuda/grid/write_labels.cuh"
