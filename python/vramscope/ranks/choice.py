# SPDX-License-Identifier: Apache-2.0
"""Which ranks may differ in memory, from the groups that rank 0 is in.

Memory depends on the place in each group: the first ranks hold the larger parts of what does not
divide evenly, and the ends of NCCL's chains have a connection less than the ranks between them. So of
each dimension of the mesh the first rank, one inside, and the last are taken, not all combinations
of these; of a pipeline every stage, with its first and its last rank.
"""

STAGES_MAX = 64  # of a pipeline over the whole world that is known by its messages alone


def is_pipeline(names, paired):
    return paired or "pipe" in names.lower() or any(
        name.split("_")[-1] == "pp" for name in names.lower().split())


def _joined(groups):
    """Groups of the same ranks as one: a dimension of a mesh may be the whole world, too."""
    found = {}
    for description, ranks, paired in groups:
        names, _, sends = found.get(tuple(ranks), ("", ranks, False))
        found[tuple(ranks)] = f"{names} {description}", ranks, sends or paired
    return list(found.values())


def axes(world, groups):
    """(stride, size, whether it is a pipeline) of the dimensions, the fastest first; None if the
    groups are no mesh of the whole world. Dimensions joined to one have the stride of their first."""
    spread = [g for g in groups if 1 < len(g[1]) < world] or [g for g in groups if len(g[1]) > 1]
    found, span = [], 1
    for name, ranks, paired in sorted(spread, key=lambda g: (g[1][1] - g[1][0], len(g[1]))):
        stride, size = ranks[1] - ranks[0], len(ranks)
        if ranks != list(range(0, stride * size, stride)):
            return None
        if stride == span:
            found.append((stride, size, is_pipeline(name, paired and (size < world or world <= STAGES_MAX))))
            span *= size
    return found if span == world else None


def ranks(world, groups):
    """The ranks to run, ascending."""
    groups = _joined(groups)
    found = {0, min(1, world - 1), world - 1}
    mesh = axes(world, groups)
    if mesh is None:
        for _, members, _ in groups:
            found.update((members[0], members[min(1, len(members) - 1)], members[-1]))
        return sorted(found)
    if len(mesh) > 1:
        found.discard(1)
        found.add(sum(stride for stride, size, _ in mesh if size > 2))
    for stride, size, pipeline in mesh:
        found.add((size - 1) * stride)
        if pipeline:
            last = sum((n - 1) * s for s, n, _ in mesh if s != stride)
            found.update(place for stage in range(size) for place in (stage * stride, stage * stride + last))
    return sorted(found)
