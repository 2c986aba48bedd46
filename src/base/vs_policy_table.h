/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of placement policies. VS_POLICY(ID, name, option) gives each its number,
 * VS_POLICY_<ID>, its interface, vs_policy_<name> (allocator/core/placement_policy.h), and with
 * a word for *option* its value of --policy; "" for a policy that other options choose. The
 * words are separated by '|'; the first policy is the default. No include guard: included with
 * VS_POLICY defined by each user. */
VS_POLICY(PYTORCH, pytorch, "pytorch")
VS_POLICY(EXPANDABLE, expandable, "") /* PyTorch's rules with expandable_segments */
VS_POLICY(COMPACT, compact, "|compact")
