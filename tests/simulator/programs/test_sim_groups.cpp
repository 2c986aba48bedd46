/* SPDX-License-Identifier: Apache-2.0
 *
 * Cooperative groups and the arithmetic of device code on the host. */
#include "host_facts.hpp"

namespace cg = cooperative_groups;

/* Each thread's answers, to be compared with loops. */
template <unsigned size> __global__ void tile_answers(const int *v, int *out)
{
    auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    int mine = v[threadIdx.x], *to = out + threadIdx.x * 8;
    to[0] = cg::reduce(tile, mine, cg::plus<int>());
    to[1] = cg::reduce(tile, mine, cg::less<int>());
    to[2] = cg::inclusive_scan(tile, mine);
    to[3] = cg::exclusive_scan(tile, mine, cg::plus<int>());
    to[4] = tile.any(mine == 17) + 2 * tile.all(mine > 2);
    to[5] = int(tile.meta_group_rank() * 100 + tile.meta_group_size());
    to[6] = int(tile.thread_rank() * 10000 + tile.size());
    tile.sync();
}

template <unsigned size> static bool tiles_are_right(int threads)
{
    std::vector<int> v(threads), out(threads * 8);
    for (int i = 0; i < threads; i++)
        v[i] = (i * 37 + 11) % 101;
    run<&tile_answers<size>>(dim3(1), dim3(threads), v.data(), out.data());
    bool right = true;
    for (int i = 0; i < threads; i++) {
        int first = i / int(size) * int(size), last = std::min(first + int(size), threads);
        int sum = 0, least = v[first], upto = 0, any = 0, all = 1;
        for (int k = first; k < last; k++) {
            sum += v[k];
            upto += k <= i ? v[k] : 0;
            least = std::min(least, v[k]);
            any |= v[k] == 17;
            all &= v[k] > 2;
        }
        const int *got = &out[i * 8];
        right &= got[0] == sum && got[1] == least && got[2] == upto && got[3] == upto - v[i] &&
                 got[4] == any + 2 * all &&
                 got[5] == i / int(size) * 100 + (threads + int(size) - 1) / int(size) &&
                 got[6] == (i - first) * 10000 + int(size);
    }
    return right;
}

__global__ void lane_groups(unsigned *out)
{
    unsigned lane = threadIdx.x;
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    if (lane % 3 == 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        out[lane] = g.size() * 1000 + g.thread_rank() * 10 + (g.shfl(lane, 2) == 7);
        out[32 + lane] = g.ballot(lane > 20) * 100 + g.shfl_down(lane, 1);
    } else {
        out[lane] = cg::coalesced_threads().size();
        out[32 + lane] = unsigned(__builtin_popcount(__activemask()));
    }
    cg::coalesced_group label = cg::labeled_partition(warp, lane % 5);
    out[64 + lane] = label.size() * 1000 + label.meta_group_rank() * 10 + label.meta_group_size();
    cg::coalesced_group side = cg::binary_partition(warp, lane < 10);
    out[96 + lane] = cg::reduce(side, lane, cg::plus<unsigned>());
    cg::coalesced_group four = cg::tiled_partition(side, 4);
    out[128 + lane] = four.size() * 100 + four.meta_group_rank() * 10 + four.thread_rank();
    out[160 + lane] = cg::invoke_one_broadcast(warp, [&] { return lane + 5; });
    out[192 + lane] = warp.match_any(lane / 16) == (lane < 16 ? 0xffffu : 0xffff0000u);
}

static void lanes()
{
    std::vector<unsigned> out(224);
    run<&lane_groups>(dim3(1), dim3(32), out.data());
    bool coalesced = true, labels = true, sides = true, fours = true, one = true;
    for (unsigned i = 0; i < 32; i++) {
        if (i % 3 == 1) { /* lanes 1, 4, ..., 28, 31 */
            coalesced &= out[i] == 11000 + i / 3 * 10 + 1;
            unsigned above = 0x780u; /* ranks 7 to 10: lanes 22, 25, 28 and 31 */
            coalesced &= out[32 + i] == above * 100 + (i == 31 ? 31 : i + 3);
        } else {
            coalesced &= out[i] == 21 && out[32 + i] == 21;
        }
        labels &= out[64 + i] == (i % 5 < 2 ? 7000u : 6000u) + i % 5 * 10 + 5;
        sides &= out[96 + i] == (i < 10 ? 45u : 451u);
        unsigned rank = i < 10 ? i : i - 10, size = i < 10 ? 10 : 22;
        fours &= out[128 + i] == std::min(4u, size - rank / 4 * 4) * 100 + rank / 4 * 10 + rank % 4;
        one &= out[160 + i] == 5 && out[192 + i] == 1;
    }
    fact(coalesced, "lanes of one branch run together");
    fact(labels, "labeled_partition puts equal labels into one group");
    fact(sides, "binary_partition makes two groups");
    fact(fours, "a group of lanes is divided by rank");
    fact(one, "one thread's answer reaches all; match_any finds equal values");
}

