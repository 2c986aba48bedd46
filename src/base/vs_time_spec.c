/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Fractions are computed in integers, so that "0.1s" is 100,000,000 ns and not one
 * less. */
#include "base/vs_time_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    {"min", UINT64_C(60000000000)}, {"ms", 1000000}, {"us", 1000}, {"µs", 1000}, {"ns", 1},
    {"s", 1000000000}, {"m", UINT64_C(60000000000)}, {"h", UINT64_C(3600000000000)},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number with decimals: *whole* is its integer part, the rest is in units of 1e-12. */
static bool number(const char **text, uint64_t *whole, uint64_t *rest)
{
    const char *p = *text;
    *whole = *rest = 0;
    if (!is_digit(*p) && !(*p == '.' && is_digit(p[1])))
        return false;
    for (; is_digit(*p) || (*p == ',' && is_digit(p[1]) && p > *text); p++) {
        if (*p == ',')
            continue; /* the separator of thousands in printed counts */
        if (*whole > (UINT64_MAX - 9) / 10)
            return false;
        *whole = *whole * 10 + (uint64_t)(*p - '0');
    }
    uint64_t scale = UINT64_C(100000000000);
    if (*p == '.') {
        for (p++; is_digit(*p); p++, scale /= 10)
            *rest += (uint64_t)(*p - '0') * scale;
    }
    *text = p;
    return true;
}

static uint64_t unit(const char **text)
{
    while (**text == ' ')
        ++*text;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].name);
        if (strncmp(*text, units[i].name, length) == 0) {
            *text += length;
            return units[i].ns;
        }
    }
    return 0;
}

/* "3m20s" and similar, up to the end of the text. */
static bool duration(const char *text, uint64_t *ns)
{
    uint64_t sum = 0, last = UINT64_MAX;
    do {
        uint64_t whole, rest;
        while (*text == ' ')
            text++;
        if (!number(&text, &whole, &rest))
            return false;
        bool alone = !*text && last == UINT64_MAX;
        uint64_t each = alone ? UINT64_C(1000000000) : unit(&text);
        if (!each || each >= last)
            return false; /* no unit, or units out of order: "5s3m" */
        last = each;
        uint64_t part = (uint64_t)((unsigned __int128)rest * each / UINT64_C(1000000000000));
        if (whole > (UINT64_MAX - part) / each || whole * each + part > UINT64_MAX - sum)
            return false;
        sum += whole * each + part;
    } while (*text);
    *ns = sum;
    return true;
}

enum vs_err vs_time_spec_parse(const char *text, struct vs_time_spec *out)
{
    struct vs_time_spec spec = {.kind = VS_TIME_SINCE_START};
    const char *p = text;
    uint64_t whole, rest;
    if (*p == '@') {
        p++;
        if (!number(&p, &whole, &rest) || *p || rest || !whole)
            return VS_ERR_ARG;
        *out = (struct vs_time_spec){VS_TIME_EVENT, whole};
        return VS_OK;
    }
    if (number(&p, &whole, &rest)) {
        while (*p == ' ')
            p++;
        if (*p == '%' && !p[1]) {
            if (whole > 100 || (whole == 100 && rest))
                return VS_ERR_ARG;
            *out = (struct vs_time_spec){VS_TIME_PERCENT,
                                         whole * 1000 + rest / UINT64_C(1000000000)};
            return VS_OK;
        }
    }
    if (*text == '-') {
        spec.kind = VS_TIME_BEFORE_END;
        text++;
    }
    if (!duration(text, &spec.value))
        return VS_ERR_ARG;
    *out = spec;
    return VS_OK;
}

enum vs_err vs_time_spec_ns(const struct vs_time_spec *spec, uint64_t length_ns, uint64_t *ns)
{
    switch (spec->kind) {
    case VS_TIME_SINCE_START:
        *ns = spec->value;
        return VS_OK;
    case VS_TIME_BEFORE_END:
        if (spec->value > length_ns)
            return VS_ERR_ARG;
        *ns = length_ns - spec->value;
        return VS_OK;
    case VS_TIME_PERCENT:
        *ns = (uint64_t)((unsigned __int128)length_ns * spec->value / 100000);
        return VS_OK;
    default:
        return VS_ERR_ARG;
    }
}
