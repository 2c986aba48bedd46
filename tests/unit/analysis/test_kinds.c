/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of tensors, with traces of known stacks. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/kinds/kinds.h"
#include "analysis/naming/maker.h"
#include "support/trace_text.h"
#include "trace/read/rewrite.h"
#include "trace/symbols/symbol_set.h"

#define TORCH "/env/lib/python3.11/site-packages/torch/"

/* The main thread, and one of the autograd engine. */
#define MAIN "thread 0; "
#define ENGINE "thread 758; "
/* The frames of usual stacks. */
#define USER "main /home/u/train.py; "
#define APPLY "Module._apply " TORCH "nn/modules/module.py < " USER
#define LINEAR "linear " TORCH "nn/functional.py < Linear.forward " TORCH "nn/modules/linear.py < " \
               "Net.forward /home/u/net.py < " USER
#define EVALUATE "@torch::autograd::Engine::evaluate_function(int); "
/* What is allocated next, by the thread that does so. */
#define MAKE_PARAMETER MAIN "at " APPLY
#define FORWARD MAIN "at " LINEAR
#define GELU MAIN "at gelu " TORCH "nn/functional.py < " LINEAR
#define BACKWARD ENGINE "at " EVALUATE
#define INIT_GROUP MAIN "at Adam._init_group " TORCH "optim/adam.py < Adam.step " TORCH "optim/adam.py < " \
                   "Optimizer.profile_hook_step.<locals>.wrapper " TORCH "optim/optimizer.py < " USER
#define STEP MAIN "at _multi_tensor_sgd " TORCH "optim/sgd.py < SGD.step " TORCH "optim/sgd.py < " USER
#define MAKE_INPUT MAIN "at @torch::autograd::THPVariable_randn(_object*) < " USER
#define MULTIPLY MAIN "at @torch::autograd::THPVariable_mul(_object*) < " USER
#define RECOMPUTE ENGINE "at Net.forward /home/u/net.py < recompute_fn " TORCH "utils/checkpoint.py < " EVALUATE
#define FSDP TORCH "distributed/fsdp/_fully_shard/_fsdp_param.py < "
#define DDP TORCH "nn/parallel/distributed.py < "
#define ZERO "/v/lib/python3.11/site-packages/deepspeed/runtime/zero/stage3.py < "

static struct vs_builder b;
static struct vs_reader *reader;
static struct vs_symbols *symbols;

static void begin(void)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 80K GPU");
}

static void write_names(void)
{
    struct vs_symbol_set set = {.budget = 1 << 20};
    struct vs_rewrite *rewrite = NULL;
    unsigned char payload[16384];
    char why[VS_READER_WHY_MAX];
    size_t next = 0, bytes = 0;
    unsigned library = 0;
    while (strcmp(b.functions[library], "@" VS_BUILDER_LIBRARY) != 0)
        library++;
    for (unsigned i = 0; i < b.native_count; i++) {
        struct vs_symbol symbol = {.function = b.natives[i], .file = "", .known = 1};
        assert_int_equal(vs_symbol_set_put(&set, library, 16 * (i + 1), VS_LEVEL_TABLE, &symbol, 1), VS_OK);
    }
    assert_int_equal(vs_symbol_set_encode(&set, &next, payload, sizeof payload, &bytes), VS_OK);
    assert_int_equal(vs_rewrite_open(b.path, NULL, 0, &rewrite, why), VS_OK);
    assert_int_equal(vs_rewrite_add(rewrite, VS_FRAME_SYMBOLS, 0, 0, payload, bytes), VS_OK);
    assert_int_equal(vs_rewrite_commit(rewrite, why), VS_OK);
    vs_symbol_set_free(&set);
}

static void finish(bool names, enum vs_end_reason reason)
{
    char why[VS_READER_WHY_MAX];
    vs_builder_close(&b, reason, 0);
    if (names && b.native_count)
        write_names();
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    if (names)
        symbols = vs_symbols_open(reader);
}

