/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of tensors, with traces of known stacks: Python frames "FUNCTION PATH" and named native
 * frames "@NAME", the innermost first. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/kinds/kinds.h"
#include "analysis/kinds/maker.h"
#include "support/trace_builder.h"
#include "trace/read/rewrite.h"
#include "trace/record/recorder_internal.h"
#include "trace/symbols/symbol_set.h"

#define MAIN VS_BUILDER_PID
#define ENGINE 5000u /* a thread of the autograd engine */
#define LIBRARY 0u   /* number of the module with native functions */
#define FUNCTIONS 1u /* of the first Python function */
#define LIBRARY_BASE UINT64_C(0x7f0000000000)
#define TORCH "/env/lib/python3.11/site-packages/torch/"
#define MIB (UINT64_C(1) << 20)

struct trace {
    struct vs_builder b;
    uint64_t next_addr;
    unsigned functions, natives;
    char function_names[64][200], native_names[64][200];
    struct vs_reader *reader;
    struct vs_symbols *symbols;
};

static struct trace *begin(void)
{
    struct trace *t = calloc(1, sizeof *t);
    vs_builder_open(&t->b, "observe");
    vs_builder_device(&t->b, 0, "GPU", 80 << 10);
    t->next_addr = MIB;
    struct vs_event e = {.kind = VS_EVENT_module};
    e.module.module = LIBRARY;
    e.module.base = e.module.start = LIBRARY_BASE;
    e.module.end = LIBRARY_BASE + MIB;
    e.module.path = vs_builder_string(&t->b, "/env/libtorch_cpu.so");
    e.module.build_id = vs_builder_string(&t->b, "00");
    e.module.alive = 1;
    vs_builder_event(&t->b, e);
    return t;
}

static uint64_t function_code(struct trace *t, const char *text)
{
    for (unsigned i = 0; i < t->functions; i++)
        if (strcmp(t->function_names[i], text) == 0)
            return FUNCTIONS + i + 1;
    const char *space = strchr(text, ' ');
    struct vs_event e = {.kind = VS_EVENT_module};
    snprintf(t->function_names[t->functions], sizeof t->function_names[0], "%.*s",
             (int)(space - text), text);
    e.module.module = FUNCTIONS + t->functions;
    e.module.function = vs_builder_string(&t->b, t->function_names[t->functions]);
    e.module.path = vs_builder_string(&t->b, space + 1);
    e.module.alive = 1;
    vs_builder_event(&t->b, e);
    snprintf(t->function_names[t->functions], sizeof t->function_names[0], "%s", text);
    return FUNCTIONS + ++t->functions;
}

static uint64_t native_offset(struct trace *t, const char *name)
{
    for (unsigned i = 0; i < t->natives; i++)
        if (strcmp(t->native_names[i], name) == 0)
            return 16 * (i + 1);
    snprintf(t->native_names[t->natives], sizeof t->native_names[0], "%s", name);
    return 16 * ++t->natives;
}

/* The id of the stack of *frames*, the innermost first, up to NULL. */
static uint64_t stack_of(struct trace *t, const char *const *frames)
{
    uint64_t code[16], offset[16], id = 0;
    size_t count = 0;
    for (; frames[count]; count++) {
        bool native = frames[count][0] == '@';
        code[count] = native ? LIBRARY + 1 : function_code(t, frames[count]);
        offset[count] = native ? native_offset(t, frames[count] + 1) : 10;
    }
    struct vs_recorder *r = t->b.recorder;
    vs_lock_acquire(&r->lock);
    assert_true(vs_window_reserve_locked(r, 16 * VS_STACK_NODE_BYTES_MAX));
    while (count-- > 0)
        id = vs_intern_node_locked(r, id, code[count], offset[count]);
    vs_lock_release(&r->lock);
    return id;
}

static uint64_t alloc_at(struct trace *t, uint32_t tid, uint64_t size, uint64_t stack)
{
    struct vs_event e = {.kind = VS_EVENT_framework_alloc};
    t->b.tid = tid;
    e.framework_alloc.addr = t->next_addr;
    e.framework_alloc.size = size;
    e.framework_alloc.stack = stack;
    vs_builder_event(&t->b, e);
    t->next_addr += size;
    return e.framework_alloc.addr;
}

