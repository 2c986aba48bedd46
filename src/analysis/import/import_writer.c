/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import_writer.h"

#include <stdarg.h>
#include <string.h>

enum vs_err vs_import_begin(struct vs_import_writer *w, const char *source, uint64_t realtime_ns,
                            const uint64_t seed[2])
{
    struct vs_composer_start start = {.time_ns = VS_IMPORT_START_NS, .realtime_ns = realtime_ns};
    w->tid = VS_IMPORT_TID;
    memcpy(start.uuid, seed, sizeof start.uuid);
    enum vs_err err = vs_composer_open(w->out, &start, &w->composer);
    if (err)
        return err;
    vs_import_stacks_open(&w->stacks, w->composer);
    VS_IMPORT(w, process, .start_realtime_ns = realtime_ns, .start_ns = VS_IMPORT_START_NS,
              .page_bytes = 4096, .exe = vs_import_string(w, w->name));
    vs_import_option(w, "source", vs_import_string(w, source));
    return VS_OK;
}

void vs_import_event(struct vs_import_writer *w, struct vs_event *event)
{
    event->time_ns = VS_IMPORT_START_NS + w->now_ns;
    event->tid = w->tid;
    vs_composer_event(w->composer, event);
}

void vs_import_device(struct vs_import_writer *w, unsigned device)
{
    if (w->devices >> device & 1)
        return;
    w->devices |= UINT64_C(1) << device;
    struct vs_event event = {.kind = VS_EVENT_device};
    if (w->gpus)
        event.device = w->gpus[device];
    else if (w->gpu_name)
        event.device.name = vs_import_string(w, w->gpu_name);
    event.device.device = device;
    vs_import_event(w, &event);
    VS_IMPORT(w, context, .context = 1 + device, .device = device, .primary = 1, .alive = 1);
}

uint64_t vs_import_string(struct vs_import_writer *w, const char *text)
{
    return vs_composer_string(w->composer, text, strlen(text));
}

void vs_import_option(struct vs_import_writer *w, const char *name, uint64_t value)
{
    VS_IMPORT(w, option, .name = vs_import_string(w, name), .value = value);
}

void vs_import_note(struct vs_import_writer *w, bool warning, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    VS_IMPORT(w, note, .severity = warning ? 1 : 2, .text = vs_import_string(w, text));
}

enum vs_err vs_import_close(struct vs_import_writer *w, enum vs_err err)
{
    if (!w->composer)
        return err;
    if (!err) {
        w->now_ns += 1000; /* so that what ended last did so before the end of the trace */
        VS_IMPORT(w, end, .reason = VS_END_IMPORTED);
    }
    enum vs_err names = vs_import_stacks_close(&w->stacks);
    w->result->events = vs_composer_events(w->composer);
    enum vs_err last = vs_composer_close(w->composer);
    return err ? err : names ? names : last;
}
