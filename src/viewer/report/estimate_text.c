/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer stands first where a GPU was named: a table of parts of the peak, then
 * a row for each GPU, then the assumptions. */
#include "viewer/report/estimate_text.h"

#include <string.h>

#include "base/vs_size.h"
#include "viewer/common/json_writer.h"

#define EXACT 0.00005 /* an error that is not printed: 0.005 % */

static const char *const part_names[VS_PART_COUNT] = {
    "parameters", "gradients", "optimizer state", "activations", "logits and loss", "temporaries"};
static const char *const part_keys[VS_PART_COUNT] = {
    "parameters_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes", "loss_bytes",
    "temporaries_bytes"};
static const char *const phase_names[VS_POINT_COUNT] = {"forward", "backward", "optimizer"};

uint64_t vs_estimate_need(const struct vs_estimate_answer *a)
{
    if (!a->run_count)
        return a->estimate.total[a->estimate.peak];
    double bytes = a->has_at ? vs_scaling_at(&a->scaling.reserved, a->at) : 0;
    return bytes > 0 ? (uint64_t)bytes : 0;
}

uint64_t vs_estimate_largest(const struct vs_estimate_answer *a, const struct vs_estimate_gpu *gpu,
                             bool allocated)
{
    uint64_t usable = vs_estimate_usable(gpu);
    if (!a->run_count)
        return vs_model_largest(&a->model, strcmp(a->find, "seq") == 0, usable);
    return vs_scaling_largest(allocated ? &a->scaling.allocated : &a->scaling.reserved, a->at,
                              (a->scaling.names > 1 &&
                               strcmp(a->find, a->names[1]) == 0), (double)usable);
}

static void count_text(char out[32], uint64_t count)
{
    if (count >= 1000000000)
        snprintf(out, 32, "%.2f billion", (double)count / 1e9);
    else if (count >= 1000000)
        snprintf(out, 32, "%.1f million", (double)count / 1e6);
    else
        vs_count_format(out, count);
}

static void print_cell(FILE *out, uint64_t bytes)
{
    if (bytes)
        fprintf(out, "%13s", vs_size_text(bytes));
    else
        fprintf(out, "%12s–", ""); /* the dash has one column and three bytes */
}

static void print_parts(const struct vs_estimate_answer *a, const struct vs_style *style)
{
    const struct vs_estimate *e = &a->estimate;
    int points = a->model.inference ? 1 : VS_POINT_COUNT;
    fprintf(style->out, "\n%-17s", "");
    for (int m = 0; m < points; m++)
        fprintf(style->out, "%13s", a->model.inference ? "inference" : phase_names[m]);
    fputc('\n', style->out);
    for (int p = 0; p < VS_PART_COUNT; p++) {
        bool any = false;
        for (int m = 0; m < points; m++)
            any |= e->bytes[m][p] > 0;
        if (!any)
            continue;
        fprintf(style->out, "%-17s", a->model.inference && p == VS_PART_ACTIVATIONS ? "KV cache"
                                     : a->model.inference && p == VS_PART_LOSS      ? "logits"
                                                                                    : part_names[p]);
        for (int m = 0; m < points; m++)
            print_cell(style->out, e->bytes[m][p]);
        fputc('\n', style->out);
    }
    fprintf(style->out, "%-17s", "total");
    for (int m = 0; m < points; m++) {
        bool peak = m == (int)e->peak;
        fputs(vs_paint(style, peak ? VS_BOLD : VS_PLAIN), style->out);
        print_cell(style->out, e->total[m]);
        fputs(peak ? vs_unpaint(style) : "", style->out);
    }
    if (!a->model.inference)
        fprintf(style->out, "\npeak in the %s", e->peak == VS_POINT_FORWARD    ? "forward pass"
                                              : e->peak == VS_POINT_BACKWARD ? "backward pass"
                                                                              : "optimizer step");
    fputc('\n', style->out);
}

