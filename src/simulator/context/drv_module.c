/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules, libraries, and their kernels. Of images, only the architecture is examined (drv_image.c),
 * and the names in a PTX text (drv_ptx.c); of other images any requested name is a kernel, which
 * runs the host function registered under that name or only takes time. Variables exist if they are
 * in PTX, or once the runtime has declared them (it knows name and size from the program's start-up
 * code). Functions, modules and names are never freed, so that handles and activity records stay
 * valid. */
#include "simulator/memory/vs_sim_managed.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>
#include <string.h>

#define MODULE_MARK 0x76734d4fu
#define LIBRARY_MARK 0x76734c49u
#define IMAGE_GONE 0x7673474fu

struct global {
    struct global *next;
    char *name;
    size_t bytes;
    bool managed;
    CUdeviceptr address[VS_SIM_DEVICES_MAX]; /* managed: the same on all devices */
    unsigned epoch[VS_SIM_DEVICES_MAX];      /* of the primary or module context that created it */
    struct vs_sim_context *ctx[VS_SIM_DEVICES_MAX];
};

struct vs_sim_image { /* CUmodule or CUlibrary */
    atomic_uint mark;
    struct vs_sim_context *ctx; /* modules; NULL for libraries */
    unsigned epoch;
    struct vs_sim_context *code_ctx;   /* whose memory the code takes; NULL: none */
    unsigned code_epoch;
    uint64_t code_bytes;
    struct vs_sim_image_arch arch;     /* immutable */
    char *entries;                     /* of a PTX text (drv_ptx.c), or NULL; immutable */
    struct vs_sim_function *functions; /* guarded by images_mu */
    struct global *globals;            /* guarded by images_mu */
    bool described;                    /* the runtime has declared all of its globals */
    struct vs_sim_image *library;             /* a module with the content of a library */
    struct vs_sim_image *all;
};

static pthread_mutex_t images_mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_sim_image *images; /* all ever loaded; guarded by images_mu */

/* ---- host functions ---- */

struct registration {
    struct registration *next;
    char *name;
    struct vs_sim_host_kernel *kernel;
};

static pthread_mutex_t registrations_mu = PTHREAD_MUTEX_INITIALIZER;
static struct registration *registrations; /* newest first; guarded by registrations_mu */
static atomic_uint registrations_generation = 1;

/* Found by dlsym from vramscope_simulator.h; see there. */
VS_SIM_EXPORT int vramscopeSimRegisterKernel(const char *name, vramscope_sim_kernel fn,
                                             const size_t *arg_bytes, unsigned arg_count);

int vramscopeSimRegisterKernel(const char *name, vramscope_sim_kernel fn, const size_t *arg_bytes,
                               unsigned arg_count)
{
    if (!name || !fn || arg_count > VS_SIM_ARGS_MAX || (arg_count && !arg_bytes))
        return 0;
    struct vs_sim_host_kernel k = {.fn = fn, .arg_count = arg_count};
    for (unsigned i = 0; i < arg_count; i++) {
        if (!arg_bytes[i] || arg_bytes[i] > VS_SIM_ARG_BYTES_MAX || k.arg_total > VS_SIM_ARG_BYTES_MAX)
            return 0;
        k.offset[i] = (uint32_t)k.arg_total;
        k.bytes[i] = (uint32_t)arg_bytes[i];
        k.arg_total += (arg_bytes[i] + 15) & ~(size_t)15;
    }
    struct registration *r = vs_sim_need(calloc(1, sizeof *r));
    r->name = vs_sim_need(strdup(name));
    r->kernel = vs_sim_dup(&k, sizeof k);
    pthread_mutex_lock(&registrations_mu);
    r->next = registrations;
    registrations = r;
    atomic_fetch_add(&registrations_generation, 1);
    pthread_mutex_unlock(&registrations_mu);
    return 1;
}

struct vs_sim_host_kernel *vs_sim_function_host(struct vs_sim_function *f)
{
    unsigned now = atomic_load(&registrations_generation);
    if (atomic_load(&f->host_generation) == now)
        return atomic_load(&f->host);
    struct vs_sim_host_kernel *found = NULL;
    pthread_mutex_lock(&registrations_mu);
    for (struct registration *r = registrations; r && !found; r = r->next)
        if (!strcmp(r->name, f->name))
            found = r->kernel;
    now = atomic_load(&registrations_generation);
    atomic_store(&f->host, found);
    atomic_store(&f->host_generation, now); /* after host: a reader that sees it also sees host */
    pthread_mutex_unlock(&registrations_mu);
    return found;
}

/* ---- images ---- */

