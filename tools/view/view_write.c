/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "tools/view/view_write.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/vs_size.h"
#include "tools/common/command.h"
#include "tools/common/whole_file.h"
#include "tools/view/view_open.h"
#include "tools/view/view_trace.h"
#include "viewer/common/text_style.h"

bool vs_view_may_write(const char *who, const char *output, const char *first, const char *second)
{
    if (!vs_tool_is_same_file(output, first) && (!second || !vs_tool_is_same_file(output, second)))
        return vs_tool_may_overwrite(who, output);
    vs_tool_fail(who, "%s is the trace itself; give another file with -o", output);
    return false;
}

static void tell(FILE *out, const char *path, uint64_t blocks)
{
    struct stat st;
    char size[VS_SIZE_TEXT_MAX], count[VS_SIZE_TEXT_MAX];
    if (stat(path, &st))
        return;
    if (out == stderr)
        fputs("vramscope: page ", out);
    vs_text_put(out, path);
    fprintf(out, ": %s with %s block%s\n", vs_size_format(size, (uint64_t)st.st_size),
            vs_count_format(count, blocks), blocks == 1 ? "" : "s");
}

int vs_view_write(const char *who, const struct vs_view_page_file *page, FILE *told)
{
    struct vs_whole_file out;
    uint64_t blocks = 0;
    if (!vs_whole_file_open(who, page->path, false, &out))
        return VS_EXIT_UNUSABLE;
    for (int i = 0; i < 2 && page->data[i]; i++) {
        vs_whole_file_like(&out, page->traces[i]);
        blocks += vs_page_data_blocks(page->data[i]);
    }
    vs_page_write(out.stream, page->data[0], page->data[1], false);
    int code = vs_whole_file_end(who, &out, VS_EXIT_OK);
    if (!code && page->path && told)
        tell(told, page->path, blocks);
    return code;
}

void vs_view_recorded(const char *who, const char *path, const char *output)
{
    struct vs_view_options options = {.partial = true, .events_max = VS_PAGE_EVENTS_MAX};
    struct vs_view_trace trace;
    char name[PATH_MAX];
    if (!output && !vs_view_name(who, path, NULL, name))
        return;
    const char *page = output ? output : name;
    if (!vs_view_may_write(who, page, path, NULL) || !vs_view_open(who, path, &options, &trace))
        return;
    struct vs_page_data *data = vs_view_page(&trace, &options);
    vs_view_close(&trace);
    const struct vs_view_page_file file = {page, {path}, {data}};
    int code = data ? vs_view_write(who, &file, stderr) : VS_EXIT_UNUSABLE;
    vs_page_data_free(data);
    if (!code && !output)
        vs_view_show(who, page, page);
}