/* The reading of a whole trace. */
static void record(bool names, const char *text)
{
    begin();
    vs_trace(&b, "%s", text);
    finish(names, VS_END_EXIT);
}

AFTER(end)
{
    vs_symbols_close(symbols);
    vs_reader_close(reader);
    symbols = NULL;
    reader = NULL;
    return 0;
}

/* The number of the mark *name*, as a query's event. */
static uint64_t event_of(const char *name)
{
    struct vs_event e;
    vs_reader_rewind(reader);
    for (uint64_t n = 1; vs_reader_next(reader, &e) == VS_OK; n++)
        if (e.kind == VS_EVENT_mark && strcmp(vs_reader_string(reader, e.mark.name), name) == 0)
            return n;
    fail_msg("no mark %s", name);
    return 0;
}

static struct vs_kinds_table ask(struct vs_kinds_query query)
{
    struct vs_kinds_table table;
    assert_int_equal(vs_kinds_read(reader, symbols, &query, 1, &table), VS_OK);
    return table;
}

/* MiB of each kind that *kinds* names at the mark *point*, or at the end of the trace for "end":
 * "activations 2, temporaries 1". */
static void expect_kinds(const char *point, const char *kinds)
{
    uint64_t event = strcmp(point, "end") ? event_of(point) : VS_KINDS_END, sum = 0;
    struct vs_kinds_table table = ask((struct vs_kinds_query){.event = event});
    for (int k = 0; k < VS_KIND_COUNT; k++)
        sum += table.kinds[k].bytes;
    assert_int_equal(sum, table.total.bytes);
    for (const char *at = kinds; *at; at += strspn(at, ", ")) {
        size_t size = strcspn(at, "0123456789") - 1;
        char *after;
        uint64_t expected = strtoull(at + size, &after, 10) * MIB;
        int kind = 0;
        while (kind < VS_KIND_COUNT && (strlen(vs_kind_name(kind)) != size || strncmp(vs_kind_name(kind), at, size)))
            kind++;
        assert_true(kind < VS_KIND_COUNT);
        if (table.kinds[kind].bytes != expected)
            fail_msg("%s: %.*s %llu bytes, not %llu", point, (int)size, at,
                     (unsigned long long)table.kinds[kind].bytes, (unsigned long long)expected);
        at = after;
    }
}

