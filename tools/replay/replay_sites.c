/* SPDX-License-Identifier: Apache-2.0
 *
 * --free-site and --without-site: the call sites with a function that matches an expression, as
 * "f (a.c:12)". */
#include <regex.h>

#include "analysis/whatif/whatif_changes.h"
#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/replay/replay_command.h"

int vs_replay_sites(const struct vs_replay_job *job, const struct vs_whatif_log *log,
                    struct vs_reader *reader, struct vs_arena *memory,
                    const struct vs_whatif_site **sites, size_t *count)
{
    const struct {
        const char *name, *text;
        enum vs_whatif_site_rule rule;
    } options[] = {{"--free-site", job->free_site, VS_WHATIF_FREE_AT_STEP_END},
                   {"--without-site", job->without_site, VS_WHATIF_ABSENT}};
    size_t stack_count;
    vs_whatif_stacks(log, &stack_count);
    struct vs_whatif_site *found = vs_xarena(memory, (2 * stack_count + 1) * sizeof *found);
    *sites = found;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        regex_t expression;
        char why[256];
        if (!options[i].text)
            continue;
        int bad = regcomp(&expression, options[i].text, REG_EXTENDED | REG_NOSUB);
        if (bad) {
            regerror(bad, &expression, why, sizeof why);
            return vs_tool_usage(job->who, "%s '%s': %s", options[i].name, options[i].text, why);
        }
        size_t matched = vs_whatif_match(log, reader, &expression, options[i].rule, found + *count);
        regfree(&expression);
        *count += matched;
        if (!matched)
            return vs_tool_fail(job->who, "%s: no call site matches %s '%s': name a function, without file and line, "
                                "of those that `vramscope report` lists", job->trace, options[i].name, options[i].text);
    }
    if (job->free_site && !vs_whatif_recorded(log)->steps)
        return vs_tool_fail(job->who, "%s: --free-site frees at the end of each step, but the trace "
                            "has no steps, and its requests do not repeat; mark them with NVTX ranges named "
                            "\"step N\"", job->trace);
    return 0;
}
