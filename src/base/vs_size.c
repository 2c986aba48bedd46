/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing and printing of sizes, durations and counts. */
#include "base/vs_size.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int unit_factor(const char *unit, long double *factor)
{
    static const char prefixes[] = "KMGTP";
    if (!*unit || strcasecmp(unit, "b") == 0 || strcasecmp(unit, "bytes") == 0) {
        *factor = 1;
        return 1;
    }
    const char *p = strchr(prefixes, toupper((unsigned char)*unit));
    if (!p)
        return 0;
    long double base = 1024;
    const char *rest = unit + 1;
    if (strcasecmp(rest, "b") == 0)
        base = 1000;
    else if (*rest && strcasecmp(rest, "i") != 0 && strcasecmp(rest, "ib") != 0)
        return 0;
    *factor = 1;
    for (long i = p - prefixes; i >= 0; i--)
        *factor *= base;
    return 1;
}

enum vs_err vs_size_parse(const char *text, uint64_t *bytes)
{
    if (!text)
        return VS_ERR_ARG;
    while (isspace((unsigned char)*text))
        text++;
    if (!isdigit((unsigned char)*text) && *text != '.')
        return VS_ERR_ARG;
    /* strtold would also accept hexadecimal, "inf" and exponents */
    size_t digits = strspn(text, "0123456789.");
    char number[64], unit[8];
    if (digits >= sizeof number)
        return VS_ERR_ARG;
    memcpy(number, text, digits);
    number[digits] = 0;
    char *end;
    long double value = strtold(number, &end);
    if (*end || end == number)
        return VS_ERR_ARG;
    const char *u = text + digits;
    while (isspace((unsigned char)*u))
        u++;
    size_t n = strlen(u);
    while (n && isspace((unsigned char)u[n - 1]))
        n--;
    if (n >= sizeof unit)
        return VS_ERR_ARG;
    memcpy(unit, u, n);
    unit[n] = 0;
    long double factor;
    if (!unit_factor(unit, &factor))
        return VS_ERR_ARG;
    value *= factor;
    if (!(value < 18446744073709551616.0L))
        return VS_ERR_ARG;
    *bytes = (uint64_t)value;
    return VS_OK;
}

/* One decimal below 1 GiB and two from there on, and *more* of them. */
static char *format(char *out, uint64_t bytes, int more)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        snprintf(out, VS_SIZE_TEXT_MAX, "%" PRIu64 " B", bytes);
        return out;
    }
    int u = 0;
    double v = (double)bytes;
    while (v >= 1023.95 && u < 6) {
        v /= 1024;
        u++;
    }
    /* as printf rounds: to the nearest, from the middle to the even one */
    int decimals = (u < 3 ? 1 : 2) + more;
    unsigned __int128 scaled = bytes;
    for (int i = 0; i < decimals; i++)
        scaled *= 10;
    uint64_t number = (uint64_t)(scaled >> 10 * u), rest = (uint64_t)(scaled & ((UINT64_C(1) << 10 * u) - 1));
    uint64_t half = UINT64_C(1) << (10 * u - 1);
    number += rest > half || (rest == half && (number & 1));
    char digits[24], *p = digits + sizeof digits;
    for (int i = 0; number || i <= decimals; i++, number /= 10) {
        *--p = (char)('0' + number % 10);
        if (i == decimals - 1)
            *--p = '.';
    }
    size_t length = (size_t)(digits + sizeof digits - p);
    memcpy(out, p, length);
    stpcpy(stpcpy(out + length, " "), units[u]);
    return out;
}

char *vs_size_format(char *out, uint64_t bytes)
{
    return format(out, bytes, 0);
}

struct vs_size_pair vs_sizes_apart(uint64_t a, uint64_t b)
{
    struct vs_size_pair pair;
    for (int more = 0; more <= 2; more++) {
        format(pair.a, a, more);
        format(pair.b, b, more);
        if (a == b || strcmp(pair.a, pair.b) != 0)
            return pair;
    }
    strcat(vs_count_format(pair.a, a), " B");
    strcat(vs_count_format(pair.b, b), " B");
    return pair;
}

char *vs_time_format(char *out, uint64_t time_ns)
{
    if (time_ns < 1000)
        snprintf(out, VS_SIZE_TEXT_MAX, "%" PRIu64 " ns", time_ns);
    else if (time_ns < 1000000)
        snprintf(out, VS_SIZE_TEXT_MAX, "%.1f µs", (double)time_ns / 1e3);
    else if (time_ns < 1000000000)
        snprintf(out, VS_SIZE_TEXT_MAX, "%.2f ms", (double)time_ns / 1e6);
    else if (time_ns < UINT64_C(120000000000))
        snprintf(out, VS_SIZE_TEXT_MAX, "%.3f s", (double)time_ns / 1e9);
    else
        snprintf(out, VS_SIZE_TEXT_MAX, "%" PRIu64 " min %02d s",
                 time_ns / UINT64_C(60000000000),
                 (int)(time_ns / 1000000000 % 60));
    return out;
}

char *vs_count_format(char *out, uint64_t count)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
    int o = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[o++] = ',';
        out[o++] = digits[i];
    }
    out[o] = 0;
    return out;
}

char *vs_number_format(char *out, uint64_t count, const char *noun)
{
    snprintf(out, VS_NUMBER_TEXT_MAX, "%s %s%s", vs_count_text(count), noun,
             count == 1 ? "" : "s");
    return out;
}
