/* SPDX-License-Identifier: Apache-2.0
 *
 * CSV (RFC 4180): a line for each allocation, when it ends; those that are live at the end come
 * last. Names come from the traced program: a text that a spreadsheet would take for a formula gets
 * an apostrophe in front. Two passes: the first one learns how call sites are named. Memory: the
 * live set. */
#include "viewer/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/kinds/allocation_log.h"
#include "analysis/naming/library.h"
#include "analysis/report/site_text.h"
#include "base/reading/vs_vec.h"
#include "base/vs_text.h"
#include "viewer/export/site_labels.h"

static const char header[] =
    "event,device,address,requested_bytes,size_bytes,allocated_ns,end,end_event,end_ns,site,library,"
    "phase,step,kind,family,stream,context,thread\r\n";

#define BUFFER_BYTES ((size_t)64 << 10)
#define ROW_NUMBERS 512u /* bytes of a row without its texts, at most */
_Static_assert(2 * (VS_CHAIN_TEXT_MAX + VS_LIBRARY_NAME_MAX + VS_PLACE_TEXT_MAX) + ROW_NUMBERS + 32 <=
                   BUFFER_BYTES, "a row fits");

/* As it stands in the file: with quotes and the comma after it. */
struct csv_text {
    char *text; /* NULL: not asked for yet */
    size_t length;
};

struct csv {
    FILE *out;
    struct vs_site_labels labels;
    struct vs_allocation_filter wanted;
    struct vs_arena memory;
    struct vs_growth_steps steps; /* that were found */
    struct csv_text *sites, *phases; /* by index: label and library of a site, path of a phase */
    size_t site_capacity, phase_capacity;
    uint64_t written;
    size_t used; /* of the buffer */
    char buffer[BUFFER_BYTES];
};

/* --- the line, in memory: this is the most of the work --- */

