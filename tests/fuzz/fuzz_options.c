/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of options and of the limit. Input: a byte that selects the option, the rest is its value.
 * It is either accepted, and its text gives the same value again; or there is a message and nothing
 * changed. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_limit_spec.h"
#include "base/vs_option.h"
#include "fuzz/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_limit(const char *text)
{
    struct vs_limit_spec spec;
    enum vs_err err = vs_limit_parse(text, &spec);
    check(err == VS_OK || err == VS_ERR_ARG);
    const char *complaint = vs_limit_complaint(text);
    check(!complaint || (err && strlen(complaint) < VS_OPTION_TEXT_MAX));
    for (uint32_t device = 0; !err && device < VS_LIMIT_DEVICES_MAX + 2; device++) {
        uint64_t bytes = vs_limit_bytes(&spec, device, UINT64_C(80) << 30);
        check(bytes > 0);
        check(vs_limit_bytes(&spec, device, 0) >= 1);
    }
}

static void check_option(enum vs_option_id id, const char *text)
{
    static struct vs_options options, before;
    char why[VS_OPTION_TEXT_MAX] = "";
    vs_options_init(&options);
    memcpy(&before, &options, sizeof options);
    enum vs_err err = vs_options_set(&options, id, text, VS_FROM_COMMAND, why);
    check(err == VS_OK || err == VS_ERR_ARG);
    if (err) {
        check(*why && memchr(why, 0, sizeof why));
        check(memcmp(&before, &options, sizeof options) == 0);
        return;
    }
    const struct vs_option_info *info = vs_option_describe(id);
    check(strlen(options.text[id]) < VS_OPTION_TEXT_MAX && options.source[id] == VS_FROM_COMMAND);
    if (info->type == VS_OPTION_COUNT || info->type == VS_OPTION_SIZE)
        check(options.number[id] >= info->min && options.number[id] <= info->max);
    uint64_t number = options.number[id];
    check(vs_options_set(&options, id, text, VS_FROM_COMMAND, why) == VS_OK);
    check(options.number[id] == number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum vs_option_id id;
    char expanded[256];
    if (!size)
        return 0;
    char *text = malloc(size); /* exact size: a read beyond it is detected */
    check(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    check_limit(text);
    check_option((enum vs_option_id)(data[0] % VS_OPT_COUNT), text);
    (void)!vs_option_find(text, strlen(text), &id);
    enum vs_err err = vs_output_expand(text, "program", 4711, expanded, sizeof expanded);
    check(err || strlen(expanded) < sizeof expanded);
    free(text);
    return 0;
}