#define STACK(t, ...) stack_of(t, (const char *const[]){__VA_ARGS__, NULL})
#define ALLOC(t, tid, size, ...) alloc_at(t, tid, size, STACK(t, __VA_ARGS__))

static void drop(struct trace *t, uint32_t tid, uint64_t addr)
{
    struct vs_event e = {.kind = VS_EVENT_framework_free};
    t->b.tid = tid;
    e.framework_free.addr = addr;
    vs_builder_event(&t->b, e);
}

static void moment(struct trace *t, const char *name)
{
    struct vs_event e = {.kind = VS_EVENT_mark};
    t->b.tid = MAIN;
    e.mark.name = vs_builder_string(&t->b, name);
    vs_builder_event(&t->b, e);
}

static void fail_alloc(struct trace *t)
{
    vs_builder_event(&t->b, (struct vs_event){.kind = VS_EVENT_framework_oom});
}

/* The frames of usual stacks. */
#define MAKE_PARAMETER "Module._apply " TORCH "nn/modules/module.py", "main /home/u/train.py"
#define FORWARD                                                                                    \
    "linear " TORCH "nn/functional.py", "Linear.forward " TORCH "nn/modules/linear.py",            \
        "Net.forward /home/u/net.py", "main /home/u/train.py"
#define BACKWARD "@torch::autograd::Engine::evaluate_function(int)"
#define INIT_GROUP                                                                                 \
    "Adam._init_group " TORCH "optim/adam.py", "Adam.step " TORCH "optim/adam.py",                 \
        "Optimizer.profile_hook_step.<locals>.wrapper " TORCH "optim/optimizer.py",                \
        "main /home/u/train.py"
#define STEP                                                                                       \
    "_multi_tensor_sgd " TORCH "optim/sgd.py", "SGD.step " TORCH "optim/sgd.py",                   \
        "main /home/u/train.py"
#define MAKE_INPUT "@torch::autograd::THPVariable_randn(_object*)", "main /home/u/train.py"

static void write_names(struct trace *t)
{
    struct vs_symbol_set set = {.budget = 1 << 20};
    struct vs_rewrite *rewrite = NULL;
    unsigned char payload[16384];
    char why[VS_READER_WHY_MAX];
    size_t next = 0, bytes = 0;
    for (unsigned i = 0; i < t->natives; i++) {
        struct vs_symbol symbol = {.function = t->native_names[i], .file = "", .known = 1};
        assert_int_equal(vs_symbol_set_put(&set, LIBRARY, 16 * (i + 1), VS_LEVEL_TABLE, &symbol, 1),
                         VS_OK);
    }
    assert_int_equal(vs_symbol_set_encode(&set, &next, payload, sizeof payload, &bytes), VS_OK);
    assert_int_equal(vs_rewrite_open(t->b.path, NULL, 0, &rewrite, why), VS_OK);
    assert_int_equal(vs_rewrite_add(rewrite, VS_FRAME_SYMBOLS, 0, 0, payload, bytes), VS_OK);
    assert_int_equal(vs_rewrite_commit(rewrite, why), VS_OK);
    vs_symbol_set_free(&set);
}

static void finish_as(struct trace *t, bool names, enum vs_end_reason reason)
{
    char why[VS_READER_WHY_MAX];
    vs_builder_close(&t->b, reason, 0);
    if (names && t->natives)
        write_names(t);
    assert_int_equal(vs_reader_open(t->b.path, &t->reader, why), VS_OK);
    if (names)
        assert_int_equal(vs_symbols_open(t->reader, &t->symbols), VS_OK);
}

static void finish(struct trace *t, bool names)
{
    finish_as(t, names, VS_END_EXIT);
}

static void end(struct trace *t)
{
    vs_symbols_close(t->symbols);
    vs_reader_close(t->reader);
    vs_builder_remove(&t->b);
    free(t);
}

/* The number of the mark *name*, as a query's event. */
static uint64_t event_of(struct trace *t, const char *name)
{
    struct vs_event e;
    vs_reader_rewind(t->reader);
    for (uint64_t n = 1; vs_reader_next(t->reader, &e) == VS_OK; n++)
        if (e.kind == VS_EVENT_mark && strcmp(vs_reader_string(t->reader, e.mark.name), name) == 0)
            return n;
    fail_msg("no mark %s", name);
    return 0;
}