static char *put_uint(char *p, uint64_t value)
{
    char text[24], *first = text + sizeof text;
    do {
        *--first = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    size_t length = (size_t)(text + sizeof text - first);
    memcpy(p, first, length);
    p[length] = ',';
    return p + length + 1;
}

/* A number that may be missing. */
static char *put_known(char *p, bool known, uint64_t value)
{
    if (known)
        return put_uint(p, value);
    *p++ = ',';
    return p;
}

/* *text* as it is, from here or of an event. */
static char *put_word(char *p, const char *text, size_t length)
{
    memcpy(p, text, length);
    p[length] = ',';
    return p + length + 1;
}

static char *put_text(char *p, const char *text)
{
    *p++ = '"';
    if (*text && strchr("=+-@\t\r", *text))
        *p++ = '\'';
    for (; *text; text++) {
        if (*text == '"')
            *p++ = '"';
        *p++ = *text;
    }
    *p++ = '"';
    *p++ = ',';
    return p;
}

static enum vs_err flush(struct csv *csv)
{
    fwrite(csv->buffer, 1, csv->used, csv->out);
    csv->used = 0;
    return ferror(csv->out) ? VS_ERR_IO : VS_OK;
}

/* --- texts: those of a call site or a phase are the same in every row --- */

static struct csv_text keep_text(struct csv *csv, const char *text, size_t length)
{
    return (struct csv_text){memcpy(vs_xarena(&csv->memory, length), text, length), length};
}

static struct csv_text site_of(struct csv *csv, const struct vs_replay *replay, uint32_t index)
{
    char text[2 * (VS_CHAIN_TEXT_MAX + VS_LIBRARY_NAME_MAX) + 16];
    vs_vec_room(&csv->sites, &csv->site_capacity, index + 1, sizeof *csv->sites);
    if (!csv->sites[index].text) {
        const struct vs_site_label *label = vs_site_labels_of(&csv->labels, replay, index);
        char *end = put_text(put_text(text, label->text), label->library);
        csv->sites[index] = keep_text(csv, text, (size_t)(end - text));
    }
    return csv->sites[index];
}

static struct csv_text phase_of(struct csv *csv, const struct vs_replay *replay, uint32_t phase)
{
    char text[2 * VS_PLACE_TEXT_MAX + 16], path[VS_PLACE_TEXT_MAX];
    vs_vec_room(&csv->phases, &csv->phase_capacity, phase + 1, sizeof *csv->phases);
    if (!csv->phases[phase].text) {
        vs_phases_text(&replay->phases, (struct vs_place){.phase = phase}, path);
        csv->phases[phase] = keep_text(csv, text, (size_t)(put_text(text, path) - text));
    }
    return csv->phases[phase];
}

static enum vs_err write_row(void *context, const struct vs_replay *replay,
                             const struct vs_allocation_life *life)
{
    static const struct { const char *text; size_t length; } ends[] = {
        {"", 0}, {"freed", 5}, {"context destroyed", 17}};
    struct csv *csv = context;
    if (!vs_allocation_wanted(&csv->wanted, life, vs_replay_start_ns(replay)))
        return VS_OK;
    struct csv_text site = site_of(csv, replay, life->site_index);
    struct csv_text phase = phase_of(csv, replay, life->place.phase);
    if (sizeof csv->buffer - csv->used < ROW_NUMBERS + site.length + phase.length && flush(csv))
        return VS_ERR_IO;
    bool ended = life->end != VS_ALLOCATION_LIVE;
    const char *kind = life->tensor ? vs_kind_name(life->kind) : "";
    const char *family = life->tensor ? "tensor" : vs_family_name(life->family);
    char *p = put_uint(csv->buffer + csv->used, life->born_event);
    p = life->host ? put_word(p, "host", 4) : put_uint(p, life->device);
    p = vs_text_hex(p, life->addr);
    *p++ = ',';
    p = put_uint(put_uint(put_uint(p, life->requested), life->size), life->born_ns);
    p = put_word(p, ends[life->end].text, ends[life->end].length);
    p = put_known(put_known(p, ended, life->ended_event), ended, life->ended_ns);
    memcpy(p, site.text, site.length);
    memcpy(p + site.length, phase.text, phase.length);
    p = put_known(p + site.length + phase.length, life->place.step_known, life->place.step);
    p = put_word(put_word(p, kind, strlen(kind)), family, strlen(family));
    p = put_uint(put_uint(put_uint(p, life->stream), life->context), life->tid);
    memcpy(p - 1, "\r\n", 2); /* in place of the last comma */
    csv->used = (size_t)(p + 1 - csv->buffer);
    csv->written++;
    return VS_OK;
}

enum vs_err vs_export_csv(struct vs_reader *reader, FILE *out,
                          const struct vs_export_options *options, struct vs_export_result *result)
{
    struct vs_symbols *symbols = vs_symbols_open(reader);
    struct csv *csv = vs_xcalloc(1, sizeof *csv);
    csv->out = out;
    csv->wanted =
        (struct vs_allocation_filter){options->window, options->one_device, options->device};
    /* The first pass: how call sites are named, the steps that are found, and the limits of the
     * recording. */
    struct vs_replay *replay = vs_replay_open(reader), *end = NULL;
    enum vs_err err = vs_found_steps_replay(reader, replay, &csv->steps);
    if (!err) {
        vs_export_ended(reader, result);
        vs_export_recording(&replay->recording, vs_replay_start_ns(replay), result);
        vs_site_labels_open(&csv->labels, symbols, replay);
        if (csv->wanted.one_device &&
            vs_replay_account(replay, csv->wanted.device) == VS_ACCOUNT_NONE)
            err = VS_ERR_NOT_FOUND;
    }
    vs_replay_close(replay);
    if (!err) {
        fputs(header, out);
        err = vs_allocations_read(reader, symbols, &csv->steps, write_row, csv, NULL, &end);
    }
    if (!err)
        err = flush(csv);
    vs_replay_close(end);
    result->written = csv->written;
    vs_site_labels_close(&csv->labels);
    vs_found_steps_free(&csv->steps);
    vs_symbols_close(symbols);
    vs_arena_free_all(&csv->memory);
    free(csv->sites);
    free(csv->phases);
    free(csv);
    return err;
}
