/* SPDX-License-Identifier: Apache-2.0
 *
 * Cooperative groups for kernels on the host, as the CUDA C++ Programming Guide describes them
 * ("Cooperative Groups"). Included by vramscope_simulator_kernels.hpp, in place of NVIDIA's
 * headers of the same purpose; do not include it directly.
 *
 * A group is the grid, the block, an aligned part of the block that is larger than a warp, or
 * lanes of a warp. Copies (memcpy_async) are done at the call by one thread. Clusters and
 * groups of several devices are not supported. */
#ifndef VRAMSCOPE_SIMULATOR_GROUPS_HPP
#define VRAMSCOPE_SIMULATOR_GROUPS_HPP

#ifndef VRAMSCOPE_SIMULATOR_KERNELS_HPP
#include "vramscope_simulator_kernels.hpp"
#endif

/* A program's #include <cooperative_groups/reduce.h> and so on then adds nothing. */
#define _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#define _COOPERATIVE_GROUPS_REDUCE_H
#define _COOPERATIVE_GROUPS_SCAN_H

namespace vramscope_sim {

inline unsigned lanes_of(unsigned first, unsigned count)
{
    return (count >= 32 ? ~0u : (1u << count) - 1) << first;
}
/* The lane of *mask* with *rank* lanes of it below; 32: there is none. */
inline unsigned nth_lane(unsigned mask, unsigned rank)
{
    for (; mask && rank; rank--)
        mask &= mask - 1;
    return mask ? unsigned(__builtin_ctz(mask)) : 32;
}
inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned block_number()
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

/* The values of the threads in [first, first + count), joined in order. */
template <typename T, typename F> T part_reduce(unsigned first, unsigned count, T value, F join)
{
    runner &r = runner::mine();
    r.shown_by(r.thread()) = shown(value);
    r.part_wait(first, count);
    T sum = value;
    bool found = false;
    for (unsigned t = first; t < first + count && t < block_threads(); t++) {
        if (r.has_ended(t))
            continue;
        T other = value_of<T>(r.shown_by(t));
        sum = found ? T(join(sum, other)) : other;
        found = true;
    }
    r.part_wait(first, count);
    return sum;
}

} // namespace vramscope_sim

namespace cooperative_groups {

template <typename T> struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <typename T> struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T> struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T> struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <typename T> struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <typename T> struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};

/* ---- any group ---- */

class thread_group {
public:
    void sync() const
    {
        vramscope_sim::runner &r = vramscope_sim::runner::mine();
        switch (kind_) {
        case kind::grid: r.grid_barrier(); break;
        case kind::block: r.block_barrier(false); break;
        case kind::part: r.part_wait(first_, count_); break;
        case kind::lanes: __syncwarp(mask_); break;
        }
    }
    unsigned long long num_threads() const
    {
        switch (kind_) {
        case kind::grid:
            return (unsigned long long)gridDim.x * gridDim.y * gridDim.z *
                   vramscope_sim::block_threads();
        case kind::block: return vramscope_sim::block_threads();
        case kind::part: return count_;
        default: return unsigned(__builtin_popcount(mask_));
        }
    }
    unsigned long long size() const { return num_threads(); }
    unsigned long long thread_rank() const
    {
        const vramscope_sim::runner &r = vramscope_sim::runner::mine();
        switch (kind_) {
        case kind::grid:
            return (unsigned long long)vramscope_sim::block_number() *
                       vramscope_sim::block_threads() +
                   r.thread();
        case kind::block: return r.thread();
        case kind::part: return r.thread() - first_;
        default: return unsigned(__builtin_popcount(mask_ & ((1u << r.lane()) - 1)));
        }
    }

protected:
    enum class kind { grid, block, part, lanes };
    explicit thread_group(kind k) : kind_(k) {}
    /* The part of the block with *count* threads, a power of two, that the caller is in. */
    static thread_group aligned(unsigned count)
    {
        unsigned thread = vramscope_sim::runner::mine().thread();
        thread_group g(count > 32 ? kind::part : kind::lanes);
        g.count_ = count;
        g.first_ = thread / count * count;
        if (count <= 32) {
            unsigned block = vramscope_sim::block_threads(), left = block - g.first_;
            g.mask_ = vramscope_sim::lanes_of(g.first_ % 32, left < count ? left : count);
        }
        return g;
    }
    static thread_group lanes(unsigned mask)
    {
        thread_group g(kind::lanes);
        g.mask_ = mask;
        return g;
    }

