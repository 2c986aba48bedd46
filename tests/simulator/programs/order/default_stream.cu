// SPDX-License-Identifier: Apache-2.0
// Four host threads that use "the" default stream, compiled with --default-stream
// per-thread: each has its own one, and an event joins them at the end.
#include <thread>
#include <vector>

#include "default_stream_kernels.cuh"
#include "program.h"

static const int THREADS = 4, PER_THREAD = 20000, ROUNDS = 5;

struct Part {
    unsigned first;
    unsigned long long found;
    Event done;
    std::vector<unsigned> result;
    float ms;
};

static void work(Part *p)
{
    CUDA_CHECK(cudaSetDevice(0));
    Event begin;
    Device<unsigned> steps(PER_THREAD);
    Device<unsigned long long> longest(1);
    CUDA_CHECK(cudaMemsetAsync(longest, 0, sizeof p->found));
    CUDA_CHECK(cudaEventRecord(begin));
    for (int r = 0; r < ROUNDS; r++)
        collatz<<<(PER_THREAD + 127) / 128, 128>>>(p->first, PER_THREAD, steps, longest);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(p->done));
    p->result.resize(PER_THREAD);
    CUDA_CHECK(cudaMemcpyAsync(p->result.data(), steps, PER_THREAD * sizeof(unsigned),
                               cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpyAsync(&p->found, longest, sizeof p->found, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaStreamSynchronize(0)); // this thread's
    p->ms = ms_between(begin, p->done);
}

int main()
{
    Part part[THREADS];
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++) {
        part[t].first = 1 + t * PER_THREAD;
        threads.emplace_back(work, &part[t]);
    }
    for (std::thread &t : threads)
        t.join();
    bool ok = true;
    unsigned best_steps = 0, best_number = 0;
    for (Part &p : part) {
        CUDA_CHECK(cudaEventQuery(p.done));
        unsigned steps_most = 0, number = 0;
        int wrong = 0;
        for (int i = 0; i < PER_THREAD; i++) {
            unsigned count = 0;
            for (unsigned long long v = p.first + i; v != 1; count++)
                v = v % 2 ? 3 * v + 1 : v / 2;
            wrong += p.result[i] != count;
            if (count > steps_most) {
                steps_most = count;
                number = p.first + i;
            }
        }
        unsigned found_steps = (unsigned)(p.found >> 32), found = 0xffffffffu - (unsigned)p.found;
        ok &= wrong == 0 && found_steps == steps_most && found == number;
        fprintf(stderr, "from %u: %.3f ms\n", p.first, p.ms);
        printf("from %u: %u takes %u steps, %d wrong\n", p.first, found, found_steps, wrong);
        if (found_steps > best_steps) {
            best_steps = found_steps;
            best_number = found;
        }
    }
    printf("longest: %u, %u steps\n", best_number, best_steps);
    return ok && best_number == 77031 ? EXIT_SUCCESS : EXIT_FAILURE;
}
