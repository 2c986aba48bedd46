/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Of native code the innermost function alone is not enough: in many programs it is a
 * helper that checks the error of each allocation. */
#include "analysis/fit/fit_where.h"

#include "analysis/naming/user_line.h"
#include "analysis/report/site_text.h"

#define FRAMES_SHOWN 3

const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool source,
                         bool native)
{
    struct vs_reader const *reader = summary->replay->reader;
    char text[VS_CHAIN_TEXT_MAX];
    struct vs_report_site site = {.api = ""};
    const char *line =
        vs_user_line(reader, summary->symbols, summary->memory, stack, mark, source, false);
    if (!line || *line || !native || !stack)
        return line;
    line = vs_user_line(reader, summary->symbols, summary->memory, stack, mark, source, true);
    if (!line || !*line) /* Python code of a library only */
        return line;
    if (vs_summary_frames(summary, stack, mark, &site))
        return NULL;
    return vs_summary_copy(summary->memory, vs_text_site(text, &site, FRAMES_SHOWN));
}