/* What a trace has at two points at the most. */
static const struct kinds_case {
    const char *name, *trace, *points[2][2];
} cases[] = {
    {"memory of modules is parameters",
     MAKE_PARAMETER "tensor 0 1M; at Linear.__init__ " TORCH "nn/modules/linear.py < Net.__init__ /home/u/net.py; "
     "tensor 1 1M; at Parameter.__deepcopy__ " TORCH "nn/parameter.py < " USER "tensor 2 1M; "
     "at load_file /env/lib/python3.11/site-packages/safetensors/torch.py; tensor 3 1M",
     {{"end", "parameters 4"}}},
    {"a forward block that backward needs is an activation",
     FORWARD "tensor 0 2M; tensor 2 1M; mark forward; drop 2; " BACKWARD "tensor 3 1M; " MAIN "mark backward; "
     ENGINE "drop 0; drop 3",
     {{"forward", "activations 2, temporaries 1"}, {"backward", "temporaries 1"}}},
    {"a KV cache is an activation, also where a constructor allocates it",
     MAIN "at allocate_kv_cache /env/lib/python3.11/site-packages/vllm/v1/worker/utils.py < Core.__init__ /v/core.py; "
     "tensor 0 2M; mark start; drop 0",
     {{"start", "activations 2"}}},
    {"the engine's first free begins backward",
     BACKWARD "tensor 0 1M; drop 0; " FORWARD "tensor 1 1M; tensor 2 1M; mark forward; " ENGINE "drop 1; drop 2",
     {{"forward", "activations 2"}}},
    {"what outlives backward is a gradient", /* the calling thread goes on */
     FORWARD "tensor 0 1M; " BACKWARD "tensor 1 2M; tensor 3 1M; " MAIN "mark backward; " ENGINE "drop 3; "
     INIT_GROUP "tensor 4 1M; mark step; drop 1",
     {{"backward", "gradients 2, temporaries 1"}, {"step", "gradients 2"}}},
    {"a gradient that the main thread frees first is one", /* zero_grad, after a step without allocations */
     FORWARD "tensor 0 1M; " BACKWARD "tensor 1 2M; " MAIN "mark backward; drop 1",
     {{"backward", "gradients 2"}}},
    {"what outlives the optimizer's step is its state",
     STEP "tensor 0 2M; tensor 2 1M; " INIT_GROUP "tensor 3 1M; mark step; drop 2; " FORWARD "tensor 4 1M; "
     "drop 0; drop 3",
     {{"step", "optimizer state 3, temporaries 1"}}},
    {"a marked phase ends the optimizer's step", /* freed at exit: nothing was allocated in between */
     STEP "tensor 0 1M; mark step; push forward; drop 0",
     {{"step", "optimizer state 1"}}},
    {"forward code inside a step is forward code",
     MAIN "at Net.forward /home/u/net.py < closure /home/u/train.py < LBFGS.step " TORCH "optim/lbfgs.py < " USER
     "tensor 0 1M; mark step; " BACKWARD "tensor 1 1M; drop 0",
     {{"step", "activations 1"}}},
    {"the operation tells inputs from the user's computations", /* tensor 3 is kept over the steps */
     MAKE_INPUT "tensor 0 1M; at @torch::autograd::THPVariable_cuda(_object*) < " USER "tensor 1 2M; "
     "at @torch::autograd::THPVariable_clone(_object*) < " USER "tensor 3 4M; "
     "at fetch " TORCH "utils/data/_utils/fetch.py < " USER "tensor 7 8M; mark begin; "
     MULTIPLY "tensor 15 1M; mark first; " BACKWARD "tensor 16 1M; drop 15; " INIT_GROUP "tensor 17 1M; "
     MULTIPLY "tensor 18 1M; mark second; " BACKWARD "tensor 19 1M; drop 18; " INIT_GROUP "tensor 20 1M; drop 3",
     {{"begin", "inputs 11, other 4"}, {"first", "activations 1"}}},
    {"scratch memory of libraries is workspaces",
     MAIN "at @at::cuda::getCUDABlasLtWorkspace() < " LINEAR "tensor 0 2M; "
     "at @at::native::raw_cudnn_convolution_forward_out(int) < " LINEAR "tensor 2 1M; "
     ENGINE "at @at::cuda::allocateCUDABlasWorkspace(unsigned long) < " EVALUATE "tensor 3 1M",
     {{"end", "workspaces 4"}}},
    {"repeated forward code makes activations",
     BACKWARD "tensor 0 1M; " RECOMPUTE "tensor 1 2M; tensor 3 1M; " MAIN "mark again; " ENGINE "drop 3; "
     BACKWARD "tensor 4 1M; drop 1",
     {{"again", "activations 2"}}},
    {"a class with forward makes parameters",
     MAIN "at Scale.__init__ /home/u/net.py < " USER "tensor 0 1M; at Data.__init__ /home/u/data.py < " USER
     "tensor 1 2M; mark made; at Scale.forward /home/u/net.py < " USER "tensor 3 1M",
     {{"made", "parameters 1, inputs 2"}}},
    {"wrappers for several devices have buckets and gathered parameters",
     MAIN "at DistributedDataParallel._ddp_init_helper " DDP "DistributedDataParallel.__init__ " DDP USER
     "tensor 0 1M; at DeepSpeedZeroOptimizer_Stage3._setup_for_real_optimizer " ZERO
     "DeepSpeedZeroOptimizer_Stage3.__init__ " ZERO USER "tensor 8 2M; at distribute_tensor " TORCH "distributed/tensor/_api.py < "
     "ColwiseParallel._partition_linear_fn " TORCH "distributed/tensor/parallel/style.py < "
     "distribute_module " TORCH "distributed/tensor/_api.py < " USER "tensor 1 4M; "
     "at alloc_storage " FSDP "FSDPParam.alloc_all_gather_outputs " FSDP LINEAR "tensor 5 2M; mark forward; "
     BACKWARD "tensor 7 1M; drop 5",
     {{"forward", "gradients 3, parameters 4, temporaries 2"}}},
    {"hooks on the engine's thread do not hide it",
     FORWARD "tensor 0 1M; " ENGINE "at foreach_all_gather " TORCH "distributed/fsdp/_fsdp_collectives.py; "
     "tensor 1 1M; drop 1; " BACKWARD "tensor 2 2M; " MAIN "mark backward; " INIT_GROUP "tensor 4 1M; drop 2",
     {{"backward", "gradients 2"}}},
    {"after a failure in backward sizes of parameters are gradients", /* the exception still holds them */
     MAKE_PARAMETER "tensor 0 3M; " BACKWARD "tensor 3 3M; tensor 6 5M; raise 0; " MAIN "mark failure; "
     FORWARD "tensor 11 1M",
     {{"failure", "gradients 3, temporaries 5"}}},
    {"gradients of earlier passes stay gradients at a failure",
     BACKWARD "tensor 0 3M; " FORWARD "tensor 3 1M; " BACKWARD "tensor 4 5M; raise 0; " MAIN "mark failure",
     {{"failure", "gradients 3"}}},
    {"inference keeps results and caches as activations",
     FORWARD "tensor 0 2M; tensor 2 1M; mark call; drop 2; " MAKE_INPUT "tensor 3 1M; drop 0",
     {{"call", "activations 2, temporaries 1"}}},
};

