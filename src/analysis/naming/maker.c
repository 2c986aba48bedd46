/* SPDX-License-Identifier: Apache-2.0
 *
 * A Python function is judged once (struct maker_function, by the index of its module in
 * the trace), a native frame once (bits of enum native, by its address); a stack is then a walk
 * over numbers. Names of native frames are looked up only in PyTorch's own libraries. */
#include "analysis/naming/maker.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

#define STACK_MAX 129

struct maker_function {
    const char *name, *path; /* the reader's; another one under the same index is judged anew */
    enum vs_maker maker;
    bool library;       /* of an installed package */
    uint32_t class_row; /* index + 1; 0: not in a class */
};

/* A Python class: a file and the part of a function's name before the last dot. */
struct class_row {
    bool forward;   /* has a forward function */
    bool container; /* its constructor called a module's */
};

enum native {
    NATIVE_SEEN = 1,      /* looked up */
    NATIVE_NAMED = 2,
    NATIVE_ENGINE = 4,
    NATIVE_WORKSPACE = 8,
    NATIVE_BUCKET = 16,
    NATIVE_CALL = 32,     /* PyTorch's function for a call from Python */
    NATIVE_SOURCE = 64,   /* such a call that makes or transfers data */
};

struct vs_makers {
    const struct vs_reader *reader;
    struct vs_symbols *symbols;
    struct vs_maker_site *sites;
    size_t site_count, site_capacity;
    struct vs_map by_stack; /* stack + 1 -> index */
    struct maker_function *functions;
    size_t function_count, function_capacity;
    struct vs_map by_module; /* module + 1 -> index of its function */
    struct class_row *classes;
    size_t class_count, class_capacity;
    struct vs_map by_class; /* hash of file and name -> index */
    struct vs_map natives;  /* address -> enum native */
    bool python;
};

struct vs_makers *vs_makers_open(const struct vs_reader *reader, struct vs_symbols *symbols)
{
    struct vs_makers *makers = vs_xcalloc(1, sizeof *makers);
    makers->reader = reader;
    makers->symbols = symbols;
    return makers;
}

void vs_makers_close(struct vs_makers *makers)
{
    if (!makers)
        return;
    free(makers->sites);
    free(makers->functions);
    free(makers->classes);
    vs_map_free(&makers->by_stack);
    vs_map_free(&makers->by_module);
    vs_map_free(&makers->by_class);
    vs_map_free(&makers->natives);
    free(makers);
}

/* Whether function *name* is named by one of *words*: whole, or after a dot. */
static bool is_named(const char *words, const char *name, size_t length)
{
    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ");
        if (n <= length && memcmp(at, name + length - n, n) == 0 &&
            (n == length || name[length - n - 1] == '.'))
            return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

static enum vs_maker by_rules(const char *path, const char *name)
{
    static const struct {
        const char *path, *function;
        enum vs_maker maker;
    } rules[] = {
#define VS_MAKER_RULE(path, function, maker) {path, function, VS_MAKER_##maker},
#include "analysis/naming/maker_table.h"
#undef VS_MAKER_RULE
    };
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(path, rules[i].path) &&
            (!*rules[i].function || is_named(rules[i].function, name, length)))
            return rules[i].maker;
    if (is_named("forward", name, length))
        return VS_MAKER_FORWARD;
    return is_named("__init__", name, length) ? VS_MAKER_CONSTRUCTOR : VS_MAKER_NONE;
}

static void judge_function(struct vs_makers *makers, const struct vs_module *module,
                           struct maker_function *out)
{
    const char *dot = strrchr(module->function, '.'), *last = dot ? dot + 1 : module->function;
    const char *path = module->path;
    enum vs_maker maker = by_rules(path, module->function);
    *out = (struct maker_function){.name = module->function, .path = path, .maker = maker,
                             .library = strstr(path, "/site-packages/") ||
                                 strstr(path, "/dist-packages/") ||
                                        strstr(path, "/lib/python3") || path[0] == '<'};
    bool forward = strcmp(last, "forward") == 0;
    if (!forward && strcmp(last, "__init__") != 0)
        return;
    /* Its class. Before Python 3.11 names have no classes: all of a file are one. */
    uint64_t key = vs_text_hash_bytes(VS_TEXT_HASH_START, path, strlen(path) + 1);
    key = vs_text_hash_bytes(key, module->function, (size_t)(last - module->function)) | 1;
    uint64_t class = vs_xmap_number(&makers->by_class, key, makers->class_count);
    if (class == makers->class_count)
        vs_vec_push(&makers->classes, &makers->class_count, &makers->class_capacity,
                    sizeof *makers->classes);
    out->class_row = (uint32_t)class + 1;
    if (forward)
        makers->classes[out->class_row - 1].forward = true;
}

