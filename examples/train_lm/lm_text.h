/* SPDX-License-Identifier: Apache-2.0
 *
 * The text to learn: characters as numbers 0 … vocabulary - 1. */
#ifndef LM_TEXT_H
#define LM_TEXT_H

#include <stddef.h>

struct lm_text {
    unsigned char *ids; /* owned */
    size_t length;
    int vocabulary;
    unsigned char characters[256]; /* id to byte */
};

/* Reads *path*, or the bundled text if it is NULL (from the installation or the source
 * tree). The vocabulary is the bytes that occur, in ascending order. If the text cannot be
 * read or has fewer than *min_length* bytes, prints one line on stderr and exits with 2. */
void lm_text_load(struct lm_text *text, const char *path, size_t min_length);
void lm_text_free(struct lm_text *text);

#endif
