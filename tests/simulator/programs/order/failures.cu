// SPDX-License-Identifier: Apache-2.0
// Assertions and traps in kernels: the error that each gives, that it stays, and the message on
// standard error. Each failure has a process of its own, because nothing but its end clears the
// error.
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "failures_kernels.cuh"
#include "program.h"

enum { N = 60, THREADS = 32 };

static std::vector<int> numbers(void)
{
    std::vector<int> v(N);
    for (int i = 0; i < N; i++)
        v[i] = i;
    v[5] = -1;
    return v;
}

static cudaError_t failed_assertion(void)
{
    check_below<<<2, THREADS>>>(*new Device<int>(numbers()), N, N - 3); // three, in block 1
    return cudaDeviceSynchronize();
}

static cudaError_t trap(void)
{
    stop_at<<<4, THREADS>>>(7);
    return cudaDeviceSynchronize();
}

static cudaError_t before_a_barrier(void)
{
    fail_before_barrier<<<1, THREADS>>>(*new Device<int>(numbers()));
    return cudaDeviceSynchronize();
}

static cudaError_t again(void)
{
    stop_at<<<1, THREADS>>>(-1);
    return cudaGetLastError();
}

static int count(const std::string &text, const char *what)
{
    int n = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at++)
        n++;
    return n;
}

// Runs *fail* in a process with standard error in *text*. True if the error is *expected* at
// first and then for every call that uses the device.
static bool fails_with(cudaError_t (*fail)(void), cudaError_t expected, std::string *text)
{
    int ends[2];
    char buffer[1024];
    fflush(stdout);
    if (pipe(ends))
        return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        bool right = fail() == expected && again() == expected &&
                     cudaStreamSynchronize(0) == expected && cudaPeekAtLastError() == expected;
        _exit(right ? 0 : 1);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        text->append(buffer, (size_t)n);
    close(ends[0]);
    int status = 1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int expect(bool holds, const char *what, const std::string &text)
{
    printf("%s: %s\n", what, holds ? "right" : "WRONG");
    if (!holds)
        fputs(text.c_str(), stderr);
    return !holds;
}

int main(void)
{
    std::string text;
    int failures = 0; // before this process uses CUDA
    bool right = fails_with(failed_assertion, cudaErrorAssert, &text) &&
                 count(text, "Assertion `v[i] < limit` failed.") == 3;
    for (int thread = 25; thread < 28; thread++)
        right = right && count(text, (": block: [1,0,0], thread: [" + std::to_string(thread) +
                                      ",0,0] Assertion")
                                         .c_str()) == 1;
    failures += expect(right && count(text, "failures_kernels.cuh:") == 3 &&
                           count(text, "check_below(") == 3,
                       "a failed assertion", text);
    text.clear();
    failures += expect(fails_with(before_a_barrier, cudaErrorAssert, &text) &&
                           count(text, "thread: [5,0,0] Assertion `v[threadIdx.x] >= 0` failed.") == 1,
                       "a failed assertion before a barrier", text);
    text.clear();
    failures += expect(fails_with(trap, cudaErrorLaunchFailure, &text), "a trap", text);

    Device<int> v(numbers());
    add_one<<<2, THREADS>>>(v, N);
    std::vector<int> got = v.get();
    failures += expect(got[0] == 1 && got[5] == 0 && got[N - 1] == N, "other processes", "");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
