/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs whose kernels should compute real results on vramscope's simulated GPU.
 * A kernel without a host function takes simulated time and leaves memory unchanged.
 *
 * The program calls vramscope_sim_register() once per kernel after its first CUDA call.
 * On a real GPU the function finds no simulator and does nothing, so the call can stay
 * in the program. Needs libdl; there is no library to link. */
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
    void **args;                /* args[i] points to a copy of the i-th argument */
    unsigned cooperative;       /* nonzero: all blocks must run at the same time */
};

/* Runs a part of the launch: the thread blocks with linear index in [*first*, *last*),
 * index = x + grid[0]*(y + grid[1]*z). Called from the simulator's worker threads. Parts
 * of one launch may run at the same time, like thread blocks on a GPU, and must not
 * depend on their order. A cooperative launch is one part, with all blocks. */
typedef void (*vramscope_sim_kernel)(const struct vramscope_sim_launch *launch, unsigned long first,
                                     unsigned long last);

/* Registers *fn* as the host function of the kernel *name*, its name in device code: plain
 * for extern "C" kernels, mangled otherwise. The simulator copies the arguments at each
 * launch: arg_bytes[i] is the size of the i-th parameter, *arg_count* the number of
 * parameters (0 and NULL for none). *name* and *arg_bytes* are copied. Registering a name
 * again replaces the function for later launches. Returns 1 on the simulated GPU, 0
 * elsewhere or if an argument is invalid. Threads: any. */
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

/* Registers *host*, of *bytes* bytes, as the host copy of the device variable *name* (its
 * name in device code). Its current contents are the initial value of the variable. While
 * the host function of a kernel of the same image runs, *host* contains the value of its
 * device; kernels of the same image on other devices wait meanwhile. *constant*: never
 * written, only provides the initial value. *host* must stay at its address. Returns 1 on
 * the simulated GPU, 0 elsewhere or if an argument is invalid. Threads: any. */
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

/* Ends the launch that is running with *error*, a CUresult such as CUDA_ERROR_ASSERT: its
 * context fails with it, as after an exception of a kernel on a device. Blocks that have not
 * started may be left out; the caller returns from its host function soon. *launch* as given
 * to the host function. Returns 1 on the simulated GPU, 0 elsewhere. Threads: any. */
static inline int vramscope_sim_fail(const struct vramscope_sim_launch *launch, int error)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return 0;
    int (*end)(const struct vramscope_sim_launch *, int);
    *(void **)&end = dlsym(driver, "vramscopeSimFail");
    int done = end ? end(launch, error) : 0;
    dlclose(driver);
    return done;
}

/* A thread that a host function started itself runs a part of *launch* from now on (*begins*
 * 1), or has finished that part (0). Between the two, its accesses belong to the launch, and
 * CUDA calls return CUDA_ERROR_NOT_PERMITTED. The host function returns after the last of
 * them. Threads: the thread itself. */
static inline void vramscope_sim_thread(const struct vramscope_sim_launch *launch, int begins)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return;
    void (*thread)(const struct vramscope_sim_launch *, int);
    *(void **)&thread = dlsym(driver, "vramscopeSimThread");
    if (thread)
        thread(launch, begins);
    dlclose(driver);
}

/* ---- textures and surfaces ---- */

struct vramscope_sim_level { /* of a mipmapped array; of all others there is one */
    char *base;
    size_t pitch, slice;           /* bytes from row to row, from plane or layer to the next */
    unsigned width, height, depth; /* elements; 0: no such dimension. depth: planes or layers */
};

enum vramscope_sim_texel { /* a channel */
    VRAMSCOPE_SIM_UNSIGNED,
    VRAMSCOPE_SIM_SIGNED,
    VRAMSCOPE_SIM_FLOAT,
    VRAMSCOPE_SIM_UNORM, /* integers of formats that are always read as [0, 1] */
    VRAMSCOPE_SIM_SNORM  /* as [-1, 1] */
};

/* A texture or surface object, with the meaning and the values of CUDA_TEXTURE_DESC. */
struct vramscope_sim_texture {
    unsigned surface;               /* nonzero: a surface object; the next lines have no meaning */
    unsigned address_mode[3], filter_mode, mipmap_filter_mode, flags;
    float border[4], bias, min_level, max_level;
    enum vramscope_sim_texel texel;
    unsigned channel_bytes, channels;
    unsigned linear;                /* nonzero: linear memory, for fetches by index */
    unsigned layered, cubemap;      /* nonzero: an array of that kind */
    unsigned levels;
    struct vramscope_sim_level level[18];
};

/* The texture or surface object with the handle *object*, unchanged until it is destroyed.
 * NULL if there is none, or no simulator. Threads: any. Cost: a search. */
static inline const struct vramscope_sim_texture *vramscope_sim_texture_of(unsigned long long object)
{
    static void *found; /* may be set by several threads at once */
    void *of = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!of) {
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (!driver)
            return NULL;
        of = dlsym(driver, "vramscopeSimTexture");
        dlclose(driver);
        if (!of)
            return NULL;
        __atomic_store_n(&found, of, __ATOMIC_RELAXED);
    }
    const struct vramscope_sim_texture *(*get)(unsigned long long) = NULL;
    *(void **)&get = of;
    return get(object);
}

/* ---- accesses ---- */

/* vramscope_sim_read, _write, _atomic: report that the host function of a kernel is about to
 * read, write or atomically change *bytes* bytes at *address*. With these reports the
 * simulator's checker (check=report or check=fail in VRAMSCOPE_SIMULATE) finds unordered
 * accesses, memory freed too early, and reads of uninitialised memory. For kernels without
 * reports it knows only the pointers among the arguments. Calls outside a kernel report
 * accesses of the host to pinned or managed memory. Threads: any. Cost: almost none
 * without the checker or on a real GPU. */
static inline void vramscope_sim_access(const void *address, size_t bytes, int how)
{
    static void *found; /* may be set by several threads at once */
    static int state;   /* 0: not searched yet; 1: the checker is off; 2: found is set */
    int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (now == 1)
        return;
    if (!now) {
        int (*checking)(void) = NULL;
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (!driver)
            return;
        *(void **)&checking = dlsym(driver, "vramscopeSimChecking");
        int on = checking ? checking() : 0; /* -1: unknown before cuInit */
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
