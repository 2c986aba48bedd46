/* SPDX-License-Identifier: Apache-2.0
 *
 * Call sites and names as text; see the header. */
#include "analysis/report/site_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/vs_text.h"
#include "trace/format/event.h"

/* Whether "operator()" ends before *length*. */
static bool is_call_operator(const char *function, size_t length)
{
    static const char call[] = "operator()";
    size_t bytes = sizeof call - 1;
    return length >= bytes && memcmp(function + length - bytes, call, bytes) == 0 &&
           (length == bytes || function[length - bytes - 1] == ':');
}

/* The length of "f(int) const &&" without what follows the parameters; of other texts all of it. */
static size_t without_qualifiers(const char *function)
{
    static const char *const qualifiers[] = {" const", " volatile", " &", " &&"};
    size_t whole = strlen(function), length = whole;
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++) {
        size_t bytes = strlen(qualifiers[i]);
        if (length < bytes || memcmp(function + length - bytes, qualifiers[i], bytes) != 0)
            continue;
        length -= bytes;
        i = (size_t)-1; /* several may follow each other */
    }
    return length && function[length - 1] == ')' ? length : whole;
}

/* The length of the function's name without its parameters: "f(int, float) const" -> "f". Template
 * arguments stay; "operator()" and "(anonymous namespace)" are unchanged. */
static int function_length(const char *function)
{
    size_t whole = strlen(function), length = without_qualifiers(function);
    if (length == 0 || function[length - 1] != ')' || is_call_operator(function, length))
        return (int)length;
    int depth = 0;
    for (size_t i = length; i-- > 0;) {
        if (function[i] == ')')
            depth++;
        else if (function[i] == '(' && --depth == 0)
            return i == 0 ? (int)whole : (int)i;
    }
    return (int)whole;
}

/* Whether "operator" begins at *i*: what follows, such as << and ->, is a part of the name. */
static bool is_operator(const char *function, int i)
{
    static const char word[] = "operator";
    size_t bytes = sizeof word - 1;
    if (strncmp(function + i, word, bytes) != 0 || (i && !strchr(" :", function[i - 1])))
        return false;
    return !isalnum((unsigned char)function[i + (int)bytes]) && function[i + (int)bytes] != '_';
}

/* The bytes before the name of a template function, which C++ demanglers begin with its return type:
 * "std::unique_ptr<int> make<int>" -> "make<int>". */
static int return_type_length(const char *function, int length)
{
    int name = 0, depth = 0;
    if (length == 0 || function[length - 1] != '>')
        return 0;
    for (int i = 0; i < length && !(depth == 0 && is_operator(function, i)); i++) {
        bool arrow = function[i] == '>' && i && function[i - 1] == '-';
        if (strchr("<([{", function[i]))
            depth++;
        else if (strchr(">)]}", function[i]) && !arrow)
            depth--;
        else if (function[i] == ' ' && depth == 0)
            name = i + 1;
    }
    return name;
}

static size_t append(char *out, size_t at, const char *text, int length)
{
    int n = snprintf(out + at, VS_CHAIN_TEXT_MAX - at, "%.*s", length, text);
    size_t end = at + (n > 0 ? (size_t)n : 0);
    return end < VS_CHAIN_TEXT_MAX ? end : VS_CHAIN_TEXT_MAX - 1;
}

#define FIRST_FUNCTION_MAX 56 /* bytes: its line must not be cut off in 80 columns */

/* "outer::inner<int>::f" without what comes first, for names that are too long. */
static const char *short_tail(const char *function, int length)
{
    const char *tail = function;
    int depth = 0;
    for (int i = length; i-- > 0 && length - i <= FIRST_FUNCTION_MAX;) {
        depth += (function[i] == '>') - (function[i] == '<');
        if (depth == 0 && function[i] == ':' && i + 1 < length && function[i + 1] != ':')
            tail = function + i + 1;
    }
    return tail;
}