TEST(stacks_and_fates_say_the_kind)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct kinds_case *c = &cases[i];
        print_message("%s\n", c->name);
        record(true, c->trace);
        for (size_t k = 0; k < 2 && c->points[k][0]; k++)
            expect_kinds(c->points[k][0], c->points[k][1]);
        end(NULL);
    }
}

TEST(without_names_data_is_what_comes_before_forward)
{
    record(false, MAKE_INPUT "tensor 0 1M; " FORWARD "tensor 1 1M; " MULTIPLY "tensor 2 2M; mark forward; drop 2");
    expect_kinds("forward", "inputs 1, temporaries 2");
    assert_true(ask((struct vs_kinds_query){.event = event_of("forward")}).assumed_bytes >= MIB);
}

TEST(stacks_without_python_are_unknown)
{
    record(true, MAIN "at @at::_ops::empty::call(int); tensor 0 1M; at; tensor 1 1M; "
                 BACKWARD "tensor 2 1M"); /* its frames tell without Python */
    expect_kinds("end", "unknown 2");
    struct vs_kinds_table table = ask((struct vs_kinds_query){0});
    assert_non_null(strstr(vs_kinds_note(&table), "no Python stacks"));
}

TEST(a_thread_without_python_code_is_the_engine_where_others_have_some)
{
    record(false, FORWARD "tensor 0 1M; mark forward; " ENGINE "at; tensor 1 2M; drop 0; "
                  INIT_GROUP "tensor 3 1M; mark step; drop 1");
    expect_kinds("forward", "activations 1");
    expect_kinds("step", "gradients 2");
    assert_int_equal(ask((struct vs_kinds_query){.event = event_of("step")}).assumed_bytes, 2 * MIB);
}

TEST(after_a_failure_forward_blocks_are_activations_unless_their_stack_says_otherwise)
{
    record(true, GELU "tensor 0 1M; drop 0; " /* the stack's blocks are temporaries */
                 BACKWARD "tensor 1 1M; " INIT_GROUP "tensor 2 1M; " FORWARD "tensor 3 2M; " GELU "tensor 5 4M; "
                 "raise 0; mark failure; drop 3; drop 5"); /* by the exception */
    expect_kinds("failure", "activations 2, temporaries 4");
    assert_int_equal(ask((struct vs_kinds_query){.event = event_of("failure")}).assumed_bytes, 6 * MIB);
}

/* A training step as an imported snapshot has it: all events are of one thread, which is not the
 * process's main one. The optimizer is the program's own; most of its line's memory is temporary. */
