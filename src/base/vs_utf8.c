/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vs_utf8.h"

size_t vs_utf8_length(const unsigned char *p, size_t left)
{
    unsigned char c = p[0];
    if (c && c < 0x80)
        return 1;
    size_t n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (!n || n > left)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) || (c == 0xf0 && p[1] < 0x90) ||
        (c == 0xf4 && p[1] > 0x8f))
        return 0; /* overlong, surrogate, beyond U+10FFFF */
    return n;
}