static struct vs_kinds_table ask(struct trace *t, struct vs_kinds_query query)
{
    struct vs_kinds_table table;
    assert_int_equal(vs_kinds_read(t->reader, t->symbols, &query, 1, &table), VS_OK);
    return table;
}

/* Bytes of *kind* at the mark *name*; at the end for NULL. */
static uint64_t bytes_at(struct trace *t, const char *name, enum vs_kind kind)
{
    uint64_t event = name ? event_of(t, name) : VS_KINDS_END, sum = 0;
    struct vs_kinds_table table = ask(t, (struct vs_kinds_query){.event = event});
    for (int k = 0; k < VS_KIND_COUNT; k++)
        sum += table.kinds[k].bytes;
    assert_int_equal(sum, table.total.bytes);
    return table.kinds[kind].bytes;
}

TEST(memory_of_modules_is_parameters)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, MAKE_PARAMETER);
    ALLOC(t, MAIN, MIB, "Linear.__init__ " TORCH "nn/modules/linear.py", "Net.__init__ /home/u/net.py");
    ALLOC(t, MAIN, MIB, "Parameter.__deepcopy__ " TORCH "nn/parameter.py", "main /home/u/train.py");
    ALLOC(t, MAIN, MIB, "load_file /env/lib/python3.11/site-packages/safetensors/torch.py");
    finish(t, true);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_PARAMETERS), 4 * MIB);
    end(t);
}

TEST(a_forward_block_that_backward_needs_is_an_activation)
{
    struct trace *t = begin();
    uint64_t saved = ALLOC(t, MAIN, 2 * MIB, FORWARD), passing = ALLOC(t, MAIN, MIB, FORWARD);
    moment(t, "forward");
    drop(t, MAIN, passing);
    uint64_t made = ALLOC(t, ENGINE, MIB, BACKWARD);
    moment(t, "backward");
    drop(t, ENGINE, saved);
    drop(t, ENGINE, made);
    finish(t, true);
    assert_int_equal(bytes_at(t, "forward", VS_KIND_ACTIVATIONS), 2 * MIB);
    assert_int_equal(bytes_at(t, "forward", VS_KIND_TEMPORARIES), MIB);
    assert_int_equal(bytes_at(t, "backward", VS_KIND_TEMPORARIES), MIB);
    end(t);
}

TEST(the_engines_first_free_begins_backward)
{
    struct trace *t = begin();
    drop(t, ENGINE, ALLOC(t, ENGINE, MIB, BACKWARD));
    uint64_t first = ALLOC(t, MAIN, MIB, FORWARD), second = ALLOC(t, MAIN, MIB, FORWARD);
    moment(t, "forward");
    drop(t, ENGINE, first);
    drop(t, ENGINE, second);
    finish(t, true);
    assert_int_equal(bytes_at(t, "forward", VS_KIND_ACTIVATIONS), 2 * MIB);
    end(t);
}

TEST(what_outlives_backward_is_a_gradient)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, FORWARD);
    uint64_t gradient = ALLOC(t, ENGINE, 2 * MIB, BACKWARD);
    uint64_t passing = ALLOC(t, ENGINE, MIB, BACKWARD);
    moment(t, "backward");
    drop(t, ENGINE, passing);
    ALLOC(t, MAIN, MIB, INIT_GROUP); /* the calling thread goes on */
    moment(t, "step");
    drop(t, MAIN, gradient);
    finish(t, true);
    assert_int_equal(bytes_at(t, "backward", VS_KIND_GRADIENTS), 2 * MIB);
    assert_int_equal(bytes_at(t, "backward", VS_KIND_TEMPORARIES), MIB);
    assert_int_equal(bytes_at(t, "step", VS_KIND_GRADIENTS), 2 * MIB);
    end(t);
}

TEST(a_gradient_that_the_main_thread_frees_first_is_one)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, FORWARD);
    uint64_t gradient = ALLOC(t, ENGINE, 2 * MIB, BACKWARD);
    moment(t, "backward");
    drop(t, MAIN, gradient); /* zero_grad, after a step without allocations */
    finish(t, true);
    assert_int_equal(bytes_at(t, "backward", VS_KIND_GRADIENTS), 2 * MIB);
    end(t);
}

