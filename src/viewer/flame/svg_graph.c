/* SPDX-License-Identifier: Apache-2.0
 *
 * The file refers to no other: frames that are wide enough are plain elements, which an
 * image viewer shows, and all frames are data, from which the script draws them anew. */
#include "viewer/flame/svg_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_utf8.h"
#include "viewer/common/json_writer.h"

extern const char vs_flame_script[], vs_flame_style[]; /* by cmake/embed_text.cmake */

#define WIDTH 1200.0
#define EDGE ((double)VS_SVG_EDGE)
#define TOP 92
#define ROW 21
#define NARROWEST 0.7 /* pixels of a frame without the script */
#define CHARACTER 6.1 /* of a letter, on average */

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

/* *text* as a JSON string without characters that have a meaning in XML, cut after VS_SVG_NAME_MAX
 * bytes. */
static void put_json(FILE *out, const char *text)
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
    FILE *memory = vs_xstream(&json, &bytes);
    vs_json_text(memory, text);
    vs_xstream_end(memory);
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

void vs_svg_legend(FILE *out, double x, const char *color, const char *text)
{
    fprintf(out, "<rect x=\"%.0f\" y=\"66\" width=\"12\" height=\"12\"%s fill=\"%s\"/>", EDGE + x,
            text ? " rx=\"2\"" : "", color);
    if (text)
        fprintf(out, "<text x=\"%.0f\" y=\"76\">%s</text>", EDGE + x + 18, text);
}

static void put_frame(const struct vs_svg_content *content, FILE *out, uint32_t node, size_t depth,
                      double x, double width)
{
    const char *name =
        node ? content->frame(content->of, content->tree->nodes[node].frame).name : "all";
    const char *color = content->color(content->of, node);
    size_t room = width > 8 + 3 * CHARACTER ? (size_t)((width - 8) / CHARACTER) : 0;
    fprintf(out, "<g class=\"frame%s\"><title>", color ? "" : " rest");
    vs_svg_text(out, name, VS_SVG_NAME_MAX);
    fputs(": ", out);
    content->put_values(content->of, node, out);
    fprintf(out, "</title><rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\"", x, TOP + depth * ROW, width,
            ROW - 1);
    if (color)
        fprintf(out, " fill=\"%s\"", color);
    fputs("/>", out);
    if (room) {
        fprintf(out, "<text x=\"%.2f\" y=\"%.1f\">", x + 4, (double)(TOP + depth * ROW) + 14.5);
        vs_svg_text(out, name, room);
        fputs("</text>", out);
    }
    fputs("</g>\n", out);
}

/* Draws the frames that are wide enough; *rows* receives the number of rows. With *drawn* false only counts. A
 * frame's place follows from its caller's, and from its elder siblings'. */
static void put_frames(const struct vs_svg_content *content, FILE *out, bool drawn, size_t *rows)
{
    const struct vs_call_tree *tree = content->tree;
    struct frame_place {
        double width, next; /* next: where its next child begins */
    } *at = vs_xcalloc(tree->count, sizeof *at);
    size_t depth = 0;
    uint64_t whole = content->by_count ? tree->nodes[0].count : tree->nodes[0].bytes;
    *rows = 1;
    at[0] = (struct frame_place){WIDTH - 2 * EDGE, EDGE};
    if (drawn)
        put_frame(content, out, 0, 0, EDGE, at[0].width);
    for (uint32_t n = 0; (n = vs_call_tree_next(tree, n, &depth)) != 0;) {
        struct frame_place *above = &at[tree->nodes[n].parent];
        double x = above->next;
        uint64_t value = content->by_count ? tree->nodes[n].count : tree->nodes[n].bytes;
        double width = whole ? at[0].width * (double)value / (double)whole : 0;
        at[n] = (struct frame_place){width, x};
        above->next += width;
        if (width < NARROWEST)
            continue;
        *rows = depth + 1 > *rows ? depth + 1 : *rows;
        if (drawn)
            put_frame(content, out, n, depth, x, width);
    }
    free(at);
}

/* All frames for the script: see flame_graph.js for their meaning. */
static void put_data(const struct vs_svg_content *content, FILE *out)
{
    const struct vs_call_tree *tree = content->tree;
    size_t depth = 0;
    fprintf(out, "{\"by\":\"%s\",\"inverted\":%s,", content->by_count ? "count" : "bytes",
            content->inverted ? "true" : "false");
    if (content->shades)
        fprintf(out, "\"shades\":%u,", content->shades);
    fputs("\n\"colors\":[", out);
    for (size_t i = 0; i < content->color_count; i++)
        fprintf(out, "%s\"%s\"", i ? "," : "", content->colors[i]);
    fputs("],\n\"frames\":[", out);
    for (size_t i = 0; i < content->frame_count; i++) {
        const struct vs_svg_frame frame = content->frame(content->of, (uint32_t)i);
        fputs(i ? ",\n" : "\n", out);
        if (!frame.name) {
            fputc('0', out);
            continue;
        }
        fputc('[', out);
        put_json(out, frame.name);
        fprintf(out, ",%d,", frame.owner);
        put_json(out, frame.library);
        fputc(',', out);
        put_json(out, frame.file);
        fprintf(out, ",%zu]", frame.color);
    }
    fprintf(out, "],\n\"nodes\":[-1,0,%" PRIu64 ",%" PRIu64, tree->nodes[0].bytes,
            tree->nodes[0].count);
    for (uint32_t n = 0; (n = vs_call_tree_next(tree, n, &depth)) != 0;)
        fprintf(out, ",\n%" PRIu32 ",%zu,%" PRIu64 ",%" PRIu64, tree->nodes[n].frame, depth,
                tree->nodes[n].bytes, tree->nodes[n].count);
    fputc(']', out);
    if (content->put_more)
        content->put_more(content->of, out);
    fputc('}', out);
}

void vs_svg_graph_write(const struct vs_svg_content *content, FILE *out)
{
    size_t rows = 1;
    put_frames(content, out, false, &rows);
    double height = TOP + (double)rows * ROW + 34;
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\">\n<title>", WIDTH, height, WIDTH, height);
    content->put_title(content->of, out);
    fprintf(out, "</title>\n<style>\n%s</style>\n"
            "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
            "<text class=\"title\" x=\"%.0f\" y=\"28\">", vs_flame_style, EDGE);
    content->put_title(content->of, out);
    fprintf(out, "</text>\n<text class=\"note\" x=\"%.0f\" y=\"47\">", EDGE);
    content->put_note(content->of, out);
    fputs("</text>\n<g id=\"legend\" class=\"legend\">", out);
    content->put_legend(content->of, out);
    fputs("</g>\n<g id=\"frames\">\n", out);
    put_frames(content, out, true, &rows);
    fprintf(out, "</g>\n<text id=\"foot\" class=\"note\" x=\"%.0f\" y=\"%zu\"></text>\n"
            "<script type=\"application/json\" id=\"data\">", EDGE, TOP + rows * ROW + 20);
    put_data(content, out);
    fprintf(out, "</script>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", vs_flame_script);
}
