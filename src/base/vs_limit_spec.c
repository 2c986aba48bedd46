/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the option `limit`; see the header. */
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

#define TEXT(number) #number
#define TEXT_OF(macro) TEXT(macro)

static enum vs_err refuse(const char **why, const char *words)
{
    *why = words;
    return VS_ERR_ARG;
}

/* "12.5%": digits and one dot only; strtod would accept much more. */
static enum vs_err parse_percent(const char *text, size_t length, struct vs_limit_amount *out,
                                 const char **why)
{
    char number[ITEM_MAX], *end;
    memcpy(number, text, length);
    number[length] = 0;
    if (!length || strspn(number, "0123456789.") != length)
        return VS_ERR_ARG;
    double percent = strtod(number, &end);
    if (*end || end == number)
        return VS_ERR_ARG;
    if (percent > 100)
        return refuse(why, "more than 100 %");
    if (!(percent > 0))
        return refuse(why, "must be above 0");
    out->percent = percent;
    return VS_OK;
}

/* *twice*: the error if *out* has an amount already. */
static enum vs_err parse_amount(const char *text, struct vs_limit_amount *out, const char *twice,
                                const char **why)
{
    struct vs_limit_amount amount = {0};
    size_t length = strlen(text);
    enum vs_err err = length && text[length - 1] == '%'
                          ? parse_percent(text, length - 1, &amount, why)
                          : vs_size_parse(text, &amount.bytes);
    if (err)
        return VS_ERR_ARG;
    if (!set(&amount))
        return refuse(why, "must be above 0");
    if (set(out))
        return refuse(why, twice);
    *out = amount;
    return VS_OK;
}

static enum vs_err parse_item(const char *text, struct vs_limit_spec *spec, const char **why)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return parse_amount(text, &spec->all, "two values without a device", why);
    size_t digits = strspn(text, "0123456789");
    if (!digits || text + digits != colon)
        return VS_ERR_ARG;
    unsigned long ordinal = strtoul(text, NULL, 10);
    if (ordinal >= VS_LIMIT_DEVICES_MAX)
        return refuse(why, "device numbers are below " TEXT_OF(VS_LIMIT_DEVICES_MAX));
    return parse_amount(colon + 1, &spec->own[ordinal], "one device given twice", why);
}

static enum vs_err parse(const char *text, struct vs_limit_spec *spec, const char **why)
{
    while (*text) {
        char item[ITEM_MAX];
        size_t length = strcspn(text, ",");
        if (length >= sizeof item)
            return VS_ERR_ARG;
        if (!length || (text[length] && !text[length + 1]))
            return refuse(why, "nothing next to a comma");
        memcpy(item, text, length);
        item[length] = 0;
        enum vs_err err = parse_item(item, spec, why);
        if (err)
            return err;
        text += length + (text[length] == ',');
    }
    return VS_OK;
}

enum vs_err vs_limit_parse(const char *text, struct vs_limit_spec *spec)
{
    struct vs_limit_spec result = {0};
    const char *why = NULL;
    enum vs_err err = parse(text, &result, &why);
    if (!err)
        *spec = result;
    return err;
}

const char *vs_limit_complaint(const char *text)
{
    struct vs_limit_spec spec = {0};
    const char *why = NULL;
    return parse(text, &spec, &why) ? why : NULL;
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
