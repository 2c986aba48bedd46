/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/common/openmetrics.h"

#include <stdint.h>

#include "base/vs_utf8.h"

void vs_metric_label(FILE *out, const char *name, const char *text, const char *before)
{
    fprintf(out, "%s%s=\"", before, name);
    for (const char *p = text; *p;) {
        size_t length = vs_utf8_length((const unsigned char *)p, SIZE_MAX);
        if (*p == '"' || *p == '\\')
            fputc('\\', out);
        if (*p == '\n')
            fputs("\\n", out);
        else if (!length)
            fputs(VS_UTF8_REPLACEMENT, out);
        else if ((unsigned char)*p < ' ')
            fputc('?', out);
        else
            fwrite(p, 1, length, out);
        p += length ? length : 1;
    }
    fputc('"', out);
}