#define SNAPSHOT_THREAD "thread 1; at "
#define OPTIMIZER SNAPSHOT_THREAD "AdamW.step /home/u/optimizer.py < " USER
static const char imported_step[] =
    SNAPSHOT_THREAD LINEAR "tensor 0 1M; at @torch::autograd::AccumulateGrad::apply(int) < " EVALUATE "tensor 1 2M; "
    "at " EVALUATE "tensor 3 1M; drop 3; " OPTIMIZER "repeat 4 { tensor 9i+4 8M; drop 9i+4; tensor 9i+12 1M }; ";

static void import(const char *text, const char *more)
{
    begin();
    vs_builder_event(&b, EVENT(process)); /* pid 0: not known */
    vs_trace(&b, "%s%s", text, more);
    finish(true, VS_END_IMPORTED);
}

TEST(memory_that_an_imported_step_keeps_is_not_temporary)
{
    import(imported_step, "");
    expect_kinds("end", "activations 1, gradients 2, optimizer state 4, temporaries 0");
}

TEST(an_imported_step_that_failed_is_not_taken_for_a_whole_one)
{
    import(imported_step, "raise 0");
    expect_kinds("end", "gradients 2, optimizer state 0, temporaries 4");
}

/* Without a backward pass or a later step nothing decides about it. */
TEST(memory_that_an_imported_record_keeps_for_an_unknown_purpose_is_other)
{
    import(SNAPSHOT_THREAD "average /home/u/train.py; tensor 0 8M; drop 0; at " LINEAR "tensor 8 1M; ",
           "at @THPVariable_mul < average /home/u/train.py; tensor 9 8M; drop 9; tensor 17 2M");
    expect_kinds("end", "other 2, temporaries 0");
}

TEST(a_table_lists_its_blocks_by_address)
{
    record(true, MAKE_PARAMETER "tensor 0 1M; " FORWARD "tensor 1 2M; " BACKWARD "tensor 3 4M; mark peak; drop 1; drop 3");
    struct vs_kinds_table table = ask((struct vs_kinds_query){.event = event_of("peak"), .blocks = true});
    uint64_t first = VS_TRACE_ADDRESS, saved = first + MIB, made = saved + 2 * MIB;
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
}

TEST(points_are_answered_in_the_order_of_the_queries)
{
    record(true, MAKE_PARAMETER "tensor 0 1M; mark one; tensor 1 1M");
    uint64_t one = event_of("one");
    struct vs_kinds_query queries[] = {{.event = VS_KINDS_END}, {.event = one}, {.event = UINT64_MAX - 1},
                                       {.device = 7}};
    struct vs_kinds_table tables[4];
    assert_int_equal(vs_kinds_read(reader, symbols, queries, 4, tables), VS_OK);
    assert_int_equal(tables[0].total.bytes, 2 * MIB);
    assert_int_equal(tables[1].total.bytes, MIB);
    assert_int_equal(tables[1].event, one);
    assert_int_equal(tables[2].event, 0); /* beyond the end */
    assert_int_equal(tables[3].total.count, 0);
}

TEST(tensors_without_events_are_unknown)
{
    begin();
    vs_builder_event(&b, EVENT(unrecorded, .level = VS_LEVEL_FRAMEWORK, .allocs = 3,
                               .size = 3 * MIB, .freed_size = MIB));
    vs_trace(&b, MAKE_PARAMETER "tensor 0 1M");
    finish(true, VS_END_EXIT);
    struct vs_kinds_table table = ask((struct vs_kinds_query){0});
    assert_int_equal(table.kinds[VS_KIND_UNKNOWN].bytes, 2 * MIB);
    assert_int_equal(table.total.bytes, 3 * MIB);
    assert_non_null(strstr(vs_kinds_note(&table), "--sample"));
}

