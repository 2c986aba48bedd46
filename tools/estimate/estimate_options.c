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
#include "tools/common/command.h"
#include "tools/common/paths.h"
#include "tools/estimate/estimate_internal.h"

#define CONTEXT_BYTES (400 * VS_MIB) /* assumed for --capacity, which names no GPU: about that of an A100 */
#define COUNT_MAX 1e16

/* "8B", "1.5M", "124,000,000" is not: letters are powers of 1000. */
static bool parse_count(const char *text, uint64_t *out)
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
    *out = (uint64_t)value;
    return true;
}

const char *vs_estimate_keep(struct vs_estimate_job *job, const char *text, size_t length)
{
    char *copy = job->text_count < VS_ESTIMATE_TEXTS_MAX ? vs_xstrndup(text, length) : NULL;
    if (copy)
        job->texts[job->text_count++] = copy;
    return copy;
}

static int add_gpu(struct vs_estimate_job *job, const char *name, bool capacity)
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

/* One of *words*, or a message with all of them. */
static int choose(struct vs_estimate_job *job, const char *option, const char *text,
                  const char *const *words, int *out)
{
    char list[160] = "";
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return 0;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", words[i]);
    }
    return vs_tool_usage(job->who, "--%s takes one of %s, not %s", option, list, text);
}

enum flag {
    PARAMS, TRAINABLE, LAYERS, WIDTH, HEADS, KV_HEADS, FFN, VOCAB, GPUS, BATCH, SEQ, /* counts */
    DTYPE, OPTIMIZER, MLP, ATTENTION, CHECKPOINTING,                                  /* words */
    ZERO, FSDP, TIED, AMP, MASTER, FUSED, DROPOUT, INFERENCE,
    GPU, CAPACITY, FIND, AT, JSON, PARTIAL, COLOR, HELP
};

static const struct option options[] = {
    {"params", required_argument, NULL, PARAMS}, {"trainable", required_argument, NULL, TRAINABLE},
    {"layers", required_argument, NULL, LAYERS}, {"width", required_argument, NULL, WIDTH},
    {"heads", required_argument, NULL, HEADS}, {"kv-heads", required_argument, NULL, KV_HEADS},
    {"ffn", required_argument, NULL, FFN}, {"vocab", required_argument, NULL, VOCAB},
    {"gpus", required_argument, NULL, GPUS}, {"batch", required_argument, NULL, BATCH},
    {"seq", required_argument, NULL, SEQ}, {"dtype", required_argument, NULL, DTYPE},
    {"optimizer", required_argument, NULL, OPTIMIZER}, {"mlp", required_argument, NULL, MLP},
    {"attention", required_argument, NULL, ATTENTION},
    {"checkpointing", required_argument, NULL, CHECKPOINTING}, {"zero", required_argument, NULL, ZERO},
    {"fsdp", no_argument, NULL, FSDP}, {"tied", no_argument, NULL, TIED}, {"amp", no_argument, NULL, AMP},
    {"master-weights", no_argument, NULL, MASTER}, {"fused", no_argument, NULL, FUSED},
    {"dropout", no_argument, NULL, DROPOUT}, {"inference", no_argument, NULL, INFERENCE},
    {"gpu", required_argument, NULL, GPU}, {"capacity", required_argument, NULL, CAPACITY},
    {"find", required_argument, NULL, FIND}, {"at", required_argument, NULL, AT},
    {"json", no_argument, NULL, JSON}, {"partial", no_argument, NULL, PARTIAL},
    {"color", required_argument, NULL, COLOR}, {"help", no_argument, NULL, HELP}, {0}};

