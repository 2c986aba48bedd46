/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory freed in the destructors of libraries: one that the program links, and one that
 * it opened, which stays open. */
#include "victim_memory.h"

VICTIM("exit")

void late_keep(void *block, int (*give)(void *));

/* Blocks are intact until they are freed, whichever were freed before. */
static int give_late(void *p)
{
    unsigned char byte = 0;
    if (cudaMemcpy(&byte, p, 1, cudaMemcpyDeviceToHost) || byte != 7 || cudaFree(p))
        _exit(98);
    tally_free(VT_DEVICE);
    return 0;
}

static void *filled(size_t bytes)
{
    void *p = take(bytes);
    OK(cudaMemset(p, 7, bytes));
    return p;
}

static void let_keep(void (*keep)(void *, int (*)(void *)))
{
    for (size_t i = 0; i < 40; i++)
        keep(filled((i + 1) * 1000), give_late);
}

static void *open_and_let_keep(void)
{
    void (*keep)(void *, int (*)(void *));
    void *library = dlopen(VICTIM_OPENED_LIBRARY, RTLD_NOW);
    CHECK(library);
    *(void **)&keep = dlsym(library, "late_keep");
    let_keep(keep);
    return library;
}

CASE_STATUS(linked_library_frees, "the destructor of a library frees memory", 0)
{
    let_keep(late_keep);
    return 51;
}

CASE_STATUS(opened_library_frees, "the destructor of a dlopened library frees memory at exit", 0)
{
    open_and_let_keep();
    take(500); /* left live */
    return 52;
}

CASE_STATUS(closed_library_frees, "the destructor of a closed library frees memory", 0)
{
    dlclose(open_and_let_keep());
    give(take(3000));
    return 53;
}

static int free_and_end(void *p)
{
    give_late(p);
    tally_end();
    _exit(54);
}

CASE(library_frees_and_ends, "the destructor of a library frees memory and ends the process", 0)
{
    late_keep(filled(1000), give_late);
    late_keep(filled(2000), give_late);
    late_keep(filled(3000), free_and_end);
    tally_end();
}