/* *code*: NULL for a module with the content of a library. */
static CUresult image_new(unsigned mark, struct vs_sim_context *ctx, const void *code,
                          struct vs_sim_image **out)
{
    struct vs_sim_image_arch arch = {0, 0};
    CUresult e = code ? vs_sim_image_examine(code, &arch) : CUDA_SUCCESS;
    if (e)
        return e;
    struct vs_sim_image *im = vs_sim_need(calloc(1, sizeof *im));
    im->ctx = ctx;
    im->epoch = ctx ? atomic_load(&ctx->epoch) : 0;
    im->arch = arch;
    im->entries = code ? vs_sim_ptx_entries(code) : NULL;
    const char *text = code ? vs_sim_image_text(code) : NULL, *name;
    for (size_t length, bytes; text && (name = vs_sim_ptx_variable(&text, &length, &bytes));) {
        struct global g = {.next = im->globals, .name = vs_sim_need(strndup(name, length)), .bytes = bytes};
        im->globals = vs_sim_dup(&g, sizeof g);
    }
    atomic_store(&im->mark, mark);
    pthread_mutex_lock(&images_mu);
    im->all = images;
    images = im;
    pthread_mutex_unlock(&images_mu);
    *out = im;
    return CUDA_SUCCESS;
}

/* The code takes *bytes* of *ctx*'s device. */
static CUresult code_load(struct vs_sim_image *im, struct vs_sim_context *ctx, uint64_t bytes)
{
    if (!bytes)
        return CUDA_SUCCESS;
    if (!vs_sim_context_load(ctx, bytes)) {
        atomic_store(&im->mark, IMAGE_GONE);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    im->code_ctx = ctx;
    im->code_epoch = atomic_load(&ctx->epoch);
    im->code_bytes = bytes;
    return CUDA_SUCCESS;
}

static CUresult image_of(const void *handle, unsigned mark, struct vs_sim_image **image)
{
    struct vs_sim_image *im = (struct vs_sim_image *)handle;
    if (!im || atomic_load(&im->mark) != mark)
        return CUDA_ERROR_INVALID_HANDLE;
    if (im->ctx && im->epoch != atomic_load(&im->ctx->epoch))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *image = im;
    return CUDA_SUCCESS;
}

CUresult vs_sim_module_of(CUmodule handle, struct vs_sim_image **image)
{
    return image_of(handle, MODULE_MARK, image);
}

CUresult vs_sim_library_of(CUlibrary handle, struct vs_sim_image **image)
{
    return image_of(handle, LIBRARY_MARK, image);
}

struct vs_sim_function *vs_sim_function_of(const void *handle)
{
    struct vs_sim_function *f = (struct vs_sim_function *)handle;
    return f && f->mark == VS_SIM_FUNCTION_MARK ? f : NULL;
}

/* NULL: there is none. */
static struct vs_sim_function *function_get(struct vs_sim_image *im, const char *name, bool is_kernel)
{
    if (!name || !*name || (im->entries && !vs_sim_ptx_has(im->entries, name)))
        return NULL;
    pthread_mutex_lock(&images_mu);
    struct vs_sim_function *f = im->functions;
    while (f && strcmp(f->name, name))
        f = f->next;
    if (!f) {
        f = vs_sim_need(calloc(1, sizeof *f));
        f->name = vs_sim_need(strdup(name));
        f->mark = VS_SIM_FUNCTION_MARK;
        f->is_kernel = is_kernel;
        f->owner = im;
        f->arch = im->arch;
        atomic_store(&f->dynamic_shared_max, 49152);
        atomic_store(&f->carveout, -1);
        f->next = im->functions;
        im->functions = f;
    }
    pthread_mutex_unlock(&images_mu);
    return f;
}

struct vs_sim_function *vs_sim_library_function(const char *name)
{
    static struct vs_sim_image all; /* no handle leads to it */
    return function_get(&all, name, false);
}

/* ---- modules ---- */

CUresult cuModuleLoadData_in(struct vs_sim_context *ctx, CUmodule *module, const void *image)
{
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_image *im;
    CUresult e = image_new(MODULE_MARK, ctx, image, &im);
    if (!e && vs_sim_spec.module_bytes)
        e = code_load(im, ctx, vs_sim_image_taken(image));
    if (!e)
        *module = (CUmodule)im;
    return e;
}

VS_SIM_AS(cuModuleLoadFatBinary, (CUmodule *module, const void *fatCubin),
          cuModuleLoadData(module, fatCubin))

/* Options are for compilers, and nothing is compiled. */
VS_SIM_AS(cuModuleLoadDataEx,
          (CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
           void **optionValues),
          cuModuleLoadData(module, image))

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
    if (!fname)
        return CUDA_ERROR_INVALID_VALUE;
    char *image = vs_sim_image_read(fname);
    CUresult e = image ? cuModuleLoadData(module, image) : CUDA_ERROR_FILE_NOT_FOUND;
    free(image);
    return e;
}