/* Each block passes a number to the next one, once in each round. */
__global__ void ring_of_blocks(int *numbers, int rounds, int *valid)
{
    cg::grid_group grid = cg::this_grid();
    __shared__ int mine; /* of this block alone, although all run at the same time */
    if (threadIdx.x == 0)
        mine = int(blockIdx.x);
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == 0)
            numbers[(blockIdx.x + 1) % gridDim.x] = mine;
        grid.sync();
        if (threadIdx.x == 0)
            mine = numbers[blockIdx.x];
        grid.sync();
    }
    if (grid.thread_rank() + 1 == grid.size())
        *valid = grid.is_valid() && grid.num_blocks() == gridDim.x;
    if (threadIdx.x == 0)
        numbers[blockIdx.x] = mine;
}

/* Blocks that end early are not waited for. */
__global__ void some_leave(int *count)
{
    if (blockIdx.x % 2)
        return;
    atomicAdd(count, 1);
    cg::this_grid().sync();
    if (threadIdx.x == 0 && atomicAdd(count, 0) < int(blockDim.x) * 5)
        atomicExch(count, -1000);
}

static void grids()
{
    const int blocks = 40, rounds = 13;
    std::vector<int> numbers(blocks);
    int valid = 0, count = 0;
    launched<&ring_of_blocks>(true, dim3(blocks), dim3(65), numbers.data(), rounds, &valid);
    bool right = valid == 1;
    for (int i = 0; i < blocks; i++)
        right &= numbers[i] == (i - rounds + blocks) % blocks;
    fact(right, "blocks of a cooperative launch wait for each other");
    launched<&some_leave>(true, dim3(10), dim3(33), &count);
    fact(count == 33 * 5, "a barrier of the grid waits for the blocks that have not ended");
}

__global__ void copies(const int *from, int *to)
{
    __shared__ int tile[64];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, from, sizeof tile);
    cg::wait(block);
    to[threadIdx.x] = tile[63 - threadIdx.x];
}

static void arithmetic()
{
    std::vector<int> from(64), to(64);
    for (int i = 0; i < 64; i++)
        from[i] = i * i;
    run<&copies>(dim3(1), dim3(64), from.data(), to.data());
    bool right = true;
    for (int i = 0; i < 64; i++)
        right &= to[i] == from[63 - i];
    fact(right, "an asynchronous copy has arrived after wait()");
    fact(__fadd_ru(1.0f, 1e-10f) > 1.0f && __fadd_rd(1.0f, 1e-10f) == 1.0f &&
             __fadd_rd(1.0f, -1e-10f) < 1.0f && __fdiv_rz(-1.0f, 3.0f) == -__fdiv_rd(1.0f, 3.0f) &&
             __fdiv_ru(1.0f, 3.0f) > __fdiv_rd(1.0f, 3.0f) && 1.0f + 1e-10f == 1.0f,
         "arithmetic with a rounding mode");
    fact(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_ru(2.1f) == 3 &&
             __float2int_rd(-2.1f) == -3 && __double2int_rn(3.5) == 4 &&
             __float2int_rz(1e20f) == 2147483647 && __float2uint_rn(-5.0f) == 0,
         "conversions with a rounding mode, to the nearest value that fits");
    fact(__umul24(0x1000003u, 5u) == 15u && __mul24(-3, 7) == -21 && __byte_perm(0x33221100u, 0x77665544u, 0x7520u) == 0x77552200u &&
             __funnelshift_l(0x80000000u, 1u, 1) == 3u && __usad(3, 9, 1) == 7 &&
             __umul64hi(1ull << 63, 4) == 2,
         "integer functions");
    fact(max(3, 2u) == 3u && min(1.5f, 2.0) == 1.5 && max(std::nanf(""), 2.0f) == 2.0f,
         "min and max take arguments of different types");
}

int main()
{
    fact(tiles_are_right<1>(40) && tiles_are_right<4>(64) && tiles_are_right<32>(128) &&
             tiles_are_right<16>(100),
         "reductions, scans and votes of tiles in a warp");
    fact(tiles_are_right<64>(256) && tiles_are_right<256>(1024) && tiles_are_right<128>(200),
         "the same of tiles larger than a warp");
    lanes();
    grids();
    arithmetic();
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
