/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/report_names.h"

#include <stdio.h>
#include <string.h>

#include "allocator/core/alloc_conf.h"

#define COMPARED_MAX 47 /* letters of a name; longer ones are not suggested */
#define FAR (COMPARED_MAX + 1)
#define CHANGES_MAX 2
#define KEYS_MAX 64
#define KEYS_LISTED 9 /* those that change how memory is placed come first */

/* Levenshtein's distance. */
static size_t distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), row[COMPARED_MAX + 1];
    if (la > COMPARED_MAX || lb > COMPARED_MAX)
        return FAR;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

size_t vs_name_meant(const char *word, const char *const *names, size_t count)
{
    size_t found = count, least = CHANGES_MAX + 1;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, names[i]);
        if (d < least && 2 * d <= strlen(word)) {
            least = d;
            found = i;
        }
    }
    return found;
}

static bool repeated(const char *const *names, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(names[i], names[index]) == 0)
            return true;
    return false;
}

char *vs_name_list(char *out, const char *const *names, size_t count, size_t most)
{
    size_t n = 0, listed = 0, left = 0;
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        size_t needed = strlen(names[i]) + sizeof ", " + sizeof " and 4294967295 more";
        if (repeated(names, i))
            continue;
        if (left || listed == most || n + needed > VS_NAME_LIST_MAX) {
            left++;
            continue;
        }
        n += (size_t)snprintf(out + n, VS_NAME_LIST_MAX - n, "%s%s", listed++ ? ", " : "", names[i]);
    }
    if (left)
        snprintf(out + n, VS_NAME_LIST_MAX - n, " and %zu more", left);
    return out;
}

char *vs_name_hint(char *out, const char *word, const char *const *names, size_t count, size_t most,
                   const char *listed)
{
    char list[VS_NAME_LIST_MAX];
    size_t meant = vs_name_meant(word, names, count);
    if (meant < count)
        snprintf(out, VS_NAME_HINT_MAX, "did you mean '%s'?", names[meant]);
    else
        snprintf(out, VS_NAME_HINT_MAX, "%s %s", listed, vs_name_list(list, names, count, most));
    return out;
}

char *vs_alloc_conf_hint(char *out, const char *word)
{
    const char *names[KEYS_MAX];
    size_t count = 0;
    while (count < KEYS_MAX && (names[count] = vs_alloc_conf_key(count)) != NULL)
        count++;
    return vs_name_hint(out, word, names, count, KEYS_LISTED, "known keys:");
}
