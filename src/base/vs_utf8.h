/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8 as Unicode has it: no overlong forms, no surrogates, nothing above U+10FFFF.
 * Thread-safe. */
#ifndef VS_UTF8_H
#define VS_UTF8_H

#include <stddef.h>

/* What stands for a byte that is none of it: U+FFFD. */
#define VS_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* vs_utf8_length: bytes of the character at *p*, of which *left* may be read; 0 when there is
 * none, and at a NUL. Of a C string *left* may be SIZE_MAX: nothing behind its NUL is read. */
size_t vs_utf8_length(const unsigned char *p, size_t left);

#endif
