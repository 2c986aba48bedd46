// SPDX-License-Identifier: Apache-2.0
// Bugs in programs of kernels, compiled by nvcc and, with every access reported to the
// checker, for the host. `planted CASE`; without one, it prints what each must report.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "planted_kernels.cuh"

static const int count = 20000, threads = 128, blocks = (count + threads - 1) / threads;

static void must(cudaError_t e)
{
    if (e == cudaSuccess || e == cudaErrorIllegalAddress) // what the checker leaves behind
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
    std::exit(3);
}

static float *floats(int n)
{
    float *p;
    must(cudaMalloc(&p, n * sizeof *p));
    return p;
}

extern "C" __attribute__((noinline)) void first_half(float *to, cudaStream_t s)
{
    ramp<<<blocks, threads, 0, s>>>(to, count / 2, 1);
}

extern "C" __attribute__((noinline)) void second_half(float *to, cudaStream_t s, int from)
{
    ramp<<<blocks, threads, 0, s>>>(to + from, count - from, 2);
}

extern "C" __attribute__((noinline)) void both(const float *p, float *to, cudaStream_t s)
{
    blend<<<blocks, threads, 0, s>>>(p, p, to, count);
}

extern "C" __attribute__((noinline)) void tallies(const float *p, unsigned *bins, cudaStream_t s)
{
    tally<<<blocks, threads, 0, s>>>(p, count, bins);
}

extern "C" __attribute__((noinline)) void reader(const unsigned *bins, unsigned *sum, cudaStream_t s)
{
    total<<<1, 1, 0, s>>>(bins, sum);
}

struct two {
    cudaStream_t a, b;
    cudaEvent_t done;
    two()
    {
        must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
        must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
        must(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    }
    void b_waits()
    {
        must(cudaEventRecord(done, a));
        must(cudaStreamWaitEvent(b, done, 0));
    }
};

/* Two streams fill the halves of one array, a third piece of work reads both. */
static void halves(int overlap, bool wait)
{
    two s;
    float *p = floats(count), *q = floats(count);
    first_half(p, s.a);
    second_half(p, s.b, count / 2 - overlap);
    if (wait)
        s.b_waits();
    both(p, q, s.b);
    must(cudaDeviceSynchronize());
}

/* Two streams count into the same bins, which is in order for atomics alone. */
static void bins(bool wait, bool clear)
{
    two s;
    float *p = floats(count);
    unsigned *all, *sum;
    must(cudaMalloc(&all, 16 * sizeof *all));
    must(cudaMalloc(&sum, sizeof *sum));
    if (clear)
        must(cudaMemset(all, 0, 16 * sizeof *all));
    second_half(p, nullptr, 0);
    must(cudaDeviceSynchronize());
    tallies(p, all, s.a);
    tallies(p, all, s.b);
    if (wait)
        s.b_waits();
    reader(all, sum, s.b);
    must(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *report; // see run_cases.py
        void (*run)();
    } cases[] = {
        {"kernels_disjoint", "", [] { halves(0, true); }},
        {"kernels_overlap", "race: first_half, second_half", [] { halves(1, true); }},
        {"kernels_no_wait", "race: first_half, both", [] { halves(0, false); }},
        {"kernels_atomics", "", [] { bins(true, true); }},
        {"kernels_no_clear", "uninitialised read: tallies", [] { bins(true, false); }},
        {"kernels_tally_race", "race: tallies, reader", [] { bins(false, true); }},
    };
    for (const auto &c : cases)
        if (argc < 2)
            std::printf("%s\t%s\n", c.name, c.report);
        else if (!std::strcmp(argv[1], c.name))
            return c.run(), 0;
    return argc < 2 ? 0 : 3;
}