/* Its handle is invalid from now on; its variables and code are freed. */
static void image_end(struct vs_sim_image *im)
{
    atomic_store(&im->mark, IMAGE_GONE);
    pthread_mutex_lock(&images_mu);
    for (struct global *g = im->globals; g; g = g->next)
        for (int i = 0; i < VS_SIM_DEVICES_MAX; i++) {
            struct vs_sim_range range;
            if (g->address[i] && g->epoch[i] == atomic_load(&g->ctx[i]->epoch) &&
                vs_sim_range_remove(g->address[i], 0, &range))
                vs_sim_memory_release(&range);
            g->address[i] = 0;
        }
    if (im->code_ctx && atomic_load(&im->code_ctx->epoch) == im->code_epoch)
        vs_sim_context_unload(im->code_ctx, im->code_bytes);
    im->code_ctx = NULL;
    pthread_mutex_unlock(&images_mu);
}

VS_SIM_STORES(cuModuleUnload_in, (struct vs_sim_context *ctx, struct vs_sim_image *im),
              vs_sim_context_sync(ctx), image_end(im))

CUresult cuModuleGetFunction_in(CUfunction hfunc[static 1], struct vs_sim_image *im,
                                const char name[static 1])
{
    struct vs_sim_function *f =
        function_get(im->library ? im->library : im, name, im->library != NULL);
    if (f)
        *hfunc = (CUfunction)f;
    return f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* ---- variables ---- */

/* Requested by the stand-in runtime through cuGetProcAddress: a variable of *library*, whose size
 * the device code would give; name NULL ends the list. */
VS_SIM_EXPORT CUresult vramscopeSimDeclareGlobal(CUlibrary library, const char *name, size_t bytes,
                                                 int managed);

static void global_add_locked(struct vs_sim_image *im, const char *name, size_t bytes, bool managed)
{
    struct global *g = vs_sim_need(calloc(1, sizeof *g));
    g->name = vs_sim_need(strdup(name));
    g->bytes = bytes;
    g->managed = managed;
    g->next = im->globals;
    im->globals = g;
}

static struct global *global_find_locked(struct vs_sim_image *im, const char *name)
{
    struct global *g = im->globals;
    while (g && strcmp(g->name, name))
        g = g->next;
    return g;
}

CUresult vramscopeSimDeclareGlobal(CUlibrary library, const char *name, size_t bytes, int managed)
{
    struct vs_sim_image *im;
    CUresult e = vs_sim_enter();
    if (!e)
        e = image_of(library, LIBRARY_MARK, &im);
    if (e || (name && !bytes))
        return e ? e : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&images_mu);
    if (name)
        global_add_locked(im, name, bytes, managed);
    else
        im->described = true;
    pthread_mutex_unlock(&images_mu);
    return CUDA_SUCCESS;
}

/* An image that the program loads itself has all variables that host functions have, beside those of PTX. */
static void globals_guess_locked(struct vs_sim_image *im)
{
    struct vs_sim_host_variable *v = NULL;
    while (!im->described && (v = vs_sim_host_variable_next(v)))
        if (!global_find_locked(im, v->name))
            global_add_locked(im, v->name, v->bytes, false);
}

static CUresult global_make_locked(struct global *g, struct vs_sim_context *ctx, int slot)
{
    if (g->address[slot] && g->epoch[slot] == atomic_load(&g->ctx[slot]->epoch))
        return CUDA_SUCCESS; /* it exists already */
    struct vs_sim_range range = {.bytes = g->bytes,
                                 .ctx = ctx,
                                 .device = ctx->device->ordinal,
                                 .kind = VS_SIM_RANGE_GLOBAL,
                                 .variable = true,
                                 .flags = CU_MEM_ATTACH_GLOBAL};
    CUresult e;
    if (g->managed) {
        e = vs_sim_managed_add(&range);
    } else {
        e = vs_sim_space_alloc(range.device, g->bytes, &range.base);
        if (!e && (e = vs_sim_range_add(&range)))
            vs_sim_memory_release(&range);
    }
    if (e)
        return e;
    struct vs_sim_host_variable *v = vs_sim_host_variable_find(g->name);
    if (v)
        memcpy((void *)range.base, v->initial, g->bytes < v->bytes ? g->bytes : v->bytes);
    g->address[slot] = range.base;
    g->ctx[slot] = ctx;
    g->epoch[slot] = atomic_load(&ctx->epoch);
    return CUDA_SUCCESS;
}