static void print_gpus(const struct vs_estimate_answer *a, const struct vs_style *style)
{
    FILE *out = style->out;
    size_t width = 3;
    bool depends = true;
    uint64_t need = vs_estimate_need(a);
    if (!a->gpu_count && a->has_at)
        fprintf(out, "\nneeded: %s\n", vs_size_text(need));
    if (!a->gpu_count)
        return;
    for (size_t i = 0; i < a->gpu_count; i++)
        width = strlen(a->gpus[i].name) > width ? strlen(a->gpus[i].name) : width;
    fprintf(out, need ? "\n%-*s  fits  %11s  %11s\n" : "\n%-*s  %.0s%11s\n", (int)width, "GPU",
            "needed", "usable");
    for (size_t i = 0; i < a->gpu_count; i++) {
        uint64_t usable = vs_estimate_usable(&a->gpus[i]);
        bool partial = !a->run_count && !a->estimate.has_activations, fits = need <= usable;
        const char *answer = !fits ? "no" : partial ? "?" : "yes";
        fprintf(out, "%-*s", (int)width, a->gpus[i].name);
        if (need)
            fprintf(out, "  %s%-4s%s  %11s", vs_paint(style, !fits ? VS_BAD : partial ? VS_PLAIN : VS_GOOD),
                    answer, vs_unpaint(style), vs_size_text(need));
        fprintf(out, "  %11s", vs_size_text(usable));
        if (need)
            fprintf(out, "  %s %s%s", vs_size_text(fits ? usable - need : need - usable),
                    fits ? "left" : "short", !fits || !partial ? ""
                                             : a->model.inference ? " for the KV cache" : " for activations");
        if (a->find) {
            const struct vs_estimate_gpu *gpu = &a->gpus[i];
            unsigned long long safe = vs_estimate_largest(a, gpu, false);
            unsigned long long most = a->run_count ? vs_estimate_largest(a, gpu, true) : safe;
            depends &= most != VS_SCALING_ANY;
            if (most == VS_SCALING_ANY)
                fprintf(out, "  does not depend on %s", a->find);
            else if (!safe && !most)
                fprintf(out, "  no %s fits", a->find);
            else if (most > safe)
                fprintf(out, "  largest %s: %llu (%llu without cached memory)", a->find, safe,
                        most);
            else
                fprintf(out, "  largest %s: %llu", a->find, safe);
        }
        fputc('\n', out);
    }
    if (!depends)
        vs_text_lines(style, "  ", "The peak of these runs does not depend on %s: give runs with "
                      "values that are further apart, or find another argument.", a->find);
}

static void print_assumptions(const struct vs_estimate_answer *a, const struct vs_style *style)
{
    const struct vs_model *m = &a->model;
    char text[640];
    fputc('\n', style->out);
    if (!a->estimate.has_activations) {
        /* The options without which activations are unknown. */
        const struct {
            const char *name;
            bool given;
        } options[] = {{"--layers", m->layers}, {"--width", m->width}, {"--batch", m->batch},
                       {"--seq", m->sequence}, {"--vocab", m->vocab || m->inference}};
        int n = snprintf(text, sizeof text, "%s not included: give",
                         m->inference ? "The KV cache is" : "Activations are");
        for (size_t i = 0, shown = 0; i < sizeof options / sizeof *options; i++)
            if (!options[i].given)
                n += snprintf(text + n, sizeof text - (size_t)n, "%s %s", shown++ ? "," : "",
                              options[i].name);
        vs_text_wrapped(style, "", text);
    }
    if (m->parameters && a->estimate.shape_parameters &&
        (a->estimate.shape_parameters > m->parameters * 1.2 || a->estimate.shape_parameters * 1.2 < m->parameters)) {
        char shape[32], given[32];
        count_text(shape, a->estimate.shape_parameters);
        count_text(given, m->parameters);
        snprintf(text, sizeof text, "The shape has %s parameters, --params says %s: one of them is "
                 "wrong, or the model is not a plain transformer.", shape, given);
        vs_text_wrapped(style, "", text);
    }
    snprintf(text, sizeof text, "PyTorch in eager mode, %s attention%s%s%s. Not included: memory "
             "that the allocator caches (2 to 10 %% of the peak), NCCL's buffers, gradient "
             "buckets, a framework's own copies.",
             m->math_attention ? "unfused" : "flash", m->dropout ? ", dropout" : "",
             m->checkpointing == VS_CHECKPOINT_FULL        ? ", every layer checkpointed"
             : m->checkpointing == VS_CHECKPOINT_SELECTIVE ? ", attention checkpointed" : "",
             !m->inference && m->optimizer == VS_OPTIMIZER_ADAMW
                 ? m->fused ? ", fused optimizer" : ", optimizer not fused (--fused saves its temporaries)"
                 : "");
    vs_text_wrapped(style, "assumed: ", text);
    vs_text_wrapped(style, "", "`vramscope fit` runs the program itself and gives exact figures.");
}

