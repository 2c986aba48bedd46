/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of `vramscope estimate`. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"
#include "tools/common/paths.h"
#include "tools/common/tool_options.h"
#include "tools/estimate/estimate_internal.h"

#define CONTEXT_BYTES (400 * VS_MIB) /* assumed for --capacity, which names no GPU: about that of an A100 */
#define COUNT_MAX 1e16

/* "8B", "1.5M", "124,000,000" is not: letters are powers of 1000. */
static bool parse_count(const char *text, void *out)
{
    static const char letters[] = "KMBT";
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    const char *letter = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
    if (end == text || errno || !isfinite(value) || (*end && (!letter || end[1])))
        return false;
    if (letter)
        value *= pow(1000, (double)(letter - letters) + 1);
    if (value < 1 || value > COUNT_MAX)
        return false;
    *(uint64_t *)out = (uint64_t)value;
    return true;
}

const char *vs_estimate_keep(struct vs_estimate_job *job, const char *text, size_t length)
{
    char *copy = job->text_count < VS_ESTIMATE_TEXTS_MAX ? vs_xstrndup(text, length) : NULL;
    if (copy)
        job->texts[job->text_count++] = copy;
    return copy;
}

static int add_device(struct vs_estimate_job *job, const char *name, bool capacity)
{
    struct vs_estimate_answer *a = &job->answer;
    struct vs_estimate_gpu *gpu = &a->gpus[a->gpu_count];
    char why[VS_SIMULATED_WHY_MAX];
    if (a->gpu_count == VS_ESTIMATE_GPUS_MAX)
        return vs_tool_usage(job->who, "at most %d GPUs", VS_ESTIMATE_GPUS_MAX);
    gpu->name = name;
    if (capacity) {
        if (vs_size_parse(name, &gpu->total_bytes) || gpu->total_bytes < VS_MIB)
            return vs_tool_usage(job->who, "--capacity takes a size such as 24GiB, not %s", name);
        gpu->taken_bytes = CONTEXT_BYTES;
    } else if (vs_simulated_memory(name, &gpu->total_bytes, &gpu->taken_bytes, why)) {
        return vs_tool_fail(job->who, "--gpu %s: %s", name, why);
    }
    a->gpu_count++;
    return 0;
}

static int add_gpu(const char *who, const char *text, void *job)
{
    (void)who;
    return add_device(job, text, false);
}

static int add_capacity(const char *who, const char *text, void *job)
{
    (void)who;
    return add_device(job, text, true);
}

static int set_fsdp(const char *who, const char *text, void *zero)
{
    (void)who, (void)text;
    *(unsigned long long *)zero = 3;
    return 0;
}

static int check_model(struct vs_estimate_job *job)
{
    struct vs_model *m = &job->answer.model;
    const char *find = job->answer.find;
    if (!job->described)
        return vs_tool_usage(job->who, "nothing to estimate: give --params, or --layers and --width, "
                             "or traces (batch=4:TRACE)");
    if (!m->parameters && !(m->layers && m->width))
        return vs_tool_usage(job->who, "the model's size is missing: give --params, or --layers and --width");
    if (m->half && m->autocast)
        return vs_tool_usage(job->who, "--amp keeps parameters in fp32: leave out --dtype");
    if (m->master && !m->half)
        return vs_tool_usage(job->who, "--master-weights needs --dtype bf16 or fp16");
    if (m->trainable && m->parameters && m->trainable > m->parameters)
        return vs_tool_usage(job->who, "--trainable is larger than --params");
    if (m->heads && (m->width % m->heads || (m->kv_heads && m->heads % m->kv_heads)))
        return vs_tool_usage(job->who, "--width must be a multiple of --heads, and --heads of --kv-heads");
    if (m->kv_heads && !m->heads)
        return vs_tool_usage(job->who, "--kv-heads needs --heads");
    if (m->math_attention && !m->heads)
        return vs_tool_usage(job->who, "--attention math needs --heads");
    if (m->zero && !m->gpus)
        return vs_tool_usage(job->who, "--zero and --fsdp need --gpus N, the GPUs that share the model");
    if (find && strcmp(find, "batch") && strcmp(find, "seq"))
        return vs_tool_usage(job->who, "--find takes batch or seq");
    if (find && (!m->layers || !m->width || (strcmp(find, "batch") ? !m->batch : !m->sequence)))
        return vs_tool_usage(job->who, "--find %s needs --layers, --width and --%s", find,
                             strcmp(find, "batch") ? "batch" : "seq");
    return 0;
}

