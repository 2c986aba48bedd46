/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what the option `limit` says; see the header. */
#include "base/vs_limit_spec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"

#define ITEM_MAX 64

static bool set(const struct vs_limit_amount *amount)
{
    return amount->bytes || amount->percent > 0;
}

/* "12.5%": digits and one dot only, as strtod would take much more. */
static enum vs_err parse_percent(const char *text, size_t length, struct vs_limit_amount *out)
{
    char number[ITEM_MAX], *end;
    memcpy(number, text, length);
    number[length] = 0;
    if (!length || strspn(number, "0123456789.") != length)
        return VS_ERR_ARG;
    double percent = strtod(number, &end);
    if (*end || end == number || !(percent > 0 && percent <= 100))
        return VS_ERR_ARG;
    out->percent = percent;
    return VS_OK;
}

static enum vs_err parse_amount(const char *text, struct vs_limit_amount *out)
{
    struct vs_limit_amount amount = {0};
    size_t length = strlen(text);
    enum vs_err err = length && text[length - 1] == '%'
                          ? parse_percent(text, length - 1, &amount)
                          : vs_size_parse(text, &amount.bytes);
    if (err || !set(&amount) || set(out))
        return VS_ERR_ARG;
    *out = amount;
    return VS_OK;
}

static enum vs_err parse_item(const char *text, struct vs_limit_spec *spec)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return parse_amount(text, &spec->all);
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 2 || text + digits != colon)
        return VS_ERR_ARG;
    int ordinal = atoi(text);
    return ordinal < VS_LIMIT_DEVICES_MAX ? parse_amount(colon + 1, &spec->own[ordinal])
                                          : VS_ERR_ARG;
}

enum vs_err vs_limit_parse(const char *text, struct vs_limit_spec *spec)
{
    struct vs_limit_spec result = {0};
    while (*text) {
        char item[ITEM_MAX];
        size_t length = strcspn(text, ",");
        if (length >= sizeof item || (text[length] && !text[length + 1]))
            return VS_ERR_ARG;
        memcpy(item, text, length);
        item[length] = 0;
        enum vs_err err = parse_item(item, &result);
        if (err)
            return err;
        text += length + (text[length] == ',');
    }
    *spec = result;
    return VS_OK;
}

uint64_t vs_limit_bytes(const struct vs_limit_spec *spec, uint32_t device, uint64_t total_bytes)
{
    const struct vs_limit_amount *amount = &spec->all;
    if (device < VS_LIMIT_DEVICES_MAX && set(&spec->own[device]))
        amount = &spec->own[device];
    if (amount->bytes)
        return amount->bytes;
    if (!(amount->percent > 0) || !total_bytes)
        return VS_LIMIT_NONE;
    uint64_t bytes = (uint64_t)((long double)total_bytes * (long double)amount->percent / 100);
    return bytes ? bytes : 1;
}
