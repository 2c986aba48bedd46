/* SPDX-License-Identifier: Apache-2.0
 *
 * CSV (RFC 4180): a line for each allocation, when it ends; those that are live at the end come
 * last. Names come from the traced program: a text that a spreadsheet would take for a formula gets
 * an apostrophe in front. Two passes: the first one learns how call sites are named. Memory: the
 * live set. */
#include "viewer/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/history/allocation_log.h"
#include "viewer/export/site_labels.h"

static const char header[] =
    "event,device,address,requested_bytes,size_bytes,allocated_ns,end,end_event,end_ns,site,library,"
    "phase,step,kind,family,stream,context,thread\r\n";

struct csv {
    FILE *out;
    struct vs_site_labels labels;
    struct vs_allocation_filter wanted;
    uint64_t written;
};

static void put_uint(FILE *out, uint64_t value)
{
    char text[24], *p = text + sizeof text;
    do {
        *--p = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    fwrite(p, 1, (size_t)(text + sizeof text - p), out);
    putc(',', out);
}

/* A number that may be missing. */
static void put_known(FILE *out, bool known, uint64_t value)
{
    if (known)
        put_uint(out, value);
    else
        putc(',', out);
}

static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    if (*text && strchr("=+-@\t\r", *text))
        putc('\'', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    fputs("\",", out);
}

static enum vs_err write_row(void *context, const struct vs_replay *replay,
                             const struct vs_allocation_life *life)
{
    static const char *const ends[] = {"", "freed", "context destroyed"};
    struct csv *csv = context;
    struct vs_site_label label;
    char phase[VS_PLACE_TEXT_MAX];
    FILE *out = csv->out;
    if (!vs_allocation_wanted(&csv->wanted, life, vs_replay_start_ns(replay)))
        return VS_OK;
    enum vs_err err = vs_site_labels_of(&csv->labels, replay, life->site_index, &label);
    if (err)
        return err;
    bool ended = life->end != VS_ALLOCATION_LIVE;
    put_uint(out, life->born_event);
    if (life->host)
        fputs("host,", out);
    else
        put_uint(out, life->device);
    fprintf(out, "0x%" PRIx64 ",", life->addr);
    put_uint(out, life->requested);
    put_uint(out, life->size);
    put_uint(out, life->born_ns);
    fprintf(out, "%s,", ends[life->end]);
    put_known(out, ended, life->ended_event);
    put_known(out, ended, life->ended_ns);
    put_text(out, label.text);
    put_text(out, label.library);
    put_text(out, vs_phases_text(&replay->phases, (struct vs_place){.phase = life->place.phase}, phase));
    put_known(out, life->place.step_known, life->place.step);
    fprintf(out, "%s,%s,", life->tensor ? vs_kind_name(life->kind) : "",
            life->tensor ? "tensor" : vs_family_name(life->family));
    put_uint(out, life->stream);
    put_uint(out, life->context);
    fprintf(out, "%" PRIu32 "\r\n", life->tid);
    csv->written++;
    return ferror(out) ? VS_ERR_IO : VS_OK;
}

/* The first pass: how call sites are named, and the limits of the recording. */
static enum vs_err learn(struct vs_reader *reader, struct vs_symbols *symbols, struct csv *csv,
                         struct vs_export_result *result)
{
    struct vs_replay *replay;
    struct vs_event event;
    enum vs_err err = vs_replay_open(reader, &replay);
    if (err)
        return err;
    err = vs_reader_rewind(reader);
    while (!err && (err = vs_reader_next(reader, &event)) == VS_OK)
        err = vs_replay_event(replay, &event);
    if (err == VS_ERR_END) {
        vs_export_ended(reader, result);
        vs_export_recording(&replay->recording, vs_replay_start_ns(replay), result);
        err = vs_site_labels_open(&csv->labels, symbols, replay);
        if (!err && csv->wanted.one_device &&
            vs_replay_account(replay, csv->wanted.device) == VS_ACCOUNT_NONE)
            err = VS_ERR_NOT_FOUND;
    }
    vs_replay_close(replay);
    return err;
}

static enum vs_err write_rows(struct vs_reader *reader, struct vs_symbols *symbols, struct csv *csv)
{
    struct vs_allocation_log *log;
    struct vs_event event;
    enum vs_err err = vs_allocation_log_open(reader, symbols, write_row, csv, &log);
    if (err)
        return err;
    fputs(header, csv->out);
    err = vs_reader_rewind(reader);
    while (!err && (err = vs_reader_next(reader, &event)) == VS_OK)
        err = vs_allocation_log_event(log, &event);
    if (err == VS_ERR_END)
        err = vs_allocation_log_finish(log);
    vs_allocation_log_close(log);
    return err;
}

enum vs_err vs_export_csv(struct vs_reader *reader, FILE *out,
                          const struct vs_export_options *options, struct vs_export_result *result)
{
    struct csv csv = {.out = out,
                      .wanted = {options->window, options->one_device, options->device}};
    struct vs_symbols *symbols;
    *result = (struct vs_export_result){0};
    enum vs_err err = vs_symbols_open(reader, &symbols);
    if (err)
        return err;
    err = learn(reader, symbols, &csv, result);
    if (!err)
        err = write_rows(reader, symbols, &csv);
    result->written = csv.written;
    if (!err && (fflush(out) != 0 || ferror(out)))
        err = VS_ERR_IO;
    int saved_errno = errno;
    vs_site_labels_close(&csv.labels);
    vs_symbols_close(symbols);
    errno = saved_errno;
    return err;
}
