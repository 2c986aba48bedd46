/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdicts of the post-mortem, most specific first: the first that applies is selected, and the
 * last one always does. VS_VERDICT(id) stands for vs_verdict_id, defined in a file verdict_*.c of
 * this folder. No include guard: each user defines VS_VERDICT and includes it.
 *
 * Growth comes before fragmentation because a leak leaves live blocks in many segments: the holes
 * are then its effect. */
VS_VERDICT(error)
VS_VERDICT(host)
VS_VERDICT(absurd)
VS_VERDICT(refused)
VS_VERDICT(limit)
VS_VERDICT(growth)
VS_VERDICT(fragmentation)
VS_VERDICT(spike)
VS_VERDICT(others)
VS_VERDICT(outside)
VS_VERDICT(capacity)