static unsigned name_bits(const char *name)
{
    static const struct {
        const char *part;
        unsigned bits;
    } parts[] = {
        {"torch::autograd::Engine::", NATIVE_ENGINE},
        {"torch::autograd::python::PythonEngine::thread_init", NATIVE_ENGINE},
        {"CUDABlasWorkspace", NATIVE_WORKSPACE},     /* at::cuda::allocateCUDABlasWorkspace, … */
        {"CUDABlasLtWorkspace", NATIVE_WORKSPACE},
        {"CublasLtWorkspace", NATIVE_WORKSPACE},
        {"CUDABlasHandle", NATIVE_WORKSPACE},
        {"raw_cudnn_convolution", NATIVE_WORKSPACE}, /* its results are made by its callers */
        {"run_conv_plan", NATIVE_WORKSPACE},
        {"cudnn_frontend", NATIVE_WORKSPACE},
        {"at::native::Workspace", NATIVE_WORKSPACE},
        {"c10d::Reducer::initialize_bucket", NATIVE_BUCKET},
        {"c10d::Reducer::rebuild_buckets", NATIVE_BUCKET},
    };
    static const char sources[] = /* calls that make or transfer data */
        "to cuda tensor as_tensor from_numpy asarray rand rand_like randn randn_like randint "
        "randint_like randperm zeros zeros_like ones ones_like empty empty_like empty_strided full "
        "full_like arange linspace eye normal bernoulli multinomial new_zeros new_ones new_empty "
        "new_full new_tensor";
    const char *call = strstr(name, "THPVariable_"); /* a call from Python: THPVariable_NAME */
    unsigned bits = call ? NATIVE_CALL : 0;
    call += call ? strlen("THPVariable_") : 0;
    if (call && is_named(sources, call, strcspn(call, "(<")))
        bits |= NATIVE_SOURCE;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i].part))
            bits |= parts[i].bits;
    return bits;
}

struct walk {
    unsigned bits;   /* of all native frames */
    unsigned inner;  /* of those inside the innermost Python frame */
    unsigned call;   /* of the outermost call among these */
    bool python, older;
    bool library;    /* the innermost Python function is of an installed package */
    bool in_constructor; /* of one of PyTorch's modules, and no other one so far */
    enum vs_maker maker;
    uint32_t class_row;
};

static void walk_frame(struct vs_makers *makers, const struct vs_frame *frame,
                       struct walk *walk)
{
    const struct vs_module *module = vs_reader_module(makers->reader, frame->module);
    if (!module || !*module->function) {
        bool torch = makers->symbols && frame->pc && module &&
            strstr(vs_text_base_name(module->path), "torch");
        const uint64_t *known = torch ? vs_map_get(&makers->natives, frame->pc) : NULL;
        unsigned bits = known ? (unsigned)*known : torch ? NATIVE_SEEN : 0;
        struct vs_symbol found;
        if (torch && !known) {
            if (vs_symbols_frame(makers->symbols, frame, &found, 1) && found.known)
                bits |= NATIVE_NAMED | name_bits(found.function);
            vs_xmap_put(&makers->natives, frame->pc, bits);
        }
        walk->bits |= bits;
        if (!walk->python) {
            walk->inner |= bits;
            if (bits & NATIVE_CALL)
                walk->call = bits;
        }
        return;
    }
    walk->older |= !*module->path; /* no code, but a name for memory that is older than the record */
    if (walk->older)
        return;
    uint64_t at = vs_xmap_number(&makers->by_module, (uint64_t)frame->module + 1,
                                 makers->function_count);
    if (at == makers->function_count)
        vs_vec_push(&makers->functions, &makers->function_count, &makers->function_capacity,
                    sizeof *makers->functions);
    struct maker_function *function = &makers->functions[at];
    if (function->name != module->function || function->path != module->path)
        judge_function(makers, module, function);
    if (!walk->python)
        walk->library = function->library;
    walk->python = true;
    if (walk->in_constructor && function->maker == VS_MAKER_CONSTRUCTOR) {
        makers->classes[function->class_row - 1].container = true;
        walk->in_constructor = false;
    }
    if (walk->maker == VS_MAKER_NONE) {
        walk->maker = function->maker;
        walk->class_row = function->class_row;
        walk->in_constructor = function->maker == VS_MAKER_MODULE && function->class_row;
    }
}

