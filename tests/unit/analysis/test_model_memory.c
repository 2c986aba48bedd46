/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a model from its description, against peaks of PyTorch 2.15 that
 * tests/torch/programs/transformer.py printed (docs/estimate.md), and growth from runs. */
#include "support/cmocka_test.h"
#include "analysis/estimate/model_memory.h"
#include "analysis/estimate/peak_scaling.h"

#define GI 1073741824.0 /* a GiB in sums of reals */

#define BASE .layers = 8, .width = 1024, .heads = 16, .vocab = 32000, .batch = 8, .sequence = 1024
#define LARGE .layers = 24, .width = 2048, .heads = 16, .vocab = 32000, .batch = 1, .sequence = 512

static const struct vs_model base = {BASE};

/* The three peaks in bytes; each within *percent*. */
static const struct peaks {
    const char *name;
    double peaks[VS_POINT_COUNT], percent;
    struct vs_model model;
} cases[] = {
    {"single precision", {8461583872, 9510094336, 3326845952}, 0.2, {BASE}},
    {"half the layers", {5707298304, 6755808768, 2319885312}, 0.2,
     {.layers = 4, .width = 1024, .heads = 16, .vocab = 32000, .batch = 8, .sequence = 1024}},
    {"sixteen bits", {5805331968, 6329554432, 1662407680}, 0.2, {BASE, .half = true}},
    {"dropout", {5939549696, 6463772160, 1662407680}, 0.2, {BASE, .half = true, .dropout = true}},
    {"math attention", {11312444928, 11836667392, 1662407680}, 0.2,
     {BASE, .half = true, .dropout = true, .math_attention = true}},
    {"autocast copies the input of each matrix", {7625344512, 8149566976, 3326845952}, 0.2,
     {BASE, .autocast = true}},
    {"gated MLPs and grouped heads", {5959859712, 6484082176, 1589881856}, 2.5,
     {BASE, .half = true, .gated = true, .ffn = 2816, .kv_heads = 4}},
    {"checkpointed layers keep their inputs", {3787339264, 4311561728, 1663456256}, 0.2,
     {BASE, .half = true, .checkpointing = VS_CHECKPOINT_FULL}},
    {"a large model", {9016829440, 10724349440, 13402813440}, 0.5, {LARGE, .half = true}},
    {"a fused optimizer", {9016954368, 10724474368, 10722376704}, 0.5, {LARGE, .half = true, .fused = true}},
    {"momentum", {12464948736, 16074987008, 16070792192}, 0.5, {LARGE, .optimizer = VS_OPTIMIZER_MOMENTUM}},
};

TEST(peaks_are_those_of_pytorch)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vs_estimate e;
        vs_model_memory(&cases[i].model, &e);
        for (int m = 0; m < VS_POINT_COUNT; m++) {
            double ratio = (double)e.total[m] / cases[i].peaks[m];
            if (ratio < 1 - cases[i].percent / 100 || ratio > 1 + cases[i].percent / 100)
                fail_msg("%s: %f times the peak %d", cases[i].name, ratio, m);
        }
    }
}

TEST(large_models_peak_at_the_end_of_a_step)
{
    struct vs_model m = {LARGE, .half = true};
    struct vs_estimate e;
    vs_model_memory(&m, &e);
    assert_int_equal(e.peak, VS_POINT_OPTIMIZER);
    m.fused = true;
    vs_model_memory(&m, &e);
    assert_int_equal(e.peak, VS_POINT_BACKWARD);
}

TEST(zero_divides_by_stage)
{
    struct vs_model m = {.parameters = 8000000000, .half = true, .gpus = 8, .fused = true};
    struct vs_estimate e;
    const double expected[] = {8.0, 8.0, 8.0 / 8, 8.0 / 8}; /* gradients by stage, in GB of 2 bytes */
    for (unsigned stage = 0; stage <= 3; stage++) {
        m.zero = stage;
        vs_model_memory(&m, &e);
        const uint64_t *parts = e.bytes[VS_POINT_OPTIMIZER];
        assert_float_equal((double)parts[VS_PART_GRADIENTS], expected[stage] * 2e9, 1);
        assert_float_equal((double)parts[VS_PART_OPTIMIZER], stage >= 1 ? 4e9 : 32e9, 1);
        assert_float_equal((double)parts[VS_PART_PARAMETERS], stage == 3 ? 2e9 : 16e9, 1);
    }
}

TEST(the_shape_gives_the_parameters)
{
    struct vs_model llama = {.layers = 32, .width = 4096, .heads = 32, .kv_heads = 8, .ffn = 14336,
                             .vocab = 128256, .gated = true};
    assert_int_equal(vs_model_shape_parameters(&llama), 8030261248); /* Llama 3 8B */
    llama.tied = true;
    assert_int_equal(vs_model_shape_parameters(&llama), 8030261248 - 128256ull * 4096);
}

TEST(lora_trains_a_part)
{
    struct vs_model m = {.parameters = 1000000, .trainable = 1000, .fused = true};
    struct vs_estimate e;
    vs_model_memory(&m, &e);
    assert_int_equal(e.total[VS_POINT_OPTIMIZER], 4000000 + 4000 + 8000);
    assert_false(e.has_activations);
}

