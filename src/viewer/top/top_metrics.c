/* SPDX-License-Identifier: Apache-2.0
 *
 * node_exporter's textfile collector reads this as well: its older format has the same lines, but no types "info" and
 * "unknown". */
#include <inttypes.h>
#include <string.h>

#include "viewer/common/openmetrics.h"
#include "viewer/top/top_frame.h"

#define KNOWN(member) offsetof(struct vs_watch_device, member), sizeof ((struct vs_watch_device *)0)->member
#define DEVICE(member) offsetof(struct vs_watch_device, member), false
#define PROCESS(member) offsetof(struct vs_watch_view, member), true
#define ALWAYS 0, 0

/* A uint64_t of each device or process, and the member that is not 0 where it is known. */
static const struct metric {
    size_t known, known_bytes;
    const char *name, *type, *unit, *help;
    size_t value;
    bool of_process;
} metrics[] = {
    {ALWAYS, "allocated_bytes", "gauge", "bytes", "Live memory of the program: tensors, or allocations.", DEVICE(allocated)},
    {ALWAYS, "peak_bytes", "gauge", "bytes", "Highest value of it so far.", DEVICE(peak)},
    {ALWAYS, "reserved_bytes", "gauge", "bytes", "Memory that the process holds, with its caches.", DEVICE(reserved)},
    {ALWAYS, "peak_reserved_bytes", "gauge", "bytes", "Highest value of it so far.", DEVICE(peak_reserved)},
    {ALWAYS, "cached_bytes", "gauge", "bytes", "Reserved memory that is not in use.", DEVICE(cached)},
    {KNOWN(holes.count), "largest_hole_bytes", "gauge", "bytes", "The largest part of it in one piece.", DEVICE(holes.largest)},
    {KNOWN(total), "device_total_bytes", "gauge", "bytes", "Size of the device.", DEVICE(total)},
    {KNOWN(used_known), "device_used_bytes", "gauge", "bytes", "In use by all processes, at a reading.", DEVICE(used)},
    {KNOWN(growing), "growth_per_step_bytes", "gauge", "bytes", "Added by each step and not freed.",
     DEVICE(growth.per_step)},
    {KNOWN(forecast.time_known), "time_to_failure_seconds", "gauge", "seconds", "Until memory runs out, if it grows on.",
     DEVICE(forecast.seconds)},
    {KNOWN(forecast.steps_known), "steps_to_failure", "gauge", NULL, "Likewise in steps.", DEVICE(forecast.steps)},
    {ALWAYS, "host_bytes", "gauge", "bytes", "Pinned and registered host memory.", PROCESS(host_bytes)},
    {ALWAYS, "failures", "counter", NULL, "Allocations that failed.", PROCESS(failures)},
    {ALWAYS, "steps", "counter", NULL, "Steps that began.", PROCESS(steps_begun)},
};

static void sample(const struct metric *metric, const struct vs_watch_view *view, const struct vs_watch_device *device,
                   uint64_t pid, FILE *out)
{
    const char *of = device ? (const char *)device : (const char *)view;
    char program[VS_TOP_PROGRAM_MAX], number[24];
    if (metric->known_bytes && !memcmp(of + metric->known, &(const uint64_t){0}, metric->known_bytes))
        return;
    fprintf(out, "vramscope_%s%s", metric->name, *metric->type == 'c' ? "_total" : "");
    snprintf(number, sizeof number, "%" PRIu64, pid);
    vs_metric_label(out, "pid", number, "{");
    vs_metric_label(out, "program", vs_top_program(program, view), ",");
    vs_metric_label(out, "job", view->job, ",");
    vs_metric_label(out, "rank", view->rank, ",");
    if (device) {
        snprintf(number, sizeof number, "%" PRIu64, device->device);
        vs_metric_label(out, "device", number, ",");
        vs_metric_label(out, "uuid", device->uuid, ",");
    }
    fprintf(out, "} %" PRIu64 "\n", *(const uint64_t *)(const void *)(of + metric->value));
}

void vs_top_metrics(const struct vs_top_model *model, FILE *out)
{
    for (const struct metric *metric = metrics; metric < metrics + sizeof metrics / sizeof *metrics; metric++) {
        fprintf(out, "# TYPE vramscope_%s %s\n", metric->name, metric->type);
        if (metric->unit)
            fprintf(out, "# UNIT vramscope_%s %s\n", metric->name, metric->unit);
        fprintf(out, "# HELP vramscope_%s %s\n", metric->name, metric->help);
        for (size_t i = 0; i < model->count; i++) {
            const struct vs_top_process *process = &model->processes[i];
            const struct vs_watch_view *view = &process->view;
            bool shown = view->running && !process->error && view->events;
            if (shown && metric->of_process)
                sample(metric, view, NULL, process->pid, out);
            for (size_t d = 0; shown && !metric->of_process && d < view->device_count; d++)
                sample(metric, view, &view->devices[d], process->pid, out);
        }
    }
    fputs("# EOF\n", out);
}
