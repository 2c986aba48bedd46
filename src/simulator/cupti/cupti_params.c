/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a watched call as callbacks show them: the structures of CUDA's
 * generated_*_meta.h, filled from the registers and the stack as the C calling
 * convention has put the arguments there. */
#include "simulator/cupti/vs_sim_cupti.h"

#include <string.h>

#include "simulator/driver/vs_sim_thunk.h"

#define VS_DRIVER_PARAMS(symbol, kinds) [CUPTI_DRIVER_TRACE_CBID_##symbol] = (kinds),
#define VS_RUNTIME_PARAMS(cbid, kinds)
static const char *const driver_params[CUPTI_DRIVER_TRACE_CBID_SIZE] = {
#include "simulator/driver/vs_sim_params_table.h"
};
#undef VS_DRIVER_PARAMS
#undef VS_RUNTIME_PARAMS
#define VS_DRIVER_PARAMS(symbol, kinds)
#define VS_RUNTIME_PARAMS(cbid, kinds) [CUPTI_RUNTIME_TRACE_CBID_##cbid] = (kinds),
static const char *const runtime_params[CUPTI_RUNTIME_TRACE_CBID_SIZE] = {
#include "simulator/driver/vs_sim_params_table.h"
};
#undef VS_DRIVER_PARAMS
#undef VS_RUNTIME_PARAMS

/* ---- kinds ---- */

static size_t bytes_of(char kind)
{
    switch (kind) {
    case '1': return 1;
    case '2': return 2;
    case '4':
    case 'f': return 4;
    case '8':
    case 'l': return 8;
    case 'd': return 12;
    case 'e': return 24;
    case 'p': return 32;
    default: return 64; /* h */
    }
}

static size_t align_of(char kind)
{
    switch (kind) {
    case 'l':
    case 'd': return 4;
    case 'h': return 1;
    default: return bytes_of(kind) < 8 ? bytes_of(kind) : 8;
    }
}

/* ---- where arguments lie ---- */

struct cupti_params_place {
    const struct vs_thunk_args *args;
    unsigned words, numbers; /* registers used up */
    const uint64_t *stack;   /* next argument there */
};

static const void *from_stack(struct cupti_params_place *at, size_t bytes)
{
    const void *found = at->stack;
    at->stack += (bytes + 7) / 8;
    return found;
}

/* Something of up to two words, which are together. */
static const void *from_words(struct cupti_params_place *at, size_t bytes)
{
    unsigned count = (unsigned)(bytes + 7) / 8;
    if (at->words + count <= VS_THUNK_REGISTERS) {
        const void *found = &at->args->words[at->words];
        at->words += count;
        return found;
    }
#if defined(__aarch64__)
    at->words = VS_THUNK_REGISTERS; /* what comes later goes to the stack, too */
#endif
    return from_stack(at, bytes);
}

static const void *next(struct cupti_params_place *at, char kind)
{
    size_t bytes = bytes_of(kind);
    if (kind == 'f')
        return at->numbers < 2 ? &at->args->numbers[at->numbers++] : from_stack(at, bytes);
    if (bytes <= 16)
        return from_words(at, bytes);
#if defined(__aarch64__)
    const void *copy; /* made by the caller, who passes its address */
    memcpy(&copy, from_words(at, sizeof copy), sizeof copy);
    return copy;
#else
    return from_stack(at, bytes);
#endif
}

const void *vs_cupti_params(const struct vs_sim_call *call, union vs_cupti_params *params)
{
    const char *kind = call->domain == VS_SIM_DOMAIN_DRIVER ? driver_params[call->cbid]
                                                            : runtime_params[call->cbid];
    struct cupti_params_place at = {.args = call->args, .stack = call->args->stack};
    size_t used = 0;
    if (!kind)
        return NULL;
    for (; *kind; kind++) {
        size_t align = align_of(*kind), bytes = bytes_of(*kind);
        used = (used + align - 1) / align * align;
        if (used + bytes > sizeof params->bytes)
            return NULL;
        memcpy(params->bytes + used, next(&at, *kind), bytes);
        used += bytes;
    }
    return params->bytes;
}
