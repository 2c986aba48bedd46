/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of `vramscope report`, compared with files in tests/golden/text, which show what a user
 * reads. With the argument --write it writes the files. */
#include <stdio.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "support/cmocka_test.h"
#include "support/trace_text.h"
#include "viewer/report/report_text.h"

static struct vs_builder b;

#define GPU "device 1G Test GPU; "
#define WEIGHTS "at @/opt/demo/lib/libnccl.so.2 < load_weights 7 < main 40; "
#define LAYER(line) "at run_layer 12 < forward " #line " < main 41; "
#define LOG "at log_activation 17 < forward 32 < main 41; "
#define REFUSED "at refuse 22 < main 42; "
/* Six steps of forward and backward; what *kept* allocates stays. */
#define TRAINING(kept)                                                                            \
    GPU WEIGHTS "alloc 0 64M; repeat 6 { step i+1; push forward; " LAYER(31)                      \
    "alloc 1024i+1024 100M; " kept "pop; push backward; " LAYER(35) "alloc 1024i+204800 30M; "    \
    "free 1024i+1024; free 1024i+204800; pop; pop }; "
#define LEAK TRAINING(LOG "alloc 1024i+102400 16M; ") REFUSED "fail 900M free 3M"
#define SEGMENTS                                                                                  \
    GPU "repeat 3 { segment 1024i 20M }; segment 9216 2M stream 7 pool 1; " WEIGHTS               \
    "alloc 0 20M; " LAYER(31) "alloc 1024 5M; " LAYER(33) "alloc 1039 5M; " LAYER(34)             \
    "repeat 20 { alloc i+2048 256K }; at round_up 27 < main 43; alloc 9216 512K as 2M"
/* A phase that does not have the peak of the whole trace, and one before any memory. */
#define PHASES                                                                                    \
    GPU "push before; pop; segment 0 20M; " WEIGHTS "alloc 0 2M; push large; " LAYER(31)          \
    "alloc 2 16M; free 2; pop; push small; alloc 2 5M; free 2; pop"
/* Of three segments one is used in part, one is free. */
#define CACHED                                                                                    \
    GPU "at request_segment 37 < main 44; repeat 3 { segment 1024i 20M }; " WEIGHTS               \
    "alloc 0 20M; " LAYER(31) "alloc 1024 15M; " LOG "alloc 2048 20M; free 2048"
/* Segments that look the same. */
#define ALIKE(count, first, size)                                                                 \
    "repeat " #count " { at; segment 1024i+" #first " 20M; " LAYER(31) "alloc 1024i+" #first " "  \
    size " }; "
/* The first step begins before the program uses the device, and PyTorch before any tensor: its peak
 * is that of its tensor, and it keeps one that the later steps replace. */
#define FIRST_USE                                                                                 \
    "step 0; " GPU "alloc 0 40M; tensor 0 10M of 10M 40M; pop; step 1; tensor 20 10M of 20M "     \
    "40M; drop 0; pop; step 2; tensor 0 10M of 20M 40M; drop 20; pop"

/* The blocks of a model, and a fifth that is larger. */
#define TORCH "/e/lib/python3.11/site-packages/torch/"
#define MODULES                                                                                   \
    "device 1G Test GPU; alloc 0 400M; at Module._apply " TORCH "nn/modules/module.py < main /home/u/train.py; "  \
    "repeat 4 { tensor 10i 8M; tensor 10i+8 2M }; tensor 50 40M; tensor 100 9M; "                  \
    "own 0 parameter GPT:h.0.attn.weight; own 8 parameter GPT:h.0.mlp.weight; "                    \
    "own 10 parameter GPT:h.1.attn.weight; own 18 parameter GPT:h.1.mlp.weight; "                  \
    "own 20 parameter GPT:h.2.attn.weight; own 28 parameter GPT:h.2.mlp.weight; "                  \
    "own 30 parameter GPT:h.3.attn.weight; own 38 parameter GPT:h.3.mlp.weight; "                  \
    "own 50 parameter GPT:h.4.attn.weight; own 100 parameter GPT:scale; "                          \
    "at Net.forward /home/u/net.py < main /home/u/train.py; run forward GPT:h.4; tensor 110 6M; run none; tensor 120 1M"
/* names that come later, a second name for a tensor, and names as wide as their column */
#define MODELS \
    "device 1G Test GPU; alloc 0 400M; at Module._apply " TORCH "nn/modules/module.py < main /home/u/train.py; "  \
    "tensor 0 40M; tensor 50 101M; own 0 parameter D:a.weight; own 50 parameter Embedding:weight; "                \
    "own 50 renamed D:an_embedding_of_wordsx.weight; "                                                             \
    "at Net.forward /home/u/net.py < main /home/u/train.py; run forward G:a; tensor 170 6M; "                      \
    "run forward D:a-b; tensor 180 5M; run forward D:a.c; tensor 190 4M; "              \
    "run none; at @/opt/x/lib/libx.so.2; tensor 200 30M"

static char *text_of(const struct vs_report_wish *wish, uint64_t at, bool ascii)
{
    struct vs_reader *reader;
    struct vs_report *report;
    char why[VS_READER_WHY_MAX], *text = NULL;
    size_t size;
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    struct vs_time_window window = {.to = {.given = at != 0, .by_event = true, .value = at}};
    struct vs_report_options options = {.window = &window, .wish = wish};
    assert_int_equal(vs_report_build(reader, "trace.vst", &options, &report), VS_OK);
    report->trace_bytes = 0; /* not the same with every compressor */
    FILE *out = open_memstream(&text, &size);
    struct vs_style style = {.out = out, .ascii = ascii, .width = 80, .sites = 5, .kernels = 5};
    vs_report_text(report, 0, &style);
    fclose(out);
    vs_report_free(report);
    vs_reader_close(reader);
    return text;
}

