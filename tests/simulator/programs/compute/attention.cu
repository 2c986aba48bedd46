// SPDX-License-Identifier: Apache-2.0
// Layers of causal attention, their temporaries from a caching allocator of the program's
// own: blocks in sizes of powers of two, given back to the stream that used them; memory
// handed to another stream comes back when an event says so.
#include <cmath>
#include <deque>
#include <map>
#include <vector>

#include "attention_kernels.cuh"
#include "program.h"

class CachingAllocator {
public:
    ~CachingAllocator()
    {
        for (auto &entry : unused_)
            for (void *p : entry.second)
                CUDA_CHECK(cudaFree(p));
    }

    float *get(size_t floats, cudaStream_t stream)
    {
        reclaim();
        size_t bytes = 512;
        while (bytes < floats * sizeof(float))
            bytes *= 2;
        std::vector<void *> &list = unused_[{stream, bytes}];
        void *p;
        if (!list.empty()) {
            p = list.back();
            list.pop_back();
            hits++;
        } else {
            CUDA_CHECK(cudaMalloc(&p, bytes));
            misses++;
        }
        live_[p] = {stream, bytes};
        return (float *)p;
    }

    // *user*: a stream other than the one it was got for that used it last, or that one.
    void put(float *p, cudaStream_t user)
    {
        Key key = live_.at(p);
        live_.erase(p);
#ifdef REUSED_TOO_EARLY
        user = key.first;
#endif
        if (user == key.first) {
            unused_[key].push_back(p);
            return;
        }
        cudaEvent_t event;
        CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        CUDA_CHECK(cudaEventRecord(event, user));
        waiting_.push_back({p, key, event});
    }

    void wait_for_all()
    {
        for (Waiting &w : waiting_)
            CUDA_CHECK(cudaEventSynchronize(w.event));
        reclaim();
    }

    size_t hits = 0, misses = 0;

private:
    typedef std::pair<cudaStream_t, size_t> Key;
    struct Waiting {
        void *p;
        Key key;
        cudaEvent_t event;
    };

    void reclaim()
    {
        while (!waiting_.empty() && cudaEventQuery(waiting_.front().event) == cudaSuccess) {
            unused_[waiting_.front().key].push_back(waiting_.front().p);
            CUDA_CHECK(cudaEventDestroy(waiting_.front().event));
            waiting_.pop_front();
        }
        cudaGetLastError(); // cudaErrorNotReady of the one that was not
    }

    std::map<Key, std::vector<void *>> unused_;
    std::map<void *, Key> live_;
    std::deque<Waiting> waiting_;
};

static const int HEADS = 3, LENGTH = 50, WIDTH = 32, LAYERS = 4, N = HEADS * LENGTH * WIDTH;

static void host_layer(std::vector<double> &x)
{
    std::vector<double> y(x.size());
    for (int h = 0; h < HEADS; h++)
        for (int q = 0; q < LENGTH; q++) {
            const double *head = &x[(size_t)h * LENGTH * WIDTH], *mine = head + q * WIDTH;
            std::vector<double> p(q + 1);
            double most = -1e300, sum = 0;
            for (int k = 0; k <= q; k++) {
                for (int i = 0; i < WIDTH; i++)
                    p[k] += mine[i] * head[k * WIDTH + i];
                most = fmax(most, p[k] /= sqrt((double)WIDTH));
            }
            for (double &v : p)
                sum += v = exp(v - most);
            for (int k = 0; k <= q; k++)
                for (int i = 0; i < WIDTH; i++)
                    y[((size_t)h * LENGTH + q) * WIDTH + i] += p[k] / sum * head[k * WIDTH + i];
        }
    for (size_t i = 0; i < x.size(); i++)
        x[i] = tanh(x[i] + y[i]);
}

int main()
{
    CachingAllocator allocator;
    Stream main_stream(cudaStreamNonBlocking), side(cudaStreamNonBlocking);
    Event ready(cudaEventDisableTiming);
    Device<float> x(N);
    Pinned<float> host(N), last(LAYERS * LENGTH); // the weights of the last query, kept by the way
    bool ok = true;
    for (int step = 0; step < 3; step++) {
        std::vector<double> expected(N);
        for (int i = 0; i < N; i++)
            expected[i] = host[i] = noise(step * N + i) - 0.5f;
        CUDA_CHECK(cudaMemcpyAsync(x, host, N * sizeof(float), cudaMemcpyHostToDevice, main_stream));
        for (int layer = 0; layer < LAYERS; layer++) {
            size_t shared = (LENGTH + 4) * sizeof(float);
            float *p = allocator.get((size_t)HEADS * LENGTH * LENGTH, main_stream);
            float *y = allocator.get(N, main_stream);
            dim3 grid(LENGTH, HEADS);
            attention_weights<<<grid, 128, shared, main_stream>>>(x, x, p, LENGTH, WIDTH);
            attention_values<<<grid, WIDTH, 0, main_stream>>>(p, x, y, LENGTH, WIDTH);
            add_residual<<<(N + 255) / 256, 256, 0, main_stream>>>(x, y, N);
            CUDA_CHECK(cudaGetLastError());
            CUDA_CHECK(cudaEventRecord(ready, main_stream));
            CUDA_CHECK(cudaStreamWaitEvent(side, ready, 0));
            CUDA_CHECK(cudaMemcpyAsync(last + layer * LENGTH, p + (LENGTH - 1) * LENGTH,
                                       LENGTH * sizeof(float), cudaMemcpyDeviceToHost, side));
            allocator.put(p, side);
            allocator.put(y, main_stream);
            host_layer(expected);
        }
        CUDA_CHECK(cudaMemcpyAsync(host, x, N * sizeof(float), cudaMemcpyDeviceToHost, main_stream));
        CUDA_CHECK(cudaStreamSynchronize(main_stream));
        allocator.wait_for_all();
        double worst = 0;
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(host[i] - expected[i]));
        for (int layer = 0; layer < LAYERS; layer++) {
            float sum = 0;
            for (int i = 0; i < LENGTH; i++)
                sum += last[layer * LENGTH + i];
            ok &= fabsf(sum - 1.0f) < 1e-4f;
        }
        ok &= worst < 1e-4;
        printf("step %d: %s\n", step, worst < 1e-4 ? "ok" : "WRONG");
    }
    fprintf(stderr, "allocator: %zu hits, %zu misses\n", allocator.hits, allocator.misses);
    ok &= allocator.hits + allocator.misses == 3 * LAYERS * 2 && allocator.misses <= LAYERS + 1;
    printf("%s\n", ok ? "ok" : "WRONG");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
