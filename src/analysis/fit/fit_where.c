/* SPDX-License-Identifier: Apache-2.0
 *
 * Of native code the innermost function alone is not enough: in many programs it is a
 * helper that checks the error of each allocation. */
#include "analysis/fit/fit_where.h"

#include "analysis/report/site_text.h"

const char *vs_fit_where(const struct vs_summary *summary, uint64_t stack, uint64_t mark, bool native)
{
    char text[VS_CHAIN_TEXT_MAX];
    struct vs_report_site site = {.api = ""};
    struct vs_summary names = *summary;
    names.own_only = !native;
    if (vs_summary_frames(&names, stack, mark, &site))
        return NULL;
    bool known = site.line || site.folds || (native && site.frame_count);
    return vs_summary_copy(summary->memory, known ? vs_text_label(text, &site) : "");
}
