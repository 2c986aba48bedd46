/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that want their kernels to compute real numbers on vramscope's
 * simulated GPU. A kernel without a host function takes simulated time and
 * leaves memory as it was.
 *
 * The program calls vramscope_sim_register() once per kernel after its first
 * CUDA call. On a real GPU the function finds no simulator and does nothing, so
 * the call can stay in the program. Needs libdl; nothing to link. */
#ifndef VRAMSCOPE_SIMULATOR_H
#define VRAMSCOPE_SIMULATOR_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vramscope_sim_launch {
    unsigned grid[3], block[3]; /* as launched */
    unsigned shared_bytes;      /* dynamic shared memory */
    void **args;                /* args[i] points at a copy of the i-th argument */
};

/* Runs a slice of the launch: thread blocks with linear index in
 * [*first*, *last*), index = x + grid[0]*(y + grid[1]*z). Called from the
 * simulator's worker threads; slices of one launch may run at the same time, as
 * thread blocks do on a GPU, and must not depend on each other's order. */
typedef void (*vramscope_sim_kernel)(const struct vramscope_sim_launch *launch, unsigned long first,
                                     unsigned long last);

/* Registers *fn* as the host function of the kernel called *name* (the name in
 * the device code: plain for extern "C" kernels, mangled otherwise). A launch is
 * asynchronous, so the simulator copies the arguments when it is issued:
 * arg_bytes[i] is sizeof the i-th parameter, *arg_count* how many there are (0
 * and NULL for a kernel without parameters). Both are copied. Registering a name
 * again replaces it for later launches. Returns 1 on the simulated GPU, 0
 * elsewhere or when an argument of this call is unusable. Any thread. */
static inline int vramscope_sim_register(const char *name, vramscope_sim_kernel fn,
                                         const size_t *arg_bytes, unsigned arg_count)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return 0;
    int (*reg)(const char *, vramscope_sim_kernel, const size_t *, unsigned);
    *(void **)&reg = dlsym(driver, "vramscopeSimRegisterKernel");
    int done = reg ? reg(name, fn, arg_bytes, arg_count) : 0;
    dlclose(driver);
    return done;
}

/* Registers *host*, *bytes* long, as what host functions use in place of the device
 * variable called *name* (as device code calls it). What it holds now is the initial
 * value of the device's. While the host function of a kernel of the same image runs,
 * *host* holds what the variable of its device holds; that of other kernels then
 * waits. *constant*: never written, gives the initial value alone. Must stay where it
 * is. Returns 1 on the simulated GPU, 0 elsewhere or without memory. Any thread. */
static inline int vramscope_sim_register_variable(const char *name, void *host, size_t bytes,
                                                  int constant)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return 0;
    int (*reg)(const char *, void *, size_t, int);
    *(void **)&reg = dlsym(driver, "vramscopeSimRegisterVariable");
    int done = reg ? reg(name, host, bytes, constant) : 0;
    dlclose(driver);
    return done;
}

/* vramscope_sim_read, _write, _atomic: the host function of a kernel is about to
 * read, write or atomically change *bytes* at *address*. The simulator's checker (check=report or
 * check=fail in VRAMSCOPE_SIMULATE) then finds work that touches the same memory in
 * no fixed order, memory freed too early, and reads of what was never written; of a
 * kernel that says nothing it knows the pointers among its arguments only. Called
 * outside a kernel they are accesses of the host, to pinned or managed memory.
 * Any thread; next to nothing when nothing is checked, nothing on a real GPU. */
static inline void vramscope_sim_access(const void *address, size_t bytes, int how)
{
    static void *found; /* several threads may find it at once */
    static int state;   /* 0: not looked for yet; 1: nothing is checked; 2: found is set */
    int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (now == 1)
        return;
    if (!now) {
        int (*checking)(void) = NULL;
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (!driver)
            return;
        *(void **)&checking = dlsym(driver, "vramscopeSimChecking");
        int on = checking ? checking() : 0; /* -1: not known before cuInit */
        void *access = on > 0 ? dlsym(driver, "vramscopeSimAccess") : NULL;
        dlclose(driver);
        if (on < 0)
            return;
        __atomic_store_n(&found, access, __ATOMIC_RELAXED);
        now = access ? 2 : 1;
        __atomic_store_n(&state, now, __ATOMIC_RELEASE);
    }
    if (now == 2) {
        void (*access)(const void *, size_t, int) = NULL;
        *(void **)&access = __atomic_load_n(&found, __ATOMIC_RELAXED);
        access(address, bytes, how);
    }
}

static inline void vramscope_sim_read(const void *address, size_t bytes)
{
    vramscope_sim_access(address, bytes, 0);
}

static inline void vramscope_sim_write(void *address, size_t bytes)
{
    vramscope_sim_access(address, bytes, 1);
}

static inline void vramscope_sim_atomic(void *address, size_t bytes)
{
    vramscope_sim_access(address, bytes, 2);
}

#ifdef __cplusplus
}
#endif
#endif
