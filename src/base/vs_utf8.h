/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8 as defined by Unicode: no overlong forms, no surrogates, nothing above U+10FFFF.
 * Thread-safe. */
#ifndef VS_UTF8_H
#define VS_UTF8_H

#include <stddef.h>

/* Replaces an invalid byte: U+FFFD. */
#define VS_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* vs_utf8_length: bytes of the character at *p*, of which *left* may be read; 0 if it is invalid,
 * and at a NUL. *left* may be SIZE_MAX for a C string: nothing after its NUL is read. */
size_t vs_utf8_length(const unsigned char *p, size_t left);

#endif