uint32_t vs_makers_site(struct vs_makers *makers, uint64_t stack)
{
    const uint64_t *known = vs_map_get(&makers->by_stack, stack + 1);
    if (known)
        return (uint32_t)*known;
    if (stack == UINT64_MAX)
        return vs_makers_site(makers, 0);
    struct vs_frame frames[STACK_MAX];
    size_t count = vs_reader_stack(makers->reader, stack, frames, STACK_MAX);
    struct walk walk = {0};
    for (size_t i = 0; i < count; i++)
        walk_frame(makers, &frames[i], &walk);
    vs_vec_room(&makers->sites, &makers->site_capacity, makers->site_count + 1,
                sizeof *makers->sites);
    enum vs_maker maker = walk.inner & NATIVE_WORKSPACE     ? VS_MAKER_WORKSPACE
                          : walk.inner & NATIVE_BUCKET      ? VS_MAKER_BUCKET
                          : walk.maker != VS_MAKER_NONE     ? walk.maker
                          : walk.python && walk.library     ? VS_MAKER_LIBRARY
                          : walk.python                     ? VS_MAKER_USER
                          : walk.bits & NATIVE_ENGINE       ? VS_MAKER_BACKWARD
                                                            : VS_MAKER_UNKNOWN;
    if (maker == VS_MAKER_USER && walk.maker == VS_MAKER_NONE && walk.call & NATIVE_SOURCE)
        maker = VS_MAKER_INPUT;
    makers->sites[makers->site_count] = (struct vs_maker_site){
        .stack = stack, .maker = maker, .engine = walk.bits & NATIVE_ENGINE,
        .python = walk.python, .older = walk.older, .named = walk.bits & NATIVE_NAMED,
        .class_row = walk.class_row};
    makers->python |= walk.python;
    vs_xmap_put(&makers->by_stack, stack + 1, makers->site_count);
    return (uint32_t)makers->site_count++;
}

struct vs_maker_site *vs_makers_row(struct vs_makers *makers, uint32_t index)
{
    return &makers->sites[index];
}

bool vs_makers_is_module(const struct vs_makers *makers, const struct vs_maker_site *site)
{
    if (!site->class_row)
        return false;
    const struct class_row *row = &makers->classes[site->class_row - 1];
    return row->forward || row->container;
}

bool vs_makers_python(const struct vs_makers *makers)
{
    return makers->python;
}

const char *vs_kind_name(enum vs_kind kind)
{
    static const char *const names[VS_KIND_COUNT] = {
        [VS_KIND_PARAMETERS] = "parameters", [VS_KIND_GRADIENTS] = "gradients",
        [VS_KIND_OPTIMIZER_STATE] = "optimizer state", [VS_KIND_ACTIVATIONS] = "activations",
        [VS_KIND_INPUTS] = "inputs", [VS_KIND_TEMPORARIES] = "temporaries",
        [VS_KIND_WORKSPACES] = "workspaces", [VS_KIND_OTHER] = "other",
        [VS_KIND_UNKNOWN] = "unknown"};
    return (unsigned)kind < VS_KIND_COUNT ? names[kind] : "unknown";
}

const char *vs_kind_key(enum vs_kind kind)
{
    return kind == VS_KIND_OPTIMIZER_STATE ? "optimizer_state" : vs_kind_name(kind);
}