void vs_estimate_text(const struct vs_estimate_answer *a, const struct vs_style *style)
{
    if (a->run_count) {
        for (size_t k = 0; k < a->scaling.names; k++)
            fprintf(style->out, "%8s", a->names[k]);
        fprintf(style->out, "  %14s  %11s  peak in\n", "peak allocated", "reserved");
        for (size_t i = 0; i < a->run_count; i++) {
            for (size_t k = 0; k < a->scaling.names; k++)
                fprintf(style->out, "%8.0f", a->runs[i].x[k]);
            fprintf(style->out, "  %14s  %11s  ", vs_size_text((uint64_t)a->runs[i].allocated),
                    vs_size_text((uint64_t)a->runs[i].reserved));
            vs_text_put(style->out, *a->runs[i].place ? a->runs[i].place : "(no phases)");
            fputs(a->runs[i].used ? "\n" : "  (not used)\n", style->out);
        }
        fputc('\n', style->out);
        const struct vs_scaling_curve *curve = &a->scaling.allocated;
        char text[512];
        int n = snprintf(text, sizeof text, "peak allocated = ");
        for (size_t i = 0; i < curve->terms && n < (int)sizeof text; i++) {
            double c = curve->coefficients[i];
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s",
                          c < 0 ? i ? " - " : "-"
                          : i   ? " + "
                                : "",
                          vs_size_text((uint64_t)(c < 0 ? -c : c)));
            for (size_t k = 0; k < a->scaling.names && n < (int)sizeof text; k++)
                if (curve->powers[i][k])
                    n += snprintf(text + n, sizeof text - (size_t)n, " x %s%s", a->names[k],
                                  curve->powers[i][k] > 1 ? "^2" : "");
        }
        if (n < (int)sizeof text && curve->error >= EXACT)
            snprintf(text + n, sizeof text - (size_t)n, " (within %.2f %% of the runs)",
                     100 * curve->error);
        vs_text_wrapped(style, "", text);
        double predicted = a->has_at ? vs_scaling_at(curve, a->at) : 0;
        if (predicted > 0) {
            n = snprintf(text, sizeof text, "at");
            for (size_t k = 0; k < a->scaling.names; k++)
                n += snprintf(text + n, sizeof text - (size_t)n, " %s=%.0f", a->names[k], a->at[k]);
            vs_text_lines(style, "", "%s: %s allocated, %s reserved", text, vs_size_text((uint64_t)predicted),
                          vs_size_text(vs_estimate_need(a)));
        }
        print_gpus(a, style);
        fputc('\n', style->out);
        if (a->scaling.places_differ)
            vs_text_wrapped(style, "", "Runs whose peak is in another phase than that of the "
                            "largest run were not used: their peak grows differently.");
        if (a->scaling.places_mixed)
            vs_text_wrapped(style, "", "The runs have their peaks in different phases: the figures "
                            "are too low for larger values. Add a run with a larger value.");
        if (a->scaling.used == 2)
            vs_text_wrapped(style, "", "Two runs always give a straight line; a third one shows "
                                       "whether the growth is linear.");
        double share = 100 * (a->scaling.reserved_ratio - 1), more = a->scaling.reserved_more;
        char parts[64] = "";
        if (share > 0)
            snprintf(parts, sizeof parts, "%.1f %%%s", share, more >= 1 ? " and " : "");
        if (share > 0 || more >= 1)
            vs_text_lines(style, "assumed: ", "larger values use the same algorithms; %s%s more is reserved than "
                          "allocated, as in these runs.", parts, more >= 1 ? vs_size_text((uint64_t)more) : "");
        else
            vs_text_wrapped(style, "assumed: ", "larger values use the same algorithms, and no "
                            "more is reserved than allocated, as in these runs.");
        return;
    }
    const struct vs_model *m = &a->model;
    char count[32], trainable[48] = "", shape[96] = "", shared[64] = "";
    count_text(count, a->estimate.parameters);
    if (!m->inference && a->estimate.trainable != a->estimate.parameters) {
        char some[32];
        count_text(some, a->estimate.trainable);
        snprintf(trainable, sizeof trainable, " (%s trained)", some);
    }
    if (a->estimate.has_activations)
        snprintf(shape, sizeof shape, ", batch %llu x %llu tokens", (unsigned long long)m->batch,
                 (unsigned long long)m->sequence);
    if (m->gpus > 1)
        snprintf(shared, sizeof shared, ", one of %llu GPUs, ZeRO stage %u",
                 (unsigned long long)m->gpus, m->zero);
    static const char *const optimizers[] = {[VS_OPTIMIZER_ADAMW] = "AdamW",
                                             [VS_OPTIMIZER_ADAM8BIT] = "8-bit AdamW",
                                             [VS_OPTIMIZER_MOMENTUM] = "SGD with momentum",
                                             [VS_OPTIMIZER_SGD] = "SGD"};
    vs_text_lines(style, "", "%s parameters%s in %s, %s%s%s", count, trainable,
                  m->half ? m->master ? "16 bits with fp32 master weights" : "16 bits"
                  : m->autocast ? "fp32 with 16-bit autocast" : "fp32",
                  m->inference ? "inference" : optimizers[m->optimizer], shape, shared);
    print_parts(a, style);
    print_gpus(a, style);
    print_assumptions(a, style);
}

