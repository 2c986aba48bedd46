/* SPDX-License-Identifier: Apache-2.0 */
#include "ci_trainer.h"

#include <dlfcn.h>
#include <stddef.h>

enum { LAYERS_MAX = 64 };
static const size_t weight_bytes = 4 << 20, activation_bytes = 8 << 20;

typedef unsigned long long device_pointer; /* CUdeviceptr */
static int (*cuda_alloc)(device_pointer *, size_t);
static int (*cuda_free)(device_pointer);

static struct {
    int layers;
    device_pointer weight[LAYERS_MAX], activation[LAYERS_MAX];
} trainer;

static int open_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return -1;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*retain)(void **, int) = (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
    int (*set)(void *) = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
    cuda_alloc = (int (*)(device_pointer *, size_t))dlsym(driver, "cuMemAlloc_v2");
    cuda_free = (int (*)(device_pointer))dlsym(driver, "cuMemFree_v2");
    if (!init || !retain || !set || !cuda_alloc || !cuda_free)
        return -1;
    void *context;
    int status = init(0);
    if (!status)
        status = retain(&context, 0);
    return status ? status : set(context);
}

int trainer_open(int layers)
{
    int status = open_driver();
    trainer.layers = status ? 0 : layers < LAYERS_MAX ? layers : LAYERS_MAX;
    for (int i = 0; !status && i < trainer.layers; i++)
        status = cuda_alloc(&trainer.weight[i], weight_bytes);
    return status;
}

static int forward(void)
{
    int status = 0;
    for (int i = 0; !status && i < trainer.layers; i++)
        status = cuda_alloc(&trainer.activation[i], activation_bytes);
    return status;
}

static int backward(void)
{
    int status = 0;
    for (int i = trainer.layers - 1; !status && i >= 0; i--) {
        device_pointer gradient;
        status = cuda_alloc(&gradient, weight_bytes);
        if (!status)
            status = cuda_free(trainer.activation[i]);
        if (!status)
            status = cuda_free(gradient);
    }
    return status;
}

int trainer_step(void)
{
    int status = forward();
    return status ? status : backward();
}

void trainer_close(void)
{
    for (int i = 0; i < trainer.layers; i++)
        cuda_free(trainer.weight[i]);
    trainer.layers = 0;
}
