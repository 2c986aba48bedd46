/* SPDX-License-Identifier: Apache-2.0
 *
 * Names from a trace as text; see the header. */
#include "analysis/naming/name_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

size_t vs_text_width(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

/* The control characters U+0080 to U+009F are two bytes in UTF-8; a single byte in that range is
 * not UTF-8, and terminals ignore it. */
char vs_text_next(const char **text)
{
    const unsigned char *at = (const unsigned char *)(*text)++;
    if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) {
        (*text)++;
        return '?';
    }
    return at[0] < ' ' || at[0] == 0x7f ? '?' : (char)at[0];
}

char *vs_text_clean(char *text)
{
    const char *from = text;
    char *to = text;
    while (*from)
        *to++ = vs_text_next(&from);
    *to = 0;
    return text;
}

char *vs_text_clip(char *out, const char *text, size_t columns)
{
    bool cut = vs_text_width(text) > columns;
    size_t keep = cut && columns ? columns - 1 : columns, seen = 0;
    char *p = out;
    while (*text) {
        if (((unsigned char)*text & 0xc0) != 0x80 && seen++ == keep)
            break;
        *p++ = vs_text_next(&text);
    }
    if (cut && columns) {
        memcpy(p, "…", strlen("…"));
        p += strlen("…");
    }
    *p = 0;
    return out;
}

const char *vs_text_copy(struct vs_arena *memory, const char *text)
{
    return vs_xarena_text(memory, text ? text : "");
}

#define ARGUMENTS_SHOWN 16 /* bytes of template arguments that are not shortened */

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

static bool in_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The length of the inline namespace of an ABI, "::" included, at *at*: THRUST_300001_SM_900_NS,
 * CUB_200200_NS, __cxx11, __4. 0 for other names. */
static int abi_namespace(const char *at)
{
    int length = 0;
    while (in_identifier(at[length]))
        length++;
    if (at[length] != ':' || at[length + 1] != ':')
        return 0;
    bool versioned = (strncmp(at, "THRUST_", 7) == 0 && isdigit((unsigned char)at[7])) ||
                     (strncmp(at, "CUB_", 4) == 0 && isdigit((unsigned char)at[4])) ||
                     (strncmp(at, "__", 2) == 0 && (int)strspn(at + 2, "0123456789") == length - 2);
    return versioned || strncmp(at, "__cxx11::", 9) == 0 ? length + 2 : 0;
}

/* The bytes of the template arguments at *at*, brackets included; 0 when they have no end. */
static int arguments_length(const char *at, int left)
{
    int depth = 0;
    for (int i = 0; i < left; i++) {
        depth += (at[i] == '<') - (at[i] == '>' && at[i - 1] != '-');
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

const char *vs_function_qualified(const char *function)
{
    return function + return_type_length(function, function_length(function));
}

size_t vs_function_text(const char *function, char *out, size_t max)
{
    int length = function_length(function), at = return_type_length(function, length), n;
    size_t used = 0;
    while (at < length && used + 1 < max) {
        bool begins = at == 0 || !in_identifier(function[at - 1]);
        if (begins && is_operator(function, at)) {
            while (at < length && used + 1 < max)
                out[used++] = function[at++];
        } else if (begins && (n = abi_namespace(function + at)) > 0) {
            at += n;
        } else if (function[at] == '<' && at && in_identifier(function[at - 1]) &&
                   (n = arguments_length(function + at, length - at)) > ARGUMENTS_SHOWN + 2) {
            if (used + sizeof "<…>" > max)
                break;
            memcpy(out + used, "<…>", sizeof "<…>" - 1);
            used += sizeof "<…>" - 1;
            at += n;
        } else {
            out[used++] = function[at++];
        }
    }
    out[used] = 0;
    return used;
}

static bool is_python(const char *program)
{
    return strncmp(program, "python", 6) == 0 || strncmp(program, "pypy", 4) == 0;
}

/* Options of the interpreter that take the next word as their value. */
static bool takes_word(const char *option)
{
    return strcmp(option, "-W") == 0 || strcmp(option, "-X") == 0;
}

const char *vs_process_words(const char *exe, const char *cmdline, char *out, size_t size)
{
    const char *program = vs_text_base_name(exe);
    snprintf(out, size, "%s", program);
    char *line = vs_xstrdup(cmdline), *rest = line, *word = strtok_r(line, " ", &rest); /* the interpreter */
    while (word && is_python(program) && (word = strtok_r(NULL, " ", &rest)) != NULL) {
        bool module = strcmp(word, "-m") == 0;
        if (module || takes_word(word))
            word = strtok_r(NULL, " ", &rest);
        if (word && (module || *word != '-')) {
            snprintf(out, size, "%s", vs_text_base_name(word));
            if (module || *word != '-')
                break;
        } else if (word && strcmp(word, "-c") == 0) {
            break;
        }
    }
    const char *arguments = cmdline + (rest - line);
    free(line);
    return arguments;
}

char *vs_process_name(const char *exe, const char *cmdline, char *out, size_t size)
{
    vs_process_words(exe, cmdline, out, size);
    return out;
}