static int parse_number(struct vs_estimate_job *job, enum flag flag)
{
    struct vs_model *m = &job->answer.model;
    uint64_t *const targets[] = {[PARAMS] = &m->parameters, [TRAINABLE] = &m->trainable,
                                 [LAYERS] = &m->layers, [WIDTH] = &m->width, [HEADS] = &m->heads,
                                 [KV_HEADS] = &m->kv_heads, [FFN] = &m->ffn, [VOCAB] = &m->vocab,
                                 [GPUS] = &m->gpus, [BATCH] = &m->batch, [SEQ] = &m->sequence};
    if (!parse_count(optarg, targets[flag]))
        return vs_tool_usage(job->who, "--%s takes a number from 1, such as 32, 124M or 8B, not %s",
                             options[flag].name, optarg);
    return 0;
}

static int parse_word(struct vs_estimate_job *job, enum flag flag)
{
    static const char *const dtypes[] = {"fp32", "bf16", "fp16", NULL};
    static const char *const optimizers[] = {"adamw", "adam", "adam8bit", "momentum", "lion", "sgd", NULL};
    static const enum vs_model_optimizer optimizer_values[] = {
        VS_OPTIMIZER_ADAMW, VS_OPTIMIZER_ADAMW, VS_OPTIMIZER_ADAM8BIT, VS_OPTIMIZER_MOMENTUM,
        VS_OPTIMIZER_MOMENTUM, VS_OPTIMIZER_SGD};
    static const char *const mlps[] = {"gelu", "swiglu", NULL}, *const attentions[] = {"flash", "math", NULL};
    static const char *const checkpoints[] = {"none", "selective", "full", NULL};
    static const char *const *const words[] = {
        [DTYPE] = dtypes, [OPTIMIZER] = optimizers, [MLP] = mlps, [ATTENTION] = attentions,
        [CHECKPOINTING] = checkpoints};
    struct vs_model *m = &job->answer.model;
    int index = 0;
    int status = choose(job, options[flag].name, optarg, words[flag], &index);
    if (status)
        return status;
    switch (flag) {
    case DTYPE: m->half = index > 0; break;
    case OPTIMIZER: m->optimizer = optimizer_values[index]; break;
    case MLP: m->gated = index; break;
    case ATTENTION: m->math_attention = index; break;
    default: m->checkpointing = (enum vs_model_checkpointing)index; break;
    }
    return 0;
}

static int parse_flag(struct vs_estimate_job *job, enum flag flag, const char **at)
{
    struct vs_model *m = &job->answer.model;
    unsigned long long stage;
    if (flag >= GPU) {
        /* An option that is not part of the description. */
        switch (flag) {
        case GPU: return add_gpu(job, optarg, false);
        case CAPACITY: return add_gpu(job, optarg, true);
        case FIND: job->answer.find = optarg; return 0;
        case AT: *at = optarg; return 0;
        case JSON: job->json = true; return 0;
        case PARTIAL: job->partial = true; return 0;
        default:
            return vs_tool_colour(optarg, &job->colour)
                       ? 0 : vs_tool_usage(job->who, "--color takes auto, always or never");
        }
    }
    job->described = true;
    if (flag <= SEQ)
        return parse_number(job, flag);
    if (flag <= CHECKPOINTING)
        return parse_word(job, flag);
    switch (flag) {
    case ZERO:
        if (!vs_tool_count(optarg, 0, 3, &stage))
            return vs_tool_usage(job->who, "--zero takes a stage from 0 to 3");
        m->zero = (unsigned)stage;
        break;
    case FSDP: m->zero = 3; break;
    case TIED: m->tied = true; break;
    case AMP: m->autocast = true; break;
    case MASTER: m->master = true; break;
    case FUSED: m->fused = true; break;
    case DROPOUT: m->dropout = true; break;
    default: m->inference = true; break;
    }
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
    const char *at = NULL;
    int c, status = 0;
    job->who = argv[0];
    opterr = 0;
    while (!status && (c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (c == HELP || c == 'h') {
            fputs(usage, stdout);
            return -1;
        }
        status = c == '?' || c == ':' ? vs_tool_bad_option(argv, c) : parse_flag(job, (enum flag)c, &at);
    }
    if (!status && optind < argc)
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