TEST(what_outlives_the_optimizers_step_is_its_state)
{
    struct trace *t = begin();
    uint64_t momentum = ALLOC(t, MAIN, 2 * MIB, STEP), passing = ALLOC(t, MAIN, MIB, STEP);
    uint64_t made = ALLOC(t, MAIN, MIB, INIT_GROUP);
    moment(t, "step");
    drop(t, MAIN, passing);
    ALLOC(t, MAIN, MIB, FORWARD);
    drop(t, MAIN, momentum);
    drop(t, MAIN, made);
    finish(t, true);
    assert_int_equal(bytes_at(t, "step", VS_KIND_OPTIMIZER_STATE), 3 * MIB);
    assert_int_equal(bytes_at(t, "step", VS_KIND_TEMPORARIES), MIB);
    end(t);
}

TEST(a_marked_phase_ends_the_optimizers_step)
{
    struct trace *t = begin();
    uint64_t momentum = ALLOC(t, MAIN, MIB, STEP);
    moment(t, "step");
    vs_builder_push(&t->b, "forward");
    drop(t, MAIN, momentum); /* at exit: nothing was allocated in between */
    finish(t, true);
    assert_int_equal(bytes_at(t, "step", VS_KIND_OPTIMIZER_STATE), MIB);
    end(t);
}

TEST(forward_code_inside_a_step_is_forward_code)
{
    struct trace *t = begin();
    uint64_t saved = ALLOC(t, MAIN, MIB, "Net.forward /home/u/net.py", "closure /home/u/train.py",
                           "LBFGS.step " TORCH "optim/lbfgs.py", "main /home/u/train.py");
    moment(t, "step");
    ALLOC(t, ENGINE, MIB, BACKWARD);
    drop(t, ENGINE, saved);
    finish(t, true);
    assert_int_equal(bytes_at(t, "step", VS_KIND_ACTIVATIONS), MIB);
    end(t);
}

TEST(the_operation_tells_inputs_from_the_users_computations)
{
    struct trace *t = begin();
    uint64_t average;
    ALLOC(t, MAIN, MIB, MAKE_INPUT);
    ALLOC(t, MAIN, 2 * MIB, "@torch::autograd::THPVariable_cuda(_object*)", "main /home/u/train.py");
    average = ALLOC(t, MAIN, 4 * MIB, "@torch::autograd::THPVariable_clone(_object*)", "main /home/u/train.py");
    ALLOC(t, MAIN, 8 * MIB, "fetch " TORCH "utils/data/_utils/fetch.py", "main /home/u/train.py");
    moment(t, "begin");
    for (int step = 0; step < 2; step++) {
        uint64_t loss = ALLOC(t, MAIN, MIB, "@torch::autograd::THPVariable_mul(_object*)",
                              "main /home/u/train.py");
        moment(t, step ? "second" : "first");
        ALLOC(t, ENGINE, MIB, BACKWARD);
        drop(t, ENGINE, loss);
        ALLOC(t, MAIN, MIB, INIT_GROUP);
    }
    drop(t, MAIN, average);
    finish(t, true);
    assert_int_equal(bytes_at(t, "begin", VS_KIND_INPUTS), 11 * MIB);
    assert_int_equal(bytes_at(t, "begin", VS_KIND_OTHER), 4 * MIB); /* kept over the steps */
    assert_int_equal(bytes_at(t, "first", VS_KIND_ACTIVATIONS), MIB);
    end(t);
}

TEST(without_names_data_is_what_comes_before_forward)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, MAKE_INPUT);
    ALLOC(t, MAIN, MIB, FORWARD);
    uint64_t loss = ALLOC(t, MAIN, 2 * MIB, "@torch::autograd::THPVariable_mul(_object*)",
                          "main /home/u/train.py");
    moment(t, "forward");
    drop(t, MAIN, loss);
    finish(t, false);
    struct vs_kinds_table table = ask(t, (struct vs_kinds_query){.event = event_of(t, "forward")});
    assert_int_equal(table.kinds[VS_KIND_INPUTS].bytes, MIB);
    assert_int_equal(table.kinds[VS_KIND_TEMPORARIES].bytes, 2 * MIB);
    assert_true(table.assumed_bytes >= MIB);
    end(t);
}