/* "model|path kind pass MiB" of every row at the mark *point*. */
static void expect_modules(const char *point, const char *expected)
{
    static const char *const passes[] = {"-", "forward", "backward", "recomputed"};
    struct vs_kinds_table table = ask((struct vs_kinds_query){.event = event_of(point), .blocks = true});
    struct vs_arena memory = {0};
    struct vs_module_rows rows;
    char text[1024] = "";
    vs_module_rows(&memory, &table, &rows);
    for (size_t i = 0; i < rows.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s|%s %s %s %u", i ? "\n" : "", rows.items[i].model,
                 rows.items[i].path, vs_kind_key(rows.items[i].kind), passes[rows.items[i].pass],
                 (unsigned)(rows.items[i].bytes / MIB));
    assert_string_equal(text, expected);
    assert_int_equal(rows.bytes, table.total.bytes);
    vs_kinds_table_free(&table);
    vs_arena_free_all(&memory);
}

TEST(tensors_belong_to_modules)
{
    record(true, MAKE_PARAMETER "tensor 0 1M; tensor 1 2M; run forward Net:; own 0 parameter Net:layers.0.fc.weight; "
           "own 1 parameter Net:layers.1.fc.weight; own 1 parameter Net:layers.10.fc.bias; " FORWARD
           "run forward Net:layers.0.fc; tensor 3 4M; run forward Net:; run none; " BACKWARD
           "run backward Net:layers.0.fc; tensor 7 1M; tensor 8 1M; mark peak; run recomputed Net:layers.0; tensor 9 1M; "
           "drop 9; run backward Net:; drop 8; run none; " MAIN "own 7 gradient Net:layers.0.fc.weight; drop 3; " STEP
           "tensor 10 1M; own 10 state Net:layers.0.fc.weight; mark late; tensor 11 1M; drop 11; " FORWARD "tensor 12 1M; "
           "own 12 parameter Net:scale; mark end; drop 12; drop 7");
    expect_modules("peak", "Net|layers parameters - 2\nNet|layers.0.fc parameters - 1\n"
                   "Net|layers.0.fc gradients backward 1\nNet|layers.0.fc activations forward 4\n"
                   "Net|layers.0.fc temporaries backward 1");
    expect_modules("late", "Net|layers parameters - 2\nNet|layers.0.fc parameters - 1\n"
                   "Net|layers.0.fc gradients backward 1\nNet|layers.0.fc optimizer_state - 1");
    expect_modules("end", "Net| parameters - 1\nNet|layers parameters - 2\nNet|layers.0.fc parameters - 1\n"
                   "Net|layers.0.fc gradients backward 1\nNet|layers.0.fc optimizer_state - 1");
}

/* Every rule is reached by each of its words: no earlier rule hides it. */
TEST(every_rule_names_its_maker)
{
    static const struct {
        const char *path, *words;
        enum vs_maker maker;
    } rules[] = {
#define VS_MAKER_RULE(path, function, maker) {path, function, VS_MAKER_##maker},
#include "analysis/naming/maker_table.h"
#undef VS_MAKER_RULE
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *words = *rules[i].words ? rules[i].words : "some_function";
        for (const char *at = words; *at;) {
            size_t n = strcspn(at, " "), length = strlen(rules[i].path);
            char text[400];
            snprintf(text, sizeof text, "at Some.%.*s /env/site-packages%s%s < " USER "tensor 0 1M", (int)n, at,
                     rules[i].path, rules[i].path[length - 1] == '/' ? "file.py" : "");
            record(true, text);
            struct vs_event e;
            uint64_t stack = 0;
            while (vs_reader_next(reader, &e) == VS_OK)
                stack = e.kind == VS_EVENT_framework_alloc ? e.framework_alloc.stack : stack;
            struct vs_makers *makers = vs_makers_open(reader, NULL);
            uint32_t index = vs_makers_site(makers, stack);
            enum vs_maker wanted = rules[i].maker ? rules[i].maker : VS_MAKER_LIBRARY;
            if (vs_makers_row(makers, index)->maker != wanted)
                fail_msg("%s is of maker %d, not %d", text, vs_makers_row(makers, index)->maker, wanted);
            vs_makers_close(makers);
            end(NULL);
            at += n + (at[n] == ' ');
        }
    }
}