static const struct {
    const char *name, *policy, *trace;
    struct vs_report_wish wish;
    uint64_t at; /* event; 0: the whole trace */
    bool ascii;
} cases[] = {
    {"training", "observe", TRAINING("") "free 0"},
    {"training_by_all", "observe", TRAINING("") "free 0", {.by = (1u << VS_BY_COUNT) - 1}},
    {"leak", "observe", LEAK},
    {"leak_by_step", "observe", LEAK, {.by = 1u << VS_BY_STEP | 1u << VS_BY_AGE}},
    {"leak_of_steps_2_and_3", "observe", LEAK,
     {.filter = {.steps = true, .step_from = 2, .step_to = 3, .min_bytes = MIB}}},
    {"moment", "observe", LEAK, .at = 13},
    {"moment_by_phase", "observe", LEAK, {.by = 1u << VS_BY_PHASE}, .at = 13},
    {"phase", "observe", LEAK, {.filter = {.phase = "step / forward"}}},
    {"phase_in_steps", "observe", LEAK,
     {.by = 1u << VS_BY_SITE | 1u << VS_BY_SIZE,
      .filter = {.phase = "forward", .steps = true, .step_from = 2, .step_to = 3}}},
    {"phase_map", "caching", PHASES, {.map = true, .filter = {.phase = "small"}}},
    {"phase_without_memory", "caching", PHASES, {.filter = {.phase = "before"}}},
    {"moment_cached", "caching", CACHED, .at = 17},
    {"moment_cached_by_site", "caching", CACHED, {.by = 1u << VS_BY_SITE}, .at = 17},
    {"segments", "caching", SEGMENTS},
    {"segments_map", "caching", SEGMENTS, {.map = true}},
    {"segments_map_ascii", "caching", SEGMENTS, {.map = true}, .ascii = true},
    {"equal_segments_map", "caching",
     GPU ALIKE(30, 0, "16M") ALIKE(1, 30720, "19M") ALIKE(10, 31744, "20M"), {.map = true}},
    {"allocations_map", "observe", TRAINING("") "free 0", {.map = true}},
    {"failures_storm", "observe",
     GPU WEIGHTS "alloc 0 512M; " REFUSED "repeat 333 { fail 600M free 3M; fail 601M free 3M; "
     "fail 602M free 3M }; fail 600M free 3M; " LAYER(31) "alloc 1024 8M"},
    {"failure_recovered", "observe", GPU REFUSED "fail 700M free 3M; " WEIGHTS "alloc 0 700M"},
    {"allocated_again_and_again", "observe",
     GPU "at make_scratch_buffer_for_the_convolution_of_one_layer 47 < main 45; "
     "repeat 4 { step i+1; repeat 50 { alloc 0 16M; free 0 }; pop }"},
    {"unused", "observe",
     GPU WEIGHTS "alloc 0 64M; kernel 7 1000000 500000 matmul; " LAYER(31) "alloc 1024 32M"},
    {"first_use_in_step", "observe", FIRST_USE},
    {"phase_of_tensors", "observe", FIRST_USE, {.filter = {.phase = "step"}}},
    {"tensors", "observe", GPU "alloc 0 20M; repeat 3 { tensor 6i 4M of 4i+4M 20M }",
     {.by = 1u << VS_BY_SITE | 1u << VS_BY_KIND | 1u << VS_BY_OP, .map = true}},
    {"tensors_by_module", "observe", MODULES, {.by = 1u << VS_BY_MODULE}},
    {"tensors_before_modules", "observe", MODELS, {.by = 1u << VS_BY_MODULE}, .at = 9},
    {"tensors_of_models", "observe", MODELS, {.by = 1u << VS_BY_MODULE}},
    {"tensors_without_modules", "observe", FIRST_USE, {.by = 1u << VS_BY_MODULE}},
};
#define CASES (sizeof cases / sizeof *cases)

static char *read_golden(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 65536);
    if (file) {
        size_t size = fread(text, 1, 65535, file);
        text[size] = 0;
        fclose(file);
    }
    return text;
}

static bool writing;

TEST(the_text_is_as_in_its_golden_file)
{
    for (size_t i = 0; i < CASES; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.txt", VS_GOLDEN_TEXT, cases[i].name);
        vs_builder_open(&b, cases[i].policy);
        b.tick_ns = 1000000;
        vs_trace(&b, "%s", cases[i].trace);
        vs_builder_close(&b, VS_END_EXIT, 0);
        char *text = text_of(&cases[i].wish, cases[i].at, cases[i].ascii);
        if (writing) {
            FILE *file = fopen(path, "w");
            assert_non_null(file);
            fputs(text, file);
            fclose(file);
        }
        char *golden = read_golden(path);
        if (strcmp(text, golden) != 0)
            fail_msg("%s differs; now it is:\n%s", path, text);
        free(golden);
        free(text);
    }
}

int main(int argc, char **argv)
{
    writing = argc > 1 && strcmp(argv[1], "--write") == 0;
    return vs_run_tests(NULL, NULL);
}