TEST(absurd_sizes_saturate)
{
    struct vs_model m = {.parameters = UINT64_MAX, .layers = UINT64_MAX, .width = UINT64_MAX,
                         .vocab = UINT64_MAX, .batch = UINT64_MAX, .sequence = UINT64_MAX};
    struct vs_estimate e;
    vs_model_memory(&m, &e);
    assert_int_equal(e.total[e.peak], UINT64_MAX);
    assert_int_equal(vs_model_largest(&m, false, UINT64_MAX - 1), 0);
}

TEST(the_largest_batch_just_fits)
{
    struct vs_model m = base;
    struct vs_estimate e;
    uint64_t capacity = (uint64_t)(24 * GI);
    m.half = true;
    uint64_t best = vs_model_largest(&m, false, capacity);
    m.batch = best;
    vs_model_memory(&m, &e);
    assert_true(e.total[e.peak] <= capacity);
    m.batch = best + 1;
    vs_model_memory(&m, &e);
    assert_true(e.total[e.peak] > capacity);
    assert_int_equal(vs_model_largest(&m, false, 1000), 0);
}

static struct vs_scaling_run batch_run(double batch, double allocated, double reserved, const char *place)
{
    return (struct vs_scaling_run){.x = {batch, 1}, .allocated = allocated, .reserved = reserved, .place = place};
}

TEST(runs_of_another_phase_are_left_out)
{
    struct vs_scaling s;
    struct vs_scaling_run runs[] = {
        batch_run(1, 5 * GI, 5.2 * GI, "optimizer"), batch_run(2, 5 * GI, 5.2 * GI, "optimizer"),
        batch_run(4, 6 * GI, 6.6 * GI, "forward"), batch_run(8, 10 * GI, 10.5 * GI, "backward")};
    assert_int_equal(vs_scaling_fit(runs, 4, 1, &s), 0);
    assert_true(s.places_differ);
    assert_int_equal(s.used, 2);
    assert_float_equal(vs_scaling_at(&s.allocated, (double[]){16, 1}) / GI, 18, 1e-6);
    assert_float_equal(s.reserved_ratio, 1.05, 1e-9); /* of the largest; the other one's 0.3 GiB more do not grow */
    assert_float_equal(s.reserved_more / GI, 0.3, 1e-9);
    assert_int_equal(vs_scaling_largest(&s.allocated, (double[]){8, 1}, 0, 22 * GI), 20);
    assert_int_equal(vs_scaling_largest(&s.reserved, (double[]){8, 1}, 0, 22 * GI), 18);
}

TEST(a_square_is_found_when_a_line_misses)
{
    struct vs_scaling s;
    struct vs_scaling_run runs[4];
    for (int i = 0; i < 4; i++) {
        double length = 512 * (i + 1);
        runs[i] = batch_run(length, 1e9 + 2e5 * length + 300 * length * length, 1e9, "");
    }
    assert_int_equal(vs_scaling_fit(runs, 4, 1, &s), 0);
    assert_int_equal(s.allocated.terms, 3);
    assert_float_equal(s.allocated.coefficients[2], 300, 1e-3);
    assert_float_equal(s.allocated.error, 0, 1e-6);
}

TEST(two_arguments_multiply)
{
    struct vs_scaling s;
    struct vs_scaling_run runs[3] = {{.place = ""}, {.place = ""}, {.place = ""}};
    const double x[3][2] = {{1, 512}, {2, 512}, {2, 1024}};
    for (int i = 0; i < 3; i++) {
        runs[i].x[0] = x[i][0];
        runs[i].x[1] = x[i][1];
        runs[i].allocated = runs[i].reserved = 1e9 + 1e6 * x[i][0] * x[i][1];
    }
    assert_int_equal(vs_scaling_fit(runs, 3, 2, &s), 0);
    assert_float_equal(vs_scaling_at(&s.allocated, (double[]){4, 2048}), 1e9 + 1e6 * 8192, 1);
    assert_int_equal(vs_scaling_largest(&s.allocated, (double[]){2, 1024}, 0, 5e9), 3);
}

/* Every value fits, also where rounding leaves a slope of nearly nothing. */
TEST(a_flat_line_has_no_largest_value)
{
    struct vs_scaling s;
    struct vs_scaling_run runs[] = {batch_run(1, GI, GI, ""), batch_run(2, GI, GI, ""),
                                    batch_run(4, GI + 1e-3, GI, "")};
    assert_int_equal(vs_scaling_fit(runs, 3, 1, &s), 0);
    assert_true(vs_scaling_largest(&s.allocated, (double[]){4, 1}, 0, 8 * GI) == VS_SCALING_ANY);
    assert_int_equal(vs_scaling_largest(&s.allocated, (double[]){4, 1}, 0, GI / 2), 0);
}

TEST(one_point_is_not_a_line)
{
    struct vs_scaling s;
    struct vs_scaling_run runs[] = {batch_run(4, GI, GI, ""), batch_run(4, GI, GI, "")};
    assert_int_not_equal(vs_scaling_fit(runs, 2, 1, &s), 0);
    assert_int_not_equal(vs_scaling_fit(runs, 1, 1, &s), 0);
}
