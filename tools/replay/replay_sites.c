/* SPDX-License-Identifier: Apache-2.0
 *
 * --free-site: the call sites with a function that matches an expression, as "f (a.c:12)". */
#include <regex.h>
#include <stdio.h>

#include "analysis/naming/naming.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "tools/replay/replay_command.h"

static bool matches(const regex_t *expression, const struct vs_reader *reader,
                    struct vs_symbols *symbols, uint64_t stack)
{
    struct vs_chain_frame chain[VS_CHAIN_MAX];
    char text[1024];
    size_t count = vs_naming_chain(reader, symbols, stack, false, chain);
    for (size_t i = 0; i < count; i++) {
        const char *file = chain[i].file ? vs_text_base_name(chain[i].file) : NULL;
        if (file)
            snprintf(text, sizeof text, "%s (%s:%u)", chain[i].function, file, chain[i].line);
        else
            snprintf(text, sizeof text, "%s", chain[i].function);
        if (regexec(expression, text, 0, NULL, 0) == 0)
            return true;
    }
    return false;
}

static enum vs_err match(const regex_t *expression, const struct vs_whatif_log *log,
                         const struct vs_reader *reader, struct vs_whatif_site *sites,
                         size_t *count)
{
    struct vs_symbols *symbols = vs_symbols_open(reader);
    size_t stack_count;
    const uint64_t *stacks = vs_whatif_stacks(log, &stack_count);
    for (size_t i = 0; i < stack_count; i++) {
        if (matches(expression, reader, symbols, stacks[i]))
            sites[(*count)++] = (struct vs_whatif_site){stacks[i], VS_WHATIF_FREE_AT_STEP_END, 0};
    }
    vs_symbols_close(symbols);
    return VS_OK;
}

int vs_replay_sites(const struct vs_replay_job *job, const struct vs_whatif_log *log,
                    struct vs_reader *reader, struct vs_arena *memory,
                    const struct vs_whatif_site **sites, size_t *count)
{
    regex_t expression;
    char why[256];
    size_t stack_count;
    if (!job->free_site)
        return 0;
    int bad = regcomp(&expression, job->free_site, REG_EXTENDED | REG_NOSUB);
    if (bad) {
        regerror(bad, &expression, why, sizeof why);
        return vs_tool_usage(job->who, "--free-site '%s': %s", job->free_site, why);
    }
    vs_whatif_stacks(log, &stack_count);
    struct vs_whatif_site *found = vs_xarena(memory, (stack_count + 1) * sizeof *found);
    enum vs_err err = match(&expression, log, reader, found, count);
    regfree(&expression);
    *sites = found;
    if (err)
        return vs_tool_fail(job->who, "%s: cannot name the call sites: %s", job->trace,
                            vs_err_text(err));
    if (!*count)
        return vs_tool_fail(job->who, "%s: no call site matches --free-site '%s'; `vramscope report` "
                            "lists them", job->trace, job->free_site);
    if (!vs_whatif_recorded(log)->steps)
        return vs_tool_fail(job->who, "%s: --free-site frees at the end of each step, but the trace "
                            "has no steps, and its requests do not repeat; mark them with NVTX ranges named "
                            "\"step N\"", job->trace);
    return 0;
}
