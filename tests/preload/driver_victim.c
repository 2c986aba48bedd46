/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver API program, linked with libcuda directly: its own context, pitched,
 * managed and host memory, asynchronous pools, queries. Prints its tally. */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void check(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS)
        return;
    printf("%s: %d\n", what, (int)r);
    exit(3);
}

void library_victim_start(void);

static CUresult exported(CUdeviceptr p)
{
    CUipcMemHandle handle;
    return cuIpcGetMemHandle(&handle, p);
}

/* Queries that libraries make before they share memory or send from it. Except for the sharing, all
 * results equal those for memory from the driver. */
static int questions(CUcontext context)
{
    CUdeviceptr a, b, start;
    CUcontext owner;
    CUmemGenericAllocationHandle handle;
    unsigned long long id_a, id_b;
    unsigned type, mapped, share_a, share_b, on = 1;
    size_t bytes;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_MAPPED, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void *values[] = {&owner, &type, &mapped, &bytes, &start};
    check(cuMemAlloc(&a, 5000), "cuMemAlloc");
    check(cuMemAlloc(&b, 7000), "cuMemAlloc");
    for (int i = 0; i < 2; i++) {
        CUdeviceptr p = i ? b : a;
        check(cuPointerGetAttributes(5, names, values, p + 300), "cuPointerGetAttributes");
        printf("context %d type %u mapped %u size %zu start %d\n", owner == context, type, mapped,
               bytes, start == p);
    }
    check(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, b), "context");
    check(cuPointerGetAttribute(&id_a, CU_POINTER_ATTRIBUTE_BUFFER_ID, a), "buffer id");
    check(cuPointerGetAttribute(&id_b, CU_POINTER_ATTRIBUTE_BUFFER_ID, b), "buffer id");
    printf("owner %d ids differ %d\n", owner == context, id_a != id_b);
    check(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, b), "sync memops");
    printf("handle %d\n", cuMemRetainAllocationHandle(&handle, (void *)a));
    CUpointer_attribute share = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
    check(cuPointerGetAttribute(&share_a, share, a), "capable");
    check(cuPointerGetAttribute(&share_b, share, b), "capable");
    CUresult first = exported(a), second = exported(b);
    printf("as reported %d %d\n", share_a == (first == CUDA_SUCCESS),
           share_b == (second == CUDA_SUCCESS));
    fprintf(stderr, "exported %d %d", (int)first, (int)second);
    check(cuMemFree(b), "cuMemFree");
    check(cuMemAlloc(&b, 7000), "cuMemAlloc");
    /* a program that shares once will share again */
    fprintf(stderr, " then %d\n", (int)exported(b));
    check(cuMemFree(a), "cuMemFree");
    check(cuMemFree(b), "cuMemFree");
    return 0;
}

/* A function of the driver, whichever interposers exist: its symbol table lies before the names. */
static void *in_driver(const char *name)
{
    struct link_map *map = NULL;
    const ElfW(Sym) *symbol = NULL;
    const char *names = NULL;
    dlinfo(dlopen("libcuda.so.1", RTLD_LAZY), RTLD_DI_LINKMAP, &map);
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbol = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB)
            names = (const void *)d->d_un.d_ptr;
    }
    for (; (const char *)symbol < names; symbol++) {
        if (strcmp(names + symbol->st_name, name) == 0)
            return (char *)map->l_addr + symbol->st_value;
    }
    return NULL;
}

/* Mapped memory of the cache is not visible as such to the program. */
static CUresult access_of(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    CUresult (*get)(unsigned long long *, const CUmemLocation *, CUdeviceptr);
    *(void **)&get = in_driver("cuMemGetAccess");
    return get ? get(flags, location, ptr) : CUDA_ERROR_NOT_FOUND;
}

/* May device 1 use memory of device 0, allocated before and after its access was enabled? */
static int peers(CUcontext context, CUdevice other)
{
    CUcontext accessor;
    CUdeviceptr before, after;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = other};
    unsigned long long flags[3] = {9, 9, 9};
    check(cuMemAlloc(&before, MIB), "cuMemAlloc");
    check(access_of(&flags[0], &location, before), "access_of");
    check(cuCtxCreate(&accessor, NULL, 0, other), "cuCtxCreate");
    check(cuCtxEnablePeerAccess(context, 0), "cuCtxEnablePeerAccess");
    check(access_of(&flags[1], &location, before), "access_of");
    check(cuCtxPopCurrent(&accessor), "cuCtxPopCurrent");
    check(cuMemAlloc(&after, 30 * MIB), "cuMemAlloc");
    check(access_of(&flags[2], &location, after), "access_of");
    printf("access %llu then %llu, of new memory %llu\n", flags[0], flags[1], flags[2]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "library") == 0) {
        library_victim_start();
        return 0;
    }
    CUdevice device;
    CUcontext context;
    CUdeviceptr a, b, base;
    size_t bytes, free_bytes, total;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuCtxCreate(&context, NULL, 0, device), "cuCtxCreate");
    if (argc > 1 && strcmp(argv[1], "questions") == 0)
        return questions(context);
    if (argc > 1 && strcmp(argv[1], "peers") == 0)
        return peers(context, 1);
    check(cuMemAlloc(&a, 3 * MIB + 100), "cuMemAlloc");
    check(cuMemAlloc(&b, 1000), "cuMemAlloc");
    check(cuMemGetAddressRange(&base, &bytes, a + 17), "cuMemGetAddressRange");
    printf("range is the block: %d %d\n", base == a, bytes == 3 * MIB + 100);
    check(cuMemGetInfo(&free_bytes, NULL), "cuMemGetInfo");
    check(cuMemGetInfo(NULL, &total), "cuMemGetInfo");
    printf("free within total: %d\n", free_bytes < total);
    check(cuMemFree(a), "cuMemFree");
    printf("freed twice: %d\n", cuMemFree(a) != CUDA_SUCCESS);
    check(cuMemFree(b), "cuMemFree");
    check(cuMemAlloc(&a, 7 * MIB), "cuMemAlloc");
    check(cuCtxDestroy(context), "cuCtxDestroy");
    check(cuCtxCreate(&context, NULL, 0, device), "cuCtxCreate again");
    check(cuMemAlloc(&a, 2 * MIB), "cuMemAlloc in the second context");
    check(cuMemFree(a), "cuMemFree");
    check(cuCtxDestroy(context), "cuCtxDestroy");
    puts("driver done");
    return 0;
}
