/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/flame/svg_text.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_utf8.h"
#include "viewer/common/json_writer.h"

void vs_svg_text(FILE *out, const char *text, size_t characters)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n;
    bool cut = vs_text_width(text) > characters;
    for (size_t i = 0; *p && i + cut < characters; i++, p += n) {
        n = vs_utf8_length(p, SIZE_MAX);
        bool non_character = n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe; /* not XML */
        if (n == 0 || *p < 0x20 || *p == 0x7f || non_character)
            fputs(VS_UTF8_REPLACEMENT, out);
        else if (strchr("&<>\"'", *p))
            fprintf(out, "&#%d;", *p);
        else
            fwrite(p, 1, n, out);
        n += n == 0;
    }
    fputs(cut ? "…" : "", out);
}

void vs_svg_json(FILE *out, const char *text)
{
    char *json = NULL, cut[VS_SVG_NAME_MAX + 8];
    size_t bytes = 0, length = strlen(text);
    if (length > VS_SVG_NAME_MAX) {
        length = VS_SVG_NAME_MAX;
        while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
        snprintf(cut, sizeof cut, "%.*s…", (int)length, text);
        text = cut;
    }
    FILE *memory = open_memstream(&json, &bytes);
    if (!memory)
        vs_out_of_memory();
    vs_json_text(memory, text);
    if (fclose(memory) != 0)
        vs_out_of_memory();
    for (size_t i = 0; i < bytes; i++) {
        bool wide = i + 2 < bytes && (unsigned char)json[i] == 0xef && (unsigned char)json[i + 1] == 0xbf &&
                    (unsigned char)json[i + 2] >= 0xbe; /* U+FFFE, U+FFFF */
        if (wide)
            fputs(VS_UTF8_REPLACEMENT, out);
        else if (strchr("&<>'", json[i]))
            fprintf(out, "\\u%04x", (unsigned char)json[i]);
        else
            fputc(json[i], out);
        i += wide ? 2 : 0;
    }
    free(json);
}
