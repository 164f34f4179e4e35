"""The report's worked example: hooking round by round, as printed by Soman and as Wang corrects it.

And random graphs of few vertices, of which the report says that stores which compete may "produce a
bug in running large complex dataset".
"""

from itertools import permutations
from random import Random
from typing import Any

from reproductions.claims import Claim, share
from reproductions.laboratory import Laboratory, Row
from reproductions.paper import Findings
from reproductions.pictures import table
from reproductions.wang_2013 import published
from reproductions.wang_2013.hooking import Edge, hook, soman, wang
from reproductions.wang_2013.published import claim

VERTICES, EDGES = 6, published.EDGES
# Edge (1, 3) stores last, so that '1' wins the parent of 0.
ONE_WINS = (0, 2, 3, 4, 1)
SOMAN, WANG = "Soman, as printed", "Wang, '1' wins"
SHOWN = 5  # rounds
# Vertices and edges of random graphs, and how many there are of each.
RANDOM, GRAPHS, SEED = ((6, 6), (8, 9), (16, 20), (64, 80)), 500, 2013


def work_out(laboratory: Laboratory) -> Findings:
    """Follow the example, and random graphs, round by round."""
    rows: list[Row] = []
    for way, stores, order in ((SOMAN, soman, None), (WANG, wang, ONE_WINS)):
        outcome = hook(VERTICES, EDGES, stores, order)
        for number, parents in enumerate(outcome.history[: SHOWN + 1]):
            rows.append({"way": way, "round": number, "parents": parents})
        rows.append({"way": way, "round": "jumped", "parents": outcome.roots})
    orders = [hook(VERTICES, EDGES, wang, order) for order in permutations(range(len(EDGES)))]
    printed = hook(VERTICES, EDGES, soman)
    return {
        "rows": rows,
        "fits": {
            "never_marked_by_soman": [list(edge) for edge in printed.unmarked],
            "orders": len(orders),
            "orders_that_end_in_one_star": sum(_is_star(outcome.roots) for outcome in orders),
            "rounds": sorted({len(outcome.history) - 1 for outcome in orders}),
            "sent_back": sorted({outcome.sent_back for outcome in orders}),
            "random": [_random(vertices, edges) for vertices, edges in RANDOM],
        },
        "published": {
            key: published.WORKED_EXAMPLE[key]
            for key in ("first_round", "never_marked_by_soman", "stagnant_trees")
        },
    }


def _is_star(roots: list[int] | None) -> bool:
    return roots is not None and len(set(roots)) == 1


def _random(vertices: int, edges: int) -> Row:
    """Follow random graphs, whose edges store in the order of the list, by Wang's rule."""
    generator, circles, sent_back = Random(SEED), 0, 0
    for _ in range(GRAPHS):
        drawn: list[Edge] = []
        for _ in range(edges):
            u, v = generator.sample(range(vertices), 2)
            drawn.append((u, v))
        outcome = hook(vertices, drawn, wang)
        circles += outcome.roots is None
        sent_back += outcome.sent_back > 0
    return {
        "vertices": vertices,
        "edges": edges,
        "graphs": GRAPHS,
        "circles": circles,
        "sent_back": sent_back,
    }


def draw_example(findings: Findings, canvas: Any) -> None:
    lines = [
        [
            row["way"],
            str(row["round"]),
            *map(str, row["parents"] or ["circle"] + ["-"] * (VERTICES - 1)),
        ]
        for row in findings["rows"]
    ]
    table(canvas, ["parents", "after round", *(f"P[{v}]" for v in range(VERTICES))], lines)


def claims_of_example(findings: Findings) -> list[Claim]:
    fits, said = findings["fits"], findings["published"]
    parents = {(row["way"], row["round"]): row["parents"] for row in findings["rows"]}
    never, first, second = (
        fits["never_marked_by_soman"],
        parents[WANG, 1],
        parents[WANG, 2],
    )
    stars, orders = fits["orders_that_end_in_one_star"], fits["orders"]
    largest = fits["random"][-1]
    circles = ", ".join(
        f"{row['circles']} of {row['graphs']} with {row['vertices']} vertices, {row['edges']} edges"
        for row in fits["random"]
    )
    return [
        claim(
            "worked-example.first-iteration",
            ", ".join(f"P[{v}]={parent}" for v, parent in enumerate(first)),
            share([first == said["first_round"]]),
        ),
        claim(
            "worked-example.never-marked",
            f"not marked after 64 rounds: {', '.join(str(tuple(edge)) for edge in never)}",
            share([sorted(never) == sorted(said["never_marked_by_soman"])]),
        ),
        claim(
            "worked-example.stagnant-trees",
            f"parents {second}: {len(set(second))} trees",
            share([len(set(second)) == said["stagnant_trees"]]),
        ),
        claim(
            "worked-example.star",
            f"{stars} of {orders} orders of writing end in one star, after {fits['rounds'][-1]} "
            f"rounds, sent back {fits['sent_back'][-1]} time",
            stars / orders,
        ),
        claim(
            "worked-example.bug",
            f"of random graphs, parents go round in a circle in {circles}",
            largest["circles"] / largest["graphs"],
        ),
    ]