static int check_traces(struct vs_estimate_job *job, const char *at)
{
    struct vs_estimate_answer *a = &job->answer;
    if (job->described)
        return vs_tool_usage(job->who, "a description and traces cannot be combined");
    if (at) {
        int status = vs_estimate_parse_values(job, "--at", at, strlen(at), false, a->at);
        if (status)
            return status;
        a->has_at = true;
    }
    if (!a->find)
        return 0;
    for (size_t k = 0; k < a->scaling.names; k++)
        if (strcmp(a->find, a->names[k]) == 0)
            return 0;
    return vs_tool_usage(job->who, "--find takes one of the traces' arguments: %s%s%s", a->names[0],
                         a->scaling.names > 1 ? ", " : "", a->scaling.names > 1 ? a->names[1] : "");
}

int vs_estimate_parse(struct vs_estimate_job *job, const char *usage, int argc, char **argv)
{
    static const enum vs_model_optimizer optimizers[] = { /* of the words below */
        VS_OPTIMIZER_ADAMW, VS_OPTIMIZER_ADAMW, VS_OPTIMIZER_ADAM8BIT, VS_OPTIMIZER_MOMENTUM,
        VS_OPTIMIZER_MOMENTUM, VS_OPTIMIZER_SGD};
    struct vs_model *m = &job->answer.model;
    const char *at = NULL;
    unsigned dtype = 0, optimizer = 0, mlp = 0, attention = 0, checkpointing = 0;
    unsigned long long zero = 0;
    job->who = argv[0];
#define DESCRIBES .given = &job->described
#define NUMBER(option, field) {option, .parse = parse_count, .to = &m->field, .plain = true, DESCRIBES, \
                               .takes = "a number from 1, such as 32, 124M or 8B"}
    int status = vs_tool_options(
        argc, argv, usage,
        (const struct vs_tool_option[]){
            NUMBER("params", parameters), NUMBER("trainable", trainable), NUMBER("layers", layers),
            NUMBER("width", width), NUMBER("heads", heads), NUMBER("kv-heads", kv_heads),
            NUMBER("ffn", ffn), NUMBER("vocab", vocab), NUMBER("gpus", gpus), NUMBER("batch", batch),
            NUMBER("seq", sequence),
            {"dtype", .word = &dtype, .words = "fp32, bf16, fp16", DESCRIBES},
            {"optimizer", .word = &optimizer, DESCRIBES,
             .words = "adamw, adam, adam8bit, momentum, lion, sgd"},
            {"mlp", .word = &mlp, .words = "gelu, swiglu", DESCRIBES},
            {"attention", .word = &attention, .words = "flash, math", DESCRIBES},
            {"checkpointing", .word = &checkpointing, .words = "none, selective, full", DESCRIBES},
            {"zero", .count = &zero, .max = 3, .takes = "a stage from 0 to 3", DESCRIBES},
            {"fsdp", .run = set_fsdp, .to = &zero, .bare = true, DESCRIBES},
            {"tied", .flag = &m->tied, DESCRIBES}, {"amp", .flag = &m->autocast, DESCRIBES},
            {"master-weights", .flag = &m->master, DESCRIBES}, {"fused", .flag = &m->fused, DESCRIBES},
            {"dropout", .flag = &m->dropout, DESCRIBES}, {"inference", .flag = &m->inference, DESCRIBES},
            {"gpu", .run = add_gpu, .to = job}, {"capacity", .run = add_capacity, .to = job},
            {"find", .text = &job->answer.find}, {"at", .text = &at}, {"json", .flag = &job->json},
            {"partial", .flag = &job->partial}, {"color", .colour = &job->colour}, {0}});
    if (status)
        return status;
    m->half = dtype > 0;
    m->optimizer = optimizers[optimizer];
    m->gated = mlp;
    m->math_attention = attention;
    m->checkpointing = (enum vs_model_checkpointing)checkpointing;
    m->zero = (unsigned)zero;
    if (optind < argc)
        status = vs_estimate_traces(job, argv + optind, (size_t)(argc - optind));
    if (!status && !job->answer.run_count && at)
        status = vs_tool_usage(job->who, "--at is for traces; describe the model with --batch and --seq");
    if (status)
        return status;
    if (job->answer.find && !job->answer.gpu_count)
        return vs_tool_usage(job->who, "--find needs --gpu NAME or --capacity SIZE");
    return job->answer.run_count ? check_traces(job, at) : check_model(job);
}

void vs_estimate_clear(struct vs_estimate_job *job)
{
    for (size_t i = 0; i < job->text_count; i++)
        free(job->texts[i]);
}