TEST(scratch_memory_of_libraries_is_workspaces)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, 2 * MIB, "@at::cuda::getCUDABlasLtWorkspace()", FORWARD);
    ALLOC(t, ENGINE, MIB, "@at::cuda::allocateCUDABlasWorkspace(unsigned long)", BACKWARD);
    ALLOC(t, MAIN, MIB, "@at::native::raw_cudnn_convolution_forward_out(int)", FORWARD);
    finish(t, true);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_WORKSPACES), 4 * MIB);
    end(t);
}

TEST(repeated_forward_code_makes_activations)
{
    struct trace *t = begin();
    ALLOC(t, ENGINE, MIB, BACKWARD);
    uint64_t saved = ALLOC(t, ENGINE, 2 * MIB, "Net.forward /home/u/net.py",
                           "recompute_fn " TORCH "utils/checkpoint.py", BACKWARD);
    uint64_t passing = ALLOC(t, ENGINE, MIB, "Net.forward /home/u/net.py",
                             "recompute_fn " TORCH "utils/checkpoint.py", BACKWARD);
    moment(t, "again");
    drop(t, ENGINE, passing);
    ALLOC(t, ENGINE, MIB, BACKWARD);
    drop(t, ENGINE, saved);
    finish(t, true);
    assert_int_equal(bytes_at(t, "again", VS_KIND_ACTIVATIONS), 2 * MIB);
    end(t);
}

TEST(a_class_with_forward_makes_parameters)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, "Scale.__init__ /home/u/net.py", "main /home/u/train.py");
    ALLOC(t, MAIN, 2 * MIB, "Data.__init__ /home/u/data.py", "main /home/u/train.py");
    moment(t, "made");
    ALLOC(t, MAIN, MIB, "Scale.forward /home/u/net.py", "main /home/u/train.py");
    finish(t, true);
    assert_int_equal(bytes_at(t, "made", VS_KIND_PARAMETERS), MIB);
    assert_int_equal(bytes_at(t, "made", VS_KIND_INPUTS), 2 * MIB);
    end(t);
}

TEST(wrappers_for_several_devices_have_buckets_and_gathered_parameters)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, "DistributedDataParallel._ddp_init_helper " TORCH "nn/parallel/distributed.py",
          "DistributedDataParallel.__init__ " TORCH "nn/parallel/distributed.py", "main /home/u/train.py");
    ALLOC(t, MAIN, 4 * MIB, "distribute_tensor " TORCH "distributed/tensor/_api.py",
          "ColwiseParallel._partition_linear_fn " TORCH "distributed/tensor/parallel/style.py",
          "distribute_module " TORCH "distributed/tensor/_api.py", "main /home/u/train.py");
    uint64_t gathered = ALLOC(t, MAIN, 2 * MIB, "alloc_storage " TORCH "distributed/fsdp/_fully_shard/_fsdp_param.py",
          "FSDPParam.alloc_all_gather_outputs " TORCH "distributed/fsdp/_fully_shard/_fsdp_param.py", FORWARD);
    moment(t, "forward");
    ALLOC(t, ENGINE, MIB, BACKWARD);
    drop(t, ENGINE, gathered);
    finish(t, true);
    assert_int_equal(bytes_at(t, "forward", VS_KIND_GRADIENTS), MIB);
    assert_int_equal(bytes_at(t, "forward", VS_KIND_PARAMETERS), 4 * MIB);
    assert_int_equal(bytes_at(t, "forward", VS_KIND_TEMPORARIES), 2 * MIB);
    end(t);
}

TEST(hooks_on_the_engines_thread_do_not_hide_it)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, FORWARD);
    drop(t, ENGINE, ALLOC(t, ENGINE, MIB, "foreach_all_gather " TORCH "distributed/fsdp/_fsdp_collectives.py"));
    uint64_t gradient = ALLOC(t, ENGINE, 2 * MIB, BACKWARD);
    moment(t, "backward");
    ALLOC(t, MAIN, MIB, INIT_GROUP);
    drop(t, MAIN, gradient);
    finish(t, true);
    assert_int_equal(bytes_at(t, "backward", VS_KIND_GRADIENTS), 2 * MIB);
    end(t);
}