    kind kind_;
    unsigned first_ = 0, count_ = 0, mask_ = 0;
    friend thread_group tiled_partition(const thread_group &, unsigned);
};

/* ---- the grid and the block ---- */

class grid_group : public thread_group {
public:
    struct arrival_token {};

    grid_group() : thread_group(kind::grid) {}
    static bool is_valid() { return vramscope_sim::runner::mine().cooperative(); }
    static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static unsigned long long block_rank() { return vramscope_sim::block_number(); }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 group_dim() { return gridDim; }
    static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    /* All threads wait at the second call, which comes after every first one. */
    arrival_token barrier_arrive() const { return {}; }
    void barrier_wait(arrival_token) const { sync(); }
};

class thread_block : public thread_group {
public:
    struct arrival_token {};

    thread_block() : thread_group(kind::block) {}
    static void sync() { vramscope_sim::runner::mine().block_barrier(false); }
    static unsigned thread_rank() { return vramscope_sim::runner::mine().thread(); }
    static unsigned num_threads() { return vramscope_sim::block_threads(); }
    static unsigned size() { return num_threads(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    arrival_token barrier_arrive() const { return {}; }
    void barrier_wait(arrival_token) const { sync(); }
};

inline grid_group this_grid() { return {}; }
inline thread_block this_thread_block() { return {}; }

template <unsigned MaxBlockSize = 1024> struct block_tile_memory {};
template <unsigned MaxBlockSize> thread_block this_thread_block(block_tile_memory<MaxBlockSize> &)
{
    return {};
}

/* ---- groups of lanes that happen to run together ---- */

class coalesced_group : public thread_group {
public:
    static coalesced_group of(unsigned mask, unsigned long long meta_rank = 0,
                              unsigned long long meta_size = 1)
    {
        coalesced_group g;
        static_cast<thread_group &>(g) = lanes(mask);
        g.meta_rank_ = unsigned(meta_rank);
        g.meta_size_ = unsigned(meta_size);
        return g;
    }
    unsigned num_threads() const { return unsigned(__builtin_popcount(mask_)); }
    unsigned size() const { return num_threads(); }
    unsigned thread_rank() const { return unsigned(thread_group::thread_rank()); }
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }

    template <typename T> T shfl(T value, int rank) const
    {
        return vramscope_sim::warp_value(mask_, value, other(unsigned(rank) % size()));
    }
    template <typename T> T shfl_up(T value, int delta) const
    {
        int rank = int(thread_rank()) - delta;
        return vramscope_sim::warp_value(mask_, value,
                                         other(rank < 0 ? thread_rank() : unsigned(rank)));
    }
    template <typename T> T shfl_down(T value, unsigned delta) const
    {
        unsigned rank = thread_rank() + delta;
        return vramscope_sim::warp_value(mask_, value, other(rank < size() ? rank : thread_rank()));
    }
    int any(int predicate) const { return __any_sync(mask_, predicate); }
    int all(int predicate) const { return __all_sync(mask_, predicate); }
    unsigned ballot(int predicate) const { return packed(__ballot_sync(mask_, predicate)); }
    template <typename T> unsigned match_any(T value) const
    {
        return packed(__match_any_sync(mask_, value));
    }
    template <typename T> unsigned match_all(T value, int &all) const
    {
        return packed(__match_all_sync(mask_, value, &all));
    }
    template <typename T, typename F> T joined(T value, F join, bool up_to_own, bool own) const
    {
        unsigned lane = vramscope_sim::runner::mine().lane();
        unsigned of = up_to_own ? ((1u << lane) - 1) | unsigned(own) << lane : ~0u;
        return vramscope_sim::warp_reduce(mask_, value, join, of);
    }

private:
    unsigned meta_rank_ = 0, meta_size_ = 1;

    coalesced_group() : thread_group(kind::lanes) {}
    unsigned other(unsigned rank) const { return vramscope_sim::nth_lane(mask_, rank); }
    /* Bit i of the result is that of the thread with rank i. */
    unsigned packed(unsigned lanes) const
    {
        unsigned bits = 0, rank = 0;
        for (unsigned left = mask_; left; left &= left - 1, rank++)
            bits |= (lanes >> __builtin_ctz(left) & 1u) << rank;
        return bits;
    }
    template <typename G> friend coalesced_group binary_partition(const G &, bool);
    template <typename G, typename T> friend coalesced_group labeled_partition(const G &, T);
    friend coalesced_group tiled_partition(const coalesced_group &, unsigned);
};

/* Inlined, so that the place in the kernel identifies the call. */
__attribute__((always_inline)) inline coalesced_group coalesced_threads()
{
    return coalesced_group::of(vramscope_sim::runner::mine().converge());
}

/* ---- tiles ---- */

template <unsigned Size, typename Parent = void> class thread_block_tile : public thread_group {
    static_assert(Size && !(Size & (Size - 1)) && Size <= 1024,
                  "the size of a tile is a power of two up to 1024");

public:
    /* The tile of the block; its rank among the tiles of a parent of *parent_size* threads. */
    explicit thread_block_tile(unsigned parent_size)
        : thread_group(aligned(Size)),
          meta_rank_(vramscope_sim::runner::mine().thread() % round_up(parent_size) / Size),
          meta_size_((parent_size + Size - 1) / Size)
    {
    }
    template <typename Other>
    thread_block_tile(const thread_block_tile<Size, Other> &tile)
        : thread_group(tile), meta_rank_(tile.meta_group_rank()), meta_size_(tile.meta_group_size())
    {
    }
    static constexpr unsigned num_threads() { return Size; }
    static constexpr unsigned size() { return Size; }
    unsigned thread_rank() const { return vramscope_sim::runner::mine().thread() % Size; }
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }

