// SPDX-License-Identifier: Apache-2.0
// Two processes that share device memory: the producer fills a buffer, the consumer
// checks and answers in place. Events of the one are waited for by the other; pipes say
// only that an event has been recorded.
#include <sys/wait.h>
#include <unistd.h>

#include "ipc_kernels.cuh"
#include "program.h"

static const int N = 1 << 18, ROUNDS = 6, BLOCK = 256; // 1 MiB

struct Offer {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t produced, consumed;
};

static void send(int fd, const void *data, size_t bytes)
{
    if (write(fd, data, bytes) != (ssize_t)bytes) {
        perror("write");
        exit(EXIT_FAILURE);
    }
}

static void receive(int fd, void *data, size_t bytes)
{
    for (size_t got = 0; got < bytes;) {
        ssize_t n = read(fd, (char *)data + got, bytes - got);
        if (n <= 0) {
            fprintf(stderr, "the other process has gone\n");
            exit(EXIT_FAILURE);
        }
        got += (size_t)n;
    }
}

static int consumer(int in, int out)
{
    Offer offer;
    unsigned *v, wrong = 0, round;
    cudaEvent_t produced, consumed;
    CUDA_CHECK(cudaSetDevice(0));
    Stream stream;
    Device<unsigned> d_wrong(1);
    d_wrong.clear();
    receive(in, &offer, sizeof offer);
    CUDA_CHECK(cudaIpcOpenMemHandle((void **)&v, offer.memory, cudaIpcMemLazyEnablePeerAccess));
    CUDA_CHECK(cudaIpcOpenEventHandle(&produced, offer.produced));
    CUDA_CHECK(cudaIpcOpenEventHandle(&consumed, offer.consumed));
    for (int r = 0; r < ROUNDS; r++) {
        receive(in, &round, sizeof round);
        CUDA_CHECK(cudaStreamWaitEvent(stream, produced, 0));
        consume<<<N / BLOCK, BLOCK, 0, stream>>>(v, N, round, d_wrong);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaEventRecord(consumed, stream));
        send(out, &round, sizeof round);
    }
    CUDA_CHECK(cudaMemcpyAsync(&wrong, d_wrong, sizeof wrong, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaEventDestroy(produced));
    CUDA_CHECK(cudaEventDestroy(consumed));
    CUDA_CHECK(cudaIpcCloseMemHandle(v));
    send(out, &wrong, sizeof wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int producer(int in, int out)
{
    Offer offer;
    unsigned unseen = 0, wrong = 0, answer;
    std::vector<unsigned> back(N);
    CUDA_CHECK(cudaSetDevice(0));
    Stream stream;
    Device<unsigned> v(N);
    Event produced(cudaEventDisableTiming | cudaEventInterprocess);
    Event consumed(cudaEventDisableTiming | cudaEventInterprocess);
    CUDA_CHECK(cudaIpcGetMemHandle(&offer.memory, v));
    CUDA_CHECK(cudaIpcGetEventHandle(&offer.produced, produced));
    CUDA_CHECK(cudaIpcGetEventHandle(&offer.consumed, consumed));
    send(out, &offer, sizeof offer);
    for (unsigned r = 0; r < ROUNDS; r++) {
        produce<<<N / BLOCK, BLOCK, 0, stream>>>(v, N, r);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaEventRecord(produced, stream));
        send(out, &r, sizeof r);
        receive(in, &answer, sizeof answer);
        CUDA_CHECK(cudaStreamWaitEvent(stream, consumed, 0));
        CUDA_CHECK(cudaMemcpyAsync(back.data(), v, N * sizeof(unsigned), cudaMemcpyDeviceToHost,
                                   stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++)
            unseen += back[i] != ~(i * 3u + r * 1000003u);
    }
    receive(in, &wrong, sizeof wrong); // the consumer has closed the memory
    printf("%d rounds of %d numbers: %u wrong for the consumer, %u for the producer\n", ROUNDS, N,
           wrong, unseen);
    return wrong || unseen ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main()
{
    int there[2], back[2], status = 0;
    if (pipe(there) || pipe(back)) {
        perror("pipe");
        return EXIT_FAILURE;
    }
    pid_t child = fork(); // before any CUDA call
    if (child < 0) {
        perror("fork");
        return EXIT_FAILURE;
    }
    if (child == 0) {
        close(there[1]);
        close(back[0]);
        return consumer(there[0], back[1]);
    }
    close(there[0]);
    close(back[1]);
    int mine = producer(back[0], there[1]);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
        mine = EXIT_FAILURE;
    printf("consumer %s\n", mine == EXIT_SUCCESS ? "ended well" : "FAILED");
    return mine;
}
