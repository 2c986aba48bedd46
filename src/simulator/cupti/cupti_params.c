/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a reported call as callbacks receive them: the structures of CUDA's
 * generated_*_meta.h, filled from the registers and the stack according to the C calling
 * convention. */
#include "simulator/cupti/vs_sim_cupti.h"

#include <string.h>

#include "simulator/driver/vs_sim_thunk.h"

/* A member of a parameter structure; the list of a function ends with a member of zero bytes. */
struct param {
    uint16_t offset;
    uint8_t bytes;
    bool is_float; /* passed in a floating-point register */
};

#define VS_PARAM(type, member)                                              \
    {offsetof(type, member), sizeof(((type *)NULL)->member),                \
     _Generic(((type *)NULL)->member, float: true, double: true, default: false)},
#define VS_DRIVER_PARAMS(cbid, members) \
    [CUPTI_DRIVER_TRACE_CBID_##cbid] = (const struct param[]){members{0, 0, false}},
#define VS_RUNTIME_PARAMS(cbid, members)
static const struct param *const driver_params[CUPTI_DRIVER_TRACE_CBID_SIZE] = {
#include "generated/vs_sim_params_table.h"
};
#undef VS_DRIVER_PARAMS
#undef VS_RUNTIME_PARAMS
#define VS_DRIVER_PARAMS(cbid, members)
#define VS_RUNTIME_PARAMS(cbid, members) \
    [CUPTI_RUNTIME_TRACE_CBID_##cbid] = (const struct param[]){members{0, 0, false}},
static const struct param *const runtime_params[CUPTI_RUNTIME_TRACE_CBID_SIZE] = {
#include "generated/vs_sim_params_table.h"
};
#undef VS_DRIVER_PARAMS
#undef VS_RUNTIME_PARAMS

/* ---- positions of arguments ---- */

struct place {
    const struct vs_thunk_args *args;
    unsigned words, numbers; /* registers used */
    const uint64_t *stack;   /* next argument there */
};

static const void *from_stack(struct place *at, size_t bytes)
{
    const void *found = at->stack;
    at->stack += (bytes + 7) / 8;
    return found;
}

/* A value of up to two words, which stay together. */
static const void *from_words(struct place *at, size_t bytes)
{
    unsigned count = (unsigned)(bytes + 7) / 8;
    if (at->words + count <= VS_THUNK_REGISTERS) {
        const void *found = &at->args->words[at->words];
        at->words += count;
        return found;
    }
#if defined(__aarch64__)
    at->words = VS_THUNK_REGISTERS; /* later arguments are on the stack, too */
#endif
    return from_stack(at, bytes);
}

static const void *next(struct place *at, size_t bytes, bool is_float)
{
    if (is_float)
        return at->numbers < 2 ? &at->args->numbers[at->numbers++] : from_stack(at, bytes);
    if (bytes <= 16)
        return from_words(at, bytes);
#if defined(__aarch64__)
    const void *copy; /* made by the caller, which passes its address */
    memcpy(&copy, from_words(at, sizeof copy), sizeof copy);
    return copy;
#else
    return from_stack(at, bytes);
#endif
}

const void *vs_cupti_params(const struct vs_sim_call *call, union vs_cupti_params *params)
{
    const struct param *param = call->domain == VS_SIM_DOMAIN_DRIVER ? driver_params[call->cbid]
                                                                     : runtime_params[call->cbid];
    struct place at = {.args = call->args, .stack = call->args->stack};
    if (!param)
        return NULL;
    for (; param->bytes; param++) {
        if (param->offset + (size_t)param->bytes > sizeof params->bytes)
            return NULL;
        memcpy(params->bytes + param->offset, next(&at, param->bytes, param->is_float), param->bytes);
    }
    return params->bytes;
}