    template <typename T> T shfl(T value, int rank) const
    {
        return in_warp(), __shfl_sync(mask_, value, rank, Size);
    }
    template <typename T> T shfl_up(T value, unsigned delta) const
    {
        return in_warp(), __shfl_up_sync(mask_, value, delta, Size);
    }
    template <typename T> T shfl_down(T value, unsigned delta) const
    {
        return in_warp(), __shfl_down_sync(mask_, value, delta, Size);
    }
    template <typename T> T shfl_xor(T value, unsigned lanes) const
    {
        return in_warp(), __shfl_xor_sync(mask_, value, int(lanes), Size);
    }
    int any(int predicate) const
    {
        return joined(int(predicate != 0), bit_or<int>(), false, true);
    }
    int all(int predicate) const
    {
        return joined(int(predicate != 0), bit_and<int>(), false, true);
    }
    unsigned ballot(int predicate) const
    {
        return in_warp(), shifted(__ballot_sync(mask_, predicate));
    }
    template <typename T> unsigned match_any(T value) const
    {
        return in_warp(), shifted(__match_any_sync(mask_, value));
    }
    template <typename T> unsigned match_all(T value, int &all) const
    {
        return in_warp(), shifted(__match_all_sync(mask_, value, &all));
    }
    template <typename T, typename F> T joined(T value, F join, bool up_to_own, bool own) const
    {
        if constexpr (Size <= 32) {
            return coalesced_group::of(mask_).joined(value, join, up_to_own, own);
        } else {
            vramscope_sim::runner &r = vramscope_sim::runner::mine();
            unsigned self = r.thread(), left = first_;
            return vramscope_sim::part_reduce(first_, Size, value, [&](T sum, T other) {
                left++;
                return up_to_own && left + !own > self ? sum : T(join(sum, other));
            });
        }
    }

private:
    unsigned meta_rank_, meta_size_;

    static constexpr unsigned round_up(unsigned n) { return (n + Size - 1) / Size * Size; }
    static void in_warp() { static_assert(Size <= 32, "only tiles of up to 32 threads"); }
    unsigned shifted(unsigned lanes) const { return lanes >> first_ % 32; }
    unsigned lanes_here() const { return mask_; }
    template <typename G> friend coalesced_group binary_partition(const G &, bool);
    template <typename G, typename T> friend coalesced_group labeled_partition(const G &, T);
};