static CUresult global_get(struct vs_sim_image *im, const char *name, bool managed, CUdeviceptr *address,
                           size_t *bytes)
{
    struct vs_sim_context *ctx;
    CUresult e = vs_sim_enter_context(&ctx);
    if (e)
        return e;
    pthread_mutex_lock(&images_mu);
    globals_guess_locked(im);
    struct global *g = global_find_locked(im, name);
    if (!g || g->managed != managed)
        e = CUDA_ERROR_NOT_FOUND;
    int slot = managed ? 0 : ctx->device->ordinal; /* managed variables exist once */
    if (!e)
        e = global_make_locked(g, ctx, slot);
    if (!e && address)
        *address = g->address[slot];
    if (!e && bytes)
        *bytes = g->bytes;
    pthread_mutex_unlock(&images_mu);
    return e;
}

CUresult vs_sim_function_variables(struct vs_sim_function *function, struct vs_sim_context *ctx,
                                   void (*each)(struct vs_sim_host_variable *v, uintptr_t device,
                                                void *data),
                                   void *data)
{
    struct vs_sim_image *im = function->owner;
    if (!vs_sim_host_variable_next(NULL))
        return CUDA_SUCCESS;
    pthread_mutex_lock(&images_mu);
    CUresult e = CUDA_SUCCESS;
    globals_guess_locked(im);
    for (struct global *g = im->globals; g && !e; g = g->next) {
        struct vs_sim_host_variable *v = vs_sim_host_variable_find(g->name);
        int slot = g->managed ? 0 : ctx->device->ordinal;
        if (!v || v->bytes != g->bytes)
            continue;
        e = global_make_locked(g, ctx, slot);
        if (!e && each)
            each(v, g->address[slot], data);
    }
    pthread_mutex_unlock(&images_mu);
    return e;
}

VS_SIM_AS(cuModuleGetGlobal_v2_entered,
          (CUdeviceptr *dptr, size_t *bytes, struct vs_sim_image *im, const char name[static 1]),
          global_get(im->library ? im->library : im, name, false, dptr, bytes))

/* ---- libraries ---- */

CUresult cuLibraryLoadData_entered(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                   void **jitOptionsValues, unsigned int numJitOptions,
                                   CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                   unsigned int numLibraryOptions)
{
    if (!library || !code)
        return CUDA_ERROR_INVALID_VALUE;
    struct vs_sim_image *im;
    CUresult e = image_new(LIBRARY_MARK, NULL, code, &im);
    struct vs_sim_context *ctx = vs_sim_context_current();
    if (!e && ctx && atomic_load(&ctx->alive))
        e = code_load(im, ctx, vs_sim_context_image(ctx));
    if (!e)
        *library = (CUlibrary)im;
    return e;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    if (!fileName)
        return CUDA_ERROR_INVALID_VALUE;
    char *image = vs_sim_image_read(fileName);
    CUresult e = image ? cuLibraryLoadData(library, image, jitOptions, jitOptionsValues,
                                           numJitOptions, libraryOptions, libraryOptionValues,
                                           numLibraryOptions)
                       : CUDA_ERROR_FILE_NOT_FOUND;
    free(image);
    return e;
}

CUresult cuLibraryUnload_entered(struct vs_sim_image *im)
{
    for (unsigned i = 0; i < vs_sim_spec.devices; i++)
        if (atomic_load(&vs_sim_devices[i].primary->alive))
            vs_sim_context_sync(vs_sim_devices[i].primary);
    image_end(im);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel_entered(CUkernel pKernel[static 1], struct vs_sim_image *im,
                                    const char name[static 1])
{
    struct vs_sim_function *f = function_get(im, name, true);
    if (f)
        *pKernel = (CUkernel)f;
    return f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuLibraryGetModule_in(struct vs_sim_context *ctx, CUmodule pMod[static 1],
                               struct vs_sim_image *im)
{
    struct vs_sim_image *module;
    image_new(MODULE_MARK, ctx, NULL, &module);
    module->library = im;
    *pMod = (CUmodule)module;
    return CUDA_SUCCESS;
}

VS_SIM_AS(cuLibraryGetGlobal_entered,
          (CUdeviceptr *dptr, size_t *bytes, struct vs_sim_image *im, const char name[static 1]),
          global_get(im, name, false, dptr, bytes))
VS_SIM_AS(cuLibraryGetManaged_entered,
          (CUdeviceptr *dptr, size_t *bytes, struct vs_sim_image *im, const char name[static 1]),
          global_get(im, name, true, dptr, bytes))
