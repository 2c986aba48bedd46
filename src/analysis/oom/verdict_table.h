/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdicts of the post-mortem. First those that decide, in the order in which they are asked;
 * then the causes with a share, the most abnormal and easiest to mend first; last the rest.
 * VS_VERDICT(id) stands for vs_verdict_id, defined in a file verdict_*.c of this folder. No include
 * guard: each user defines VS_VERDICT and includes it.
 *
 * Growth comes before fragmentation because a leak leaves live blocks in many segments: the holes
 * are then its effect. Libraries, other processes and a limit come after what the program does to
 * itself. */
VS_VERDICT(error)
VS_VERDICT(recovered)
VS_VERDICT(no_context)
VS_VERDICT(host)
VS_VERDICT(absurd)
VS_VERDICT(refused)
VS_VERDICT(growth)
VS_VERDICT(larger)
VS_VERDICT(spike)
VS_VERDICT(after)
VS_VERDICT(pool)
VS_VERDICT(unreleased)
VS_VERDICT(cache)
VS_VERDICT(rounding)
VS_VERDICT(fragmentation)
VS_VERDICT(library)
VS_VERDICT(context)
VS_VERDICT(others)
VS_VERDICT(outside)
VS_VERDICT(limit)
VS_VERDICT(capacity)
