// Labels arrays by union–find over bricks in tiles: fills label[i] with the smallest index of i's component
// or its number, or -1 or 0 for background. The default for large arrays. A block takes a tile, each thread a
// brick of 64 elements as a word of bits, whose components it finds by shifts. The stages are link_bricks
// (only for rules that do not link all equal neighbours of a connectivity), label_tiles, join_tiles,
// number_tiles (consecutive labels) and write_labels; sparse_tiles.cuh does part of two of them.
// worked_example.md draws an image in every stage. A component stands where its first element is, so its
// smallest index is its root; one that reaches no border of its tile is settled there, and others get an
// entry in global memory.
//
// The owner may change values and labels meanwhile. No kernel relies on what another found in values or wrote
// to labels: elements and addresses follow from masks in the workspace, values that are read again only
// choose among the masks' foreground, and an entry, which may never have been written, is followed to smaller
// indices only (union_find.h).
//
// Cost: array read and labels written once, values of several kinds in a tile read again; two or three bits
// per element and 4 or 8 bytes per component of a brick that reaches its tile's border, written and read; a
// bit per element and step for given links. Source: ours; blocks of pixels: Grana, Borghesani and Cucchiara
// 2010, on GPUs Allegretti, Bolelli and Grana 2020; a first union by a store: ECL-CC (Jaiganesh and Burtscher
// 2018).
#pragma once

#include "cuda/grid/join_tiles.cuh"
#include "cuda/grid/label_tiles.cuh"
#include "cuda/grid/link_bricks.cuh"
#include "cuda/grid/number_tiles.cuh"
#include "cuda/grid/write_labels.cuh"
