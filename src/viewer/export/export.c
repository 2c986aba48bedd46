/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of formats as data. */
#include "viewer/export/export.h"

#include <string.h>

#include "viewer/common/gzip_stream.h"

static const struct vs_export_format formats[] = {
#define VS_EXPORT_FORMAT(id, name, extension, options, help) \
    {name, extension, options, vs_export_##id},
#include "viewer/export/export_table.h"
#undef VS_EXPORT_FORMAT
};

const struct vs_export_format *vs_export_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

enum vs_err vs_export(const struct vs_export_format *format, struct vs_reader *reader, FILE *out,
                      const struct vs_export_options *options, struct vs_export_result *result)
{
    *result = (struct vs_export_result){0};
    if (!out)
        return format->write(reader, NULL, options, result);
    bool wrapped = options->gzip && !strstr(format->extension, "gz");
    FILE *to = wrapped ? vs_gzip_stream(out) : out;
    enum vs_err err = format->write(reader, to, options, result);
    bool failed = ferror(to);
    if (wrapped)
        failed |= fclose(to) != 0;
    return !err && (failed || fflush(out) != 0 || ferror(out)) ? VS_ERR_IO : err;
}

void vs_export_ended(const struct vs_reader *reader, struct vs_export_result *result)
{
    result->ended = true;
    result->condition = vs_reader_condition(reader, result->why);
}

void vs_export_recording(const struct vs_recording_state *state, uint64_t start_ns,
                         struct vs_export_result *result)
{
    result->recording = *state;
    for (size_t i = 0; i < sizeof state->since_ns / sizeof *state->since_ns; i++)
        result->recording.since_ns[i] =
            state->since_ns[i] > start_ns ? state->since_ns[i] - start_ns : 0;
}

const char *vs_export_unused(const struct vs_export_format *format, unsigned given)
{
    static const struct {
        unsigned option;
        const char *flag;
    } flags[] = {{VS_EXPORT_SPAN, "--from, --to and --steps"},
                 {VS_EXPORT_MIN_BYTES, "--min-bytes"},
                 {VS_EXPORT_ALL_POINTS, "--all-points"},
                 {VS_EXPORT_AT, "--at"},
                 {VS_EXPORT_BY, "--by"},
                 {VS_EXPORT_INVERTED, "--inverted"},
                 {VS_EXPORT_DEVICE, "--device"},
                 {VS_EXPORT_MAX_SIZE, "--max-size"},
                 {VS_EXPORT_JOB, "--job"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (given & ~format->options & flags[i].option)
            return flags[i].flag;
    return NULL;
}