static void put_runs(struct vs_json *json, const struct vs_estimate_answer *a)
{
    for (size_t k = 0; vs_json_next(json, "arguments", k, a->scaling.names); k++)
        vs_json_string(json, NULL, a->names[k]);
    for (size_t i = 0; vs_json_next_object(json, "runs", i, a->run_count); i++) {
        vs_json_string(json, "trace", a->paths[i]);
        for (size_t k = 0; vs_json_next(json, "values", k, a->scaling.names); k++)
            vs_json_ratio(json, NULL, a->runs[i].x[k]);
        vs_json_members(json, VS_J_UINT("allocated_bytes", (uint64_t)a->runs[i].allocated),
                        VS_J_UINT("reserved_bytes", (uint64_t)a->runs[i].reserved),
                        VS_J_TEXT("place", a->runs[i].place), VS_J_BOOL("used", a->runs[i].used));
    }
    const struct vs_scaling_curve *curve = &a->scaling.allocated;
    vs_json_begin(json, "allocated", VS_J_RATIO("error", curve->error));
    for (size_t i = 0; vs_json_next_object(json, "terms", i, curve->terms); i++) {
        vs_json_ratio(json, "bytes", curve->coefficients[i]);
        for (size_t k = 0; vs_json_next(json, "powers", k, VS_SCALING_NAMES_MAX); k++)
            vs_json_uint(json, NULL, curve->powers[i][k]);
    }
    vs_json_end_object(json);
    vs_json_members(json, VS_J_RATIO("reserved_ratio", a->scaling.reserved_ratio),
                    VS_J_UINT("reserved_more_bytes", (uint64_t)a->scaling.reserved_more));
}

static void put_largest(struct vs_json *json, const char *key, uint64_t largest)
{
    vs_json_known_uint(json, key, largest != VS_SCALING_ANY, largest);
}

void vs_estimate_json(const struct vs_estimate_answer *a, FILE *out)
{
    struct vs_json json = vs_json_document(out, "vramscope.estimate/2");
    uint64_t need = vs_estimate_need(a);
    if (a->run_count)
        put_runs(&json, a);
    else {
        const struct vs_estimate *e = &a->estimate;
        vs_json_members(&json, VS_J_UINT("parameters", e->parameters),
                        VS_J_UINT("trainable", e->trainable),
                        VS_J_UINT("parameters_by_shape", e->shape_parameters),
                        VS_J_BOOL("has_activations", e->has_activations),
                        VS_J_TEXT("peak", phase_names[e->peak]));
        size_t points = a->model.inference ? 1 : VS_POINT_COUNT;
        for (size_t m = 0; vs_json_next_object(&json, "phases", m, points); m++) {
            vs_json_string(&json, "name", phase_names[m]);
            for (int p = 0; p < VS_PART_COUNT; p++)
                vs_json_uint(&json, part_keys[p], e->bytes[m][p]);
            vs_json_uint(&json, "total_bytes", e->total[m]);
        }
    }
    vs_json_members(&json, VS_J_UINT("needed_bytes", need), VS_J_TEXT("find", a->find));
    for (size_t i = 0; vs_json_next_object(&json, "gpus", i, a->gpu_count); i++) {
        vs_json_members(&json, VS_J_TEXT("name", a->gpus[i].name),
                        VS_J_UINT("total_bytes", a->gpus[i].total_bytes),
                        VS_J_UINT("usable_bytes", vs_estimate_usable(&a->gpus[i])));
        bool fits = need <= vs_estimate_usable(&a->gpus[i]);
        if (need && (a->run_count || a->estimate.has_activations || !fits))
            vs_json_bool(&json, "fits", fits);
        if (a->find)
            put_largest(&json, "largest", vs_estimate_largest(a, &a->gpus[i], false));
        if (a->find && a->run_count)
            put_largest(&json, "largest_allocated", vs_estimate_largest(a, &a->gpus[i], true));
    }
    vs_json_end_object(&json);
}
