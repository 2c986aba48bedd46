/* SPDX-License-Identifier: Apache-2.0
 *
 * Driven by the event table, so that a new kind needs no change here; only fields
 * that the file has are printed, so that the text of an old trace stays the same when a kind gains
 * a field. */
#include "golden/trace_dump.h"

#include <inttypes.h>

#include "trace/read/reader_internal.h"

#define FRAMES_MAX 128

static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p >= 0x7f)
            fprintf(out, "\\x%02x", *p);
        else
            putc(*p, out);
    }
    putc('"', out);
}

static void put_stack(FILE *out, const struct vs_reader *reader, uint64_t id)
{
    struct vs_frame frames[FRAMES_MAX];
    size_t count = vs_reader_stack(reader, id, frames, FRAMES_MAX);
    putc('[', out);
    for (size_t i = 0; i < count; i++) {
        const struct vs_module *module = vs_reader_module(reader, frames[i].module);
        if (module)
            fprintf(out, "%s%u+0x%" PRIx64, i ? " " : "", frames[i].module,
                    frames[i].pc - module->base);
        else
            fprintf(out, "%s0x%" PRIx64, i ? " " : "", frames[i].pc);
    }
    putc(']', out);
}

static void put_event(FILE *out, const struct vs_reader *reader, const struct vs_event *event,
                      bool frames)
{
    const struct vs_event_info *info = vs_event_describe(event->kind);
    fprintf(out, "%" PRIu64 " %" PRIu32 " %s", event->time_ns, event->tid, info->name);
    for (unsigned i = 0; i < reader->kinds[event->kind].known_fields; i++) {
        uint64_t value = event->fields[i];
        fprintf(out, " %s=", info->fields[i].name);
        switch (info->fields[i].codec) {
        case VS_CODEC_S:
            fprintf(out, "%" PRId64, (int64_t)value);
            break;
        case VS_CODEC_A:
            fprintf(out, "0x%" PRIx64, value);
            break;
        case VS_CODEC_STR:
            put_text(out, vs_reader_string(reader, value));
            break;
        case VS_CODEC_STK:
            if (frames)
                put_stack(out, reader, value);
            else
                fprintf(out, "#%" PRIu64, value);
            break;
        default:
            fprintf(out, "%" PRIu64, value);
            break;
        }
    }
    putc('\n', out);
}

enum vs_err vs_trace_dump(struct vs_reader *reader, FILE *out, bool frames)
{
    struct vs_event event;
    enum vs_err err;
    while (!(err = vs_reader_next(reader, &event)))
        put_event(out, reader, &event, frames);
    if (err != VS_ERR_END)
        return err;
    char text[VS_READER_WHY_MAX];
    vs_reader_condition(reader, text);
    fprintf(out, "-- %s\n", text);
    return ferror(out) ? VS_ERR_IO : VS_OK;
}
