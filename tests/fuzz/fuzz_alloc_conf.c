/* SPDX-License-Identifier: Apache-2.0
 *
 * libFuzzer entry for the text of PYTORCH_ALLOC_CONF. Any bytes give either a configuration that an
 * allocator can be created with, or a message; the same bytes always give the same result. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/core/alloc_conf.h"
#include "fuzz/check.h"

static void check_line(const char *text)
{
    size_t length = strlen(text);
    check(length > 0 && length < VS_ALLOC_CONF_MESSAGE_MAX);
    for (size_t i = 0; i < length; i++)
        check(text[i] >= ' ' && text[i] <= '~');
}

static void count_warning(void *ctx, const char *message)
{
    check_line(message);
    ++*(size_t *)ctx;
}

/* A device that is never called: only the configuration matters. */
static enum vs_err no_alloc(void *ctx, size_t bytes, uint64_t *addr)
{
    (void)ctx, (void)bytes, (void)addr;
    return VS_ERR_DEVICE_OOM;
}
static enum vs_err no_free(void *ctx, uint64_t addr, uint64_t bytes)
{
    (void)ctx, (void)addr, (void)bytes;
    return VS_ERR_DEVICE;
}
static enum vs_err no_segment_free(void *ctx, uint64_t addr, size_t bytes)
{
    return no_free(ctx, addr, bytes);
}
static enum vs_err no_handle(void *ctx, uint64_t bytes, uint64_t *handle)
{
    (void)ctx, (void)bytes, (void)handle;
    return VS_ERR_DEVICE_OOM;
}
static enum vs_err no_map(void *ctx, uint64_t addr, uint64_t bytes_each, const uint64_t *handles,
                          size_t count)
{
    (void)ctx, (void)addr, (void)bytes_each, (void)handles, (void)count;
    return VS_ERR_DEVICE;
}
static enum vs_err no_sync(void *ctx, uint64_t stream)
{
    (void)ctx, (void)stream;
    return VS_OK;
}
static const struct vs_device_ops ops = {
    .segment_alloc = no_alloc,
    .segment_free = no_segment_free,
    .range_reserve = no_handle,
    .range_release = no_free,
    .memory_create = no_handle,
    .memory_release = no_free,
    .memory_map = no_map,
    .memory_unmap = no_free,
    .stream_synchronize = no_sync,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* exact size: a read beyond it is detected */
    check(text != NULL);
    if (size)
        memcpy(text, data, size);
    struct vs_alloc_conf first, second;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    size_t warnings = 0, warnings_again = 0;
    struct vs_alloc_conf_messages messages = {.warn = count_warning, .ctx = &warnings};
    enum vs_err err = vs_alloc_conf_parse(text, size, &first, &messages);
    check(err == VS_OK || err == VS_ERR_ARG);
    if (err)
        check_line(messages.error);
    else
        check(!messages.error[0]);
    messages.ctx = &warnings_again;
    check(vs_alloc_conf_parse(text, size, &second, &messages) == err);
    check(warnings == warnings_again && memcmp(&first, &second, sizeof first) == 0);
    if (!err) {
        struct vs_allocator *allocator;
        first.config.total_memory = UINT64_C(1) << 36;
        check(vs_allocator_create(&first.config, &ops, NULL, NULL, NULL, &allocator) == VS_OK);
        vs_allocator_destroy(allocator);
    }
    free(text);
    return 0;
}