/* *first*: of a text that begins with it. For missing frames a text with a remedy. */
static size_t append_function(char *out, size_t at, const char *function, bool first)
{
    static const char more[] = "(more frames; raise --stack-depth, at most 128)";
    if (strcmp(function, "(more frames)") == 0)
        return append(out, at, more, (int)sizeof more - 1);
    int length = function_length(function), type = return_type_length(function, length);
    function += type;
    length -= type;
    if (!first || length <= FIRST_FUNCTION_MAX)
        return append(out, at, function, length);
    const char *tail = short_tail(function, length);
    length -= (int)(tail - function);
    at = append(out, at, tail == function ? "" : "…::", (int)strlen("…::"));
    if (length <= FIRST_FUNCTION_MAX)
        return append(out, at, tail, length);
    while (length > FIRST_FUNCTION_MAX || ((unsigned char)tail[length] & 0xc0) == 0x80)
        length--;
    return append(out, append(out, at, tail, length), "…", (int)strlen("…"));
}

static size_t append_place(char *out, size_t at, const struct vs_report_frame *frame,
                           const char **file)
{
    char where[300] = "";
    if (frame->file && frame->line && *file && strcmp(*file, frame->file) == 0) {
        snprintf(where, sizeof where, ":%u", frame->line);
    } else if (frame->file && frame->line) {
        snprintf(where, sizeof where, " (%.280s:%u)", vs_text_base_name(frame->file), frame->line);
        *file = frame->file;
    }
    return append(out, at, where, (int)strlen(where));
}

static bool same_frame(const struct vs_report_frame *a, const struct vs_report_frame *b)
{
    return a->line && a->line == b->line && strcmp(a->function, b->function) == 0 && a->file && b->file &&
           strcmp(a->file, b->file) == 0;
}

/* A function that calls itself on one line is one frame: "visit (tree.c:12) x 3". */
static size_t append_chain(char *out, size_t at, const struct vs_report_site *site, size_t frames)
{
    const char *file = NULL;
    const struct vs_report_frame *last = NULL;
    size_t shown = 0, times = 1;
    for (size_t i = site->wrappers; i <= site->frame_count; i++) {
        const struct vs_report_frame *frame = i < site->frame_count ? &site->frames[i] : NULL;
        if (frame && site->folds && frame->library)
            continue;
        if (frame && last && same_frame(frame, last)) {
            times++;
            continue;
        }
        char repeated[32];
        if (times > 1)
            at = append(out, at, repeated, snprintf(repeated, sizeof repeated, " x %zu", times));
        times = 1;
        last = frame;
        if (!frame)
            break;
        if (shown == frames)
            return append(out, at, " < …", (int)strlen(" < …"));
        if (shown)
            at = append(out, at, " < ", 3);
        at = append_function(out, at, frame->function, !shown++);
        at = append_place(out, at, frame, &file);
    }
    return at;
}

char *vs_text_site(char *out, const struct vs_report_site *site, size_t frames)
{
    size_t at = 0;
    out[0] = 0;
    if (site->line) {
        snprintf(out, VS_CHAIN_TEXT_MAX, "%s", site->line);
        return vs_text_clean(out);
    }
    if (site->frame_count == 0) {
        snprintf(out, VS_CHAIN_TEXT_MAX, "%s (no stack recorded)",
                 *site->api                            ? site->api
                 : site->level == VS_LEVEL_FRAMEWORK ? "tensors"
                                                       : vs_family_name(site->family));
        return vs_text_clean(out);
    }
    at = append_chain(out, at, site, frames);
    if (site->through) {
        at = append(out, at, " [", 2);
        at = append(out, at, site->through, (int)strlen(site->through));
        append(out, at, "]", 1);
    }
    return vs_text_clean(out);
}

char *vs_text_percent(char *out, uint64_t part, uint64_t whole)
{
    if (whole == 0)
        snprintf(out, 16, "-");
    else if (part && (double)part / (double)whole < 0.0005)
        snprintf(out, 16, "<0.1 %%"); /* not "0.0 %", which looks like zero */
    else
        snprintf(out, 16, "%.1f %%", 100.0 * (double)part / (double)whole);
    return out;
}