TEST(stacks_without_python_are_unknown)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, "@at::_ops::empty::call(int)");
    alloc_at(t, MAIN, MIB, 0);
    ALLOC(t, ENGINE, MIB, BACKWARD); /* its frames tell without Python */
    finish(t, true);
    struct vs_kinds_table table = ask(t, (struct vs_kinds_query){0});
    assert_int_equal(table.kinds[VS_KIND_UNKNOWN].bytes, 2 * MIB);
    assert_non_null(strstr(vs_kinds_note(&table), "no Python stacks"));
    end(t);
}

TEST(a_thread_without_python_code_is_the_engine_where_others_have_some)
{
    struct trace *t = begin();
    uint64_t saved = ALLOC(t, MAIN, MIB, FORWARD);
    moment(t, "forward");
    uint64_t gradient = alloc_at(t, ENGINE, 2 * MIB, 0);
    drop(t, ENGINE, saved);
    ALLOC(t, MAIN, MIB, INIT_GROUP);
    moment(t, "step");
    drop(t, MAIN, gradient);
    finish(t, false);
    assert_int_equal(bytes_at(t, "forward", VS_KIND_ACTIVATIONS), MIB);
    struct vs_kinds_table table = ask(t, (struct vs_kinds_query){.event = event_of(t, "step")});
    assert_int_equal(table.kinds[VS_KIND_GRADIENTS].bytes, 2 * MIB);
    assert_int_equal(table.assumed_bytes, 2 * MIB);
    end(t);
}

TEST(after_a_failure_forward_blocks_are_activations_unless_their_stack_says_otherwise)
{
    struct trace *t = begin();
    uint64_t passing = ALLOC(t, MAIN, MIB, "gelu " TORCH "nn/functional.py", FORWARD);
    drop(t, MAIN, passing); /* the stack's blocks are temporaries */
    ALLOC(t, ENGINE, MIB, BACKWARD);
    ALLOC(t, MAIN, MIB, INIT_GROUP);
    uint64_t saved = ALLOC(t, MAIN, 2 * MIB, FORWARD);
    passing = ALLOC(t, MAIN, 4 * MIB, "gelu " TORCH "nn/functional.py", FORWARD);
    fail_alloc(t);
    moment(t, "failure");
    drop(t, MAIN, saved); /* by the exception */
    drop(t, MAIN, passing);
    finish(t, true);
    struct vs_kinds_table table = ask(t, (struct vs_kinds_query){.event = event_of(t, "failure")});
    assert_int_equal(table.kinds[VS_KIND_ACTIVATIONS].bytes, 2 * MIB);
    assert_int_equal(table.kinds[VS_KIND_TEMPORARIES].bytes, 4 * MIB);
    assert_int_equal(table.assumed_bytes, 6 * MIB);
    end(t);
}

TEST(after_a_failure_in_backward_sizes_of_parameters_are_gradients)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, 3 * MIB, MAKE_PARAMETER);
    ALLOC(t, ENGINE, 3 * MIB, BACKWARD);
    ALLOC(t, ENGINE, 5 * MIB, BACKWARD);
    fail_alloc(t);
    moment(t, "failure");
    ALLOC(t, MAIN, MIB, FORWARD); /* the exception still holds them */
    finish(t, true);
    assert_int_equal(bytes_at(t, "failure", VS_KIND_GRADIENTS), 3 * MIB);
    assert_int_equal(bytes_at(t, "failure", VS_KIND_TEMPORARIES), 5 * MIB);
    end(t);
}

TEST(gradients_of_earlier_passes_stay_gradients_at_a_failure)
{
    struct trace *t = begin();
    ALLOC(t, ENGINE, 3 * MIB, BACKWARD);
    ALLOC(t, MAIN, MIB, FORWARD);
    ALLOC(t, ENGINE, 5 * MIB, BACKWARD);
    fail_alloc(t);
    moment(t, "failure");
    finish(t, true);
    assert_int_equal(bytes_at(t, "failure", VS_KIND_GRADIENTS), 3 * MIB);
    end(t);
}

