/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways for a process to end while the simulated GPU has work; each must end immediately and
 * cleanly. sim_exit MODE. */
#include "sim_stub.h"
#include "vramscope_simulator.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void stub(void) {}
static void *memory;

static void forever(const struct vramscope_sim_launch *launch, unsigned long first,
                    unsigned long last)
{
    (void)launch, (void)first, (void)last;
    for (;;)
        pause();
}

#define TRY(call)                                                     \
    do {                                                              \
        if ((call) != cudaSuccess) {                                  \
            fprintf(stderr, "line %d: %s failed\n", __LINE__, #call); \
            _exit(1);                                                 \
        }                                                             \
    } while (0)

static void launch(void)
{
    dim3 one = {1, 1, 1};
    TRY(cudaLaunchKernel((const void *)stub, one, one, NULL, 0, NULL));
}

static void free_late(void) { TRY(cudaFree(memory)); }

static void *launch_on(void *arg)
{
    (void)arg;
    for (;;)
        launch();
    return NULL;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "static-destructor"))
        atexit(free_late);
    void **image = __cudaRegisterFatBinary(sim_stub_fat_binary());
    sim_stub_kernel(image, stub, "stub");
    __cudaRegisterFatBinaryEnd(image);
    TRY(cudaMalloc(&memory, 1 << 20));
    if (!strcmp(mode, "running-kernel")) {
        vramscope_sim_register("stub", forever, NULL, 0);
        launch();
        launch();
        usleep(10000);
    } else if (!strcmp(mode, "queued-kernels") || !strcmp(mode, "static-destructor")) {
        for (int i = 0; i < 20; i++)
            launch();
    } else if (!strcmp(mode, "launching-thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, launch_on, NULL);
        usleep(20000);
    } else if (!strcmp(mode, "fork")) {
        /* The child has no device; its calls return an error, and it can end normally. */
        launch();
        pid_t child = fork();
        if (child == 0) {
            void *p;
            cudaError_t e = cudaMalloc(&p, 4);
            exit(e == cudaErrorInitializationError ? 0 : 1);
        }
        int status;
        waitpid(child, &status, 0);
        TRY(cudaDeviceSynchronize());
        return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    } else {
        return 2;
    }
    return 0;
}
