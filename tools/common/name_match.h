/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that the user may have meant, for the message about an unknown one: by the number of letters
 * that would have to be changed. No state. */
#ifndef VS_NAME_MATCH_H
#define VS_NAME_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#define VS_NAME_LIST_MAX 512

/* vs_name_meant: index of the one of *count* *names* that *word* differs from in at most half of its
 * letters and at most two; *count* when there is none. */
size_t vs_name_meant(const char *word, const char *const *names, size_t count);

/* vs_name_list: "a, b, c and 4 more" of *names*, each once, at most *most* of them, in *out*
 * (VS_NAME_LIST_MAX bytes). Returns out. */
char *vs_name_list(char *out, const char *const *names, size_t count, size_t most);

#endif
