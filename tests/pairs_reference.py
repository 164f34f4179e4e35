"""Clusters of pairs by a dictionary of parents, one pair after another; nothing of conncomp."""

from itertools import groupby


def clusters_of(pairs, nodes=()):
    """Return the ids in the order of appearance, and for each the first id of its cluster."""
    parent = {}

    def root_of(node):
        while parent[node] != node:
            node = parent[node]
        return node

    for node in nodes:
        parent.setdefault(node, node)
    place = {}
    for left, right in pairs:
        parent.setdefault(left, left)
        parent.setdefault(right, right)
    for node in parent:
        place[node] = len(place)
    for left, right in pairs:
        first, second = sorted((root_of(left), root_of(right)), key=place.__getitem__)
        parent[second] = first
    return list(parent), [root_of(node) for node in parent]


def table_of(pairs, nodes=()):
    """Return nodes, numbers of clusters and sizes."""
    ids, first = clusters_of(pairs, nodes)
    numbers = {}
    cluster = [numbers.setdefault(node, len(numbers)) for node in first]
    return ids, cluster, [first.count(node) for node in first]


def divided(weighed, most):
    """Return the first id of each id's cluster of at most so many, and the weight that divided it.

    From above: a cluster that is too large loses all its lightest pairs, again and again.
    """
    ids, _ = clusters_of([(u, v) for u, v, _ in weighed])
    found = {}

    def split(members, pairs, at):
        _, first = clusters_of([(u, v) for u, v, _ in pairs], members)
        parts = {}
        for node, root in zip(members, first, strict=True):
            parts.setdefault(root, []).append(node)
        for root, part in parts.items():
            inside = [pair for pair in pairs if pair[0] in set(part)]
            if len(part) <= most:
                found.update(dict.fromkeys(part, (root, at)))
            else:
                lightest = min(weight for _, _, weight in inside)
                # While nothing falls apart, no weight divides.
                split_again(part, inside, lightest, at)

    def split_again(part, inside, lightest, at):
        heavier = [pair for pair in inside if pair[2] > lightest]
        _, first = clusters_of([(u, v) for u, v, _ in heavier], part)
        if len(set(first)) == 1 and len(part) > 1:
            split_again(part, heavier, min(w for _, _, w in heavier), at)
        else:
            split(part, heavier, lightest)

    components = groupby(
        sorted(
            zip(*reversed(clusters_of([p[:2] for p in weighed])), strict=True),
            key=lambda one: ids.index(one[0]),
        ),
        key=lambda one: one[0],
    )
    for _, group in components:
        members = [node for _, node in group]
        members.sort(key=ids.index)
        split(members, [pair for pair in weighed if pair[0] in set(members)], None)
    return [found[node] for node in ids]