TEST(inference_keeps_results_and_caches_as_activations)
{
    struct trace *t = begin();
    uint64_t cache = ALLOC(t, MAIN, 2 * MIB, FORWARD), passing = ALLOC(t, MAIN, MIB, FORWARD);
    moment(t, "call");
    drop(t, MAIN, passing);
    ALLOC(t, MAIN, MIB, MAKE_INPUT);
    drop(t, MAIN, cache);
    finish(t, true);
    assert_int_equal(bytes_at(t, "call", VS_KIND_ACTIVATIONS), 2 * MIB);
    assert_int_equal(bytes_at(t, "call", VS_KIND_TEMPORARIES), MIB);
    end(t);
}

/* A training step as an imported snapshot has it: all events are of one thread, which is not the
 * process's main one. The optimizer is the program's own. */
static struct trace *imported_step(void)
{
    struct trace *t = begin();
    vs_builder_event(&t->b, (struct vs_event){.kind = VS_EVENT_process}); /* pid 0: not known */
    ALLOC(t, 1, MIB, FORWARD);
    ALLOC(t, 1, 2 * MIB, "@torch::autograd::AccumulateGrad::apply(int)", BACKWARD);
    drop(t, 1, ALLOC(t, 1, MIB, BACKWARD));
    for (int i = 0; i < 4; i++) { /* most of the line's memory is temporary */
        drop(t, 1, ALLOC(t, 1, 8 * MIB, "AdamW.step /home/u/optimizer.py", "main /home/u/train.py"));
        ALLOC(t, 1, MIB, "AdamW.step /home/u/optimizer.py", "main /home/u/train.py");
    }
    return t;
}

TEST(memory_that_an_imported_step_keeps_is_not_temporary)
{
    struct trace *t = imported_step();
    finish_as(t, true, VS_END_IMPORTED);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_ACTIVATIONS), MIB);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_GRADIENTS), 2 * MIB);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_OPTIMIZER_STATE), 4 * MIB);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_TEMPORARIES), 0);
    end(t);
}

TEST(an_imported_step_that_failed_is_not_taken_for_a_whole_one)
{
    struct trace *t = imported_step();
    fail_alloc(t);
    finish_as(t, true, VS_END_IMPORTED);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_GRADIENTS), 2 * MIB);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_OPTIMIZER_STATE), 0);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_TEMPORARIES), 4 * MIB);
    end(t);
}

/* Without a backward pass or a later step nothing decides about it. */
TEST(memory_that_an_imported_record_keeps_for_an_unknown_purpose_is_other)
{
    struct trace *t = begin();
    vs_builder_event(&t->b, (struct vs_event){.kind = VS_EVENT_process});
    drop(t, 1, ALLOC(t, 1, 8 * MIB, "average /home/u/train.py"));
    ALLOC(t, 1, MIB, FORWARD);
    drop(t, 1, ALLOC(t, 1, 8 * MIB, "@THPVariable_mul", "average /home/u/train.py"));
    ALLOC(t, 1, 2 * MIB, "@THPVariable_mul", "average /home/u/train.py");
    finish_as(t, true, VS_END_IMPORTED);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_OTHER), 2 * MIB);
    assert_int_equal(bytes_at(t, NULL, VS_KIND_TEMPORARIES), 0);
    end(t);
}

TEST(a_table_lists_its_blocks_by_address)
{
    struct trace *t = begin();
    uint64_t first = ALLOC(t, MAIN, MIB, MAKE_PARAMETER), saved = ALLOC(t, MAIN, 2 * MIB, FORWARD);
    uint64_t made = ALLOC(t, ENGINE, 4 * MIB, BACKWARD);
    drop(t, ENGINE, saved);
    drop(t, ENGINE, made);
    finish(t, true);
    struct vs_kinds_table table = ask(t, (struct vs_kinds_query){.event = VS_KINDS_PEAK, .blocks = true});
    enum vs_kind order[VS_KIND_COUNT];
    assert_int_equal(table.total.bytes, 7 * MIB);
    assert_int_equal(table.block_count, 3);
    assert_int_equal(vs_kinds_find(&table, 0, first)->kind, VS_KIND_PARAMETERS);
    assert_int_equal(vs_kinds_find(&table, 0, saved)->kind, VS_KIND_ACTIVATIONS);
    assert_int_equal(vs_kinds_find(&table, 0, made)->kind, VS_KIND_TEMPORARIES);
    assert_null(vs_kinds_find(&table, 1, made));
    assert_null(vs_kinds_find(&table, 0, made + 1));
    assert_int_equal(vs_kinds_order(&table, order), 3);
    assert_int_equal(order[0], VS_KIND_TEMPORARIES);
    assert_int_equal(order[2], VS_KIND_PARAMETERS);
    vs_kinds_table_free(&table);
    end(t);
}