template <unsigned Size> thread_block_tile<Size, thread_block> tiled_partition(const thread_block &g)
{
    return thread_block_tile<Size, thread_block>(g.size());
}
template <unsigned Size, unsigned ParentSize, typename Above>
thread_block_tile<Size, thread_block_tile<ParentSize>>
tiled_partition(const thread_block_tile<ParentSize, Above> &)
{
    static_assert(Size <= ParentSize, "a tile is not larger than the group that it divides");
    return thread_block_tile<Size, thread_block_tile<ParentSize>>(ParentSize);
}
inline thread_group tiled_partition(const thread_group &parent, unsigned size)
{
    if (!size || size & (size - 1) || parent.kind_ == thread_group::kind::grid)
        vramscope_sim::runner::mine().fail_launch(
            CUDA_ERROR_LAUNCH_FAILED,
            "tiled_partition() with a size that is not a power of two, or of the grid");
    if (parent.kind_ == thread_group::kind::lanes && parent.num_threads() <= size)
        return parent;
    return thread_group::aligned(size);
}
inline coalesced_group tiled_partition(const coalesced_group &parent, unsigned size)
{
    if (!size || size & (size - 1))
        vramscope_sim::runner::mine().fail_launch(
            CUDA_ERROR_LAUNCH_FAILED, "tiled_partition() with a size that is not a power of two");
    unsigned tile = parent.thread_rank() / size, mask = 0, rank = 0;
    for (unsigned left = parent.mask_; left; left &= left - 1, rank++)
        if (rank / size == tile)
            mask |= left & -left;
    return coalesced_group::of(mask, tile, (parent.size() + size - 1) / size);
}
inline thread_block_tile<1> this_thread() { return thread_block_tile<1>(1); }

/* The threads of a group of lanes that have the same predicate, or the same label. */
template <typename G> coalesced_group binary_partition(const G &g, bool predicate)
{
    unsigned yes = __ballot_sync(g.mask_, predicate), mask = predicate ? yes : g.mask_ & ~yes;
    return coalesced_group::of(mask, predicate, 2);
}
template <typename G, typename T> coalesced_group labeled_partition(const G &g, T label)
{
    unsigned mask = __match_any_sync(g.mask_, label), leaders = 0;
    unsigned leader = unsigned(__builtin_ctz(mask));
    leaders = __ballot_sync(g.mask_, vramscope_sim::runner::mine().lane() == leader);
    return coalesced_group::of(mask, unsigned(__builtin_popcount(leaders & ((1u << leader) - 1))),
                               unsigned(__builtin_popcount(leaders)));
}

/* ---- functions of groups ---- */

template <typename G> void sync(const G &g) { g.sync(); }
template <typename G> auto thread_rank(const G &g) { return g.thread_rank(); }
template <typename G> auto group_size(const G &g) { return g.size(); }

template <typename G, typename T, typename F>
std::decay_t<T> reduce(const G &g, T &&value, F &&join)
{
    return g.template joined<std::decay_t<T>>(value, join, false, true);
}
template <typename G, typename T, typename F>
std::decay_t<T> inclusive_scan(const G &g, T &&value, F &&join)
{
    return g.template joined<std::decay_t<T>>(value, join, true, true);
}
template <typename G, typename T> std::decay_t<T> inclusive_scan(const G &g, T &&value)
{
    return inclusive_scan(g, value, plus<std::decay_t<T>>());
}
/* For the first thread: zero. */
template <typename G, typename T, typename F>
std::decay_t<T> exclusive_scan(const G &g, T &&value, F &&join)
{
    using V = std::decay_t<T>;
    V before = g.template joined<V>(value, join, true, false);
    return g.thread_rank() == 0 ? V{} : before;
}
template <typename G, typename T> std::decay_t<T> exclusive_scan(const G &g, T &&value)
{
    return exclusive_scan(g, value, plus<std::decay_t<T>>());
}

template <typename G, typename F, typename... A> void invoke_one(const G &g, F &&f, A &&...a)
{
    if (g.thread_rank() == 0)
        std::forward<F>(f)(std::forward<A>(a)...);
}
template <typename G, typename F, typename... A>
auto invoke_one_broadcast(const G &g, F &&f, A &&...a)
{
    decltype(f(a...)) answer{};
    if (g.thread_rank() == 0)
        answer = std::forward<F>(f)(std::forward<A>(a)...);
    return g.shfl(answer, 0);
}

template <typename G, typename Bytes>
void memcpy_async(const G &g, void *to, const void *from, const Bytes &bytes)
{
    if (g.thread_rank() == 0)
        std::memcpy(to, from, std::size_t(bytes));
}
/* Layouts: numbers of elements. */
template <typename G, typename T, typename To, typename From>
void memcpy_async(const G &g, T *to, const To &to_layout, const T *from, const From &from_layout)
{
    if (g.thread_rank() == 0)
        std::memcpy(static_cast<void *>(to), from,
                    std::min(std::size_t(to_layout), std::size_t(from_layout)) * sizeof(T));
}
template <typename G> void wait(const G &g) { g.sync(); }
template <unsigned Stages, typename G> void wait_prior(const G &g) { g.sync(); }

} // namespace cooperative_groups

#endif