TEST(moments_are_answered_in_the_order_of_the_queries)
{
    struct trace *t = begin();
    ALLOC(t, MAIN, MIB, MAKE_PARAMETER);
    moment(t, "one");
    ALLOC(t, MAIN, MIB, MAKE_PARAMETER);
    finish(t, true);
    uint64_t one = event_of(t, "one");
    struct vs_kinds_query queries[] = {{.event = VS_KINDS_END}, {.event = one}, {.event = UINT64_MAX - 1},
                                       {.device = 7}, {.device = VS_KINDS_ALL_DEVICES, .event = one}};
    struct vs_kinds_table tables[5];
    assert_int_equal(vs_kinds_read(t->reader, t->symbols, queries, 5, tables), VS_OK);
    assert_int_equal(tables[0].total.bytes, 2 * MIB);
    assert_int_equal(tables[1].total.bytes, MIB);
    assert_int_equal(tables[1].event, one);
    assert_int_equal(tables[2].event, 0); /* beyond the end */
    assert_int_equal(tables[3].total.count, 0);
    assert_int_equal(tables[4].total.bytes, MIB);
    end(t);
}

TEST(tensors_without_events_are_unknown)
{
    struct trace *t = begin();
    struct vs_event e = {.kind = VS_EVENT_unrecorded};
    e.unrecorded.level = VS_LEVEL_FRAMEWORK;
    e.unrecorded.allocs = 3;
    e.unrecorded.size = 3 * MIB;
    e.unrecorded.freed_size = MIB;
    vs_builder_event(&t->b, e);
    ALLOC(t, MAIN, MIB, MAKE_PARAMETER);
    finish(t, true);
    struct vs_kinds_table table = ask(t, (struct vs_kinds_query){0});
    assert_int_equal(table.kinds[VS_KIND_UNKNOWN].bytes, 2 * MIB);
    assert_int_equal(table.total.bytes, 3 * MIB);
    assert_non_null(strstr(vs_kinds_note(&table), "--sample"));
    end(t);
}

/* Every rule is reached by each of its words: no earlier rule hides it. */
TEST(every_rule_names_its_maker)
{
    static const struct {
        const char *path, *words;
        enum vs_maker maker;
    } rules[] = {
#define VS_MAKER_RULE(path, function, maker) {path, function, VS_MAKER_##maker},
#include "analysis/kinds/maker_table.h"
#undef VS_MAKER_RULE
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *words = *rules[i].words ? rules[i].words : "some_function";
        for (const char *at = words; *at;) {
            size_t n = strcspn(at, " "), length = strlen(rules[i].path);
            struct trace *t = begin();
            struct vs_makers *makers;
            char frame[200];
            uint32_t index;
            snprintf(frame, sizeof frame, "Some.%.*s /env/site-packages%s%s", (int)n, at, rules[i].path,
                     rules[i].path[length - 1] == '/' ? "file.py" : "");
            ALLOC(t, MAIN, MIB, frame, "main /home/u/train.py");
            finish(t, true);
            struct vs_event e;
            uint64_t stack = 0;
            while (vs_reader_next(t->reader, &e) == VS_OK)
                stack = e.kind == VS_EVENT_framework_alloc ? e.framework_alloc.stack : stack;
            vs_makers_open(t->reader, NULL, &makers);
            assert_int_equal(vs_makers_site(makers, stack, &index), VS_OK);
            enum vs_maker wanted = rules[i].maker ? rules[i].maker : VS_MAKER_LIBRARY;
            if (vs_makers_row(makers, index)->maker != wanted)
                fail_msg("%s is of maker %d, not %d", frame, vs_makers_row(makers, index)->maker, wanted);
            vs_makers_close(makers);
            end(t);
            at += n + (at[n] == ' ');
        }
    }
}
