/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of PYTORCH_ALLOC_CONF: the effect of every key, rejected values with their messages, and
 * warnings. */

#include <stdio.h>

#include "support/cmocka_test.h"
#include "allocator/core/alloc_conf.h"

struct parsed {
    struct vs_alloc_conf conf;
    struct vs_alloc_conf_messages messages;
    char warnings[4][VS_ALLOC_CONF_MESSAGE_MAX];
    size_t warning_count;
    enum vs_err err;
};

static void keep_warning(void *ctx, const char *message)
{
    struct parsed *p = ctx;
    assert_true(p->warning_count < 4);
    strcpy(p->warnings[p->warning_count++], message);
}

static void parse(struct parsed *p, const char *text)
{
    memset(p, 0, sizeof *p);
    p->messages.warn = keep_warning;
    p->messages.ctx = p;
    p->err = vs_alloc_conf_parse(text, strlen(text), &p->conf, &p->messages);
}

/* Parsed without a message. */
static struct parsed accept(const char *text)
{
    struct parsed p;
    parse(&p, text);
    assert_string_equal(p.messages.error, "");
    assert_int_equal(p.err, VS_OK);
    assert_int_equal(p.warning_count, 0);
    return p;
}

static void refuse(const char *text, const char *message)
{
    struct parsed p;
    parse(&p, text);
    assert_int_equal(p.err, VS_ERR_ARG);
    assert_string_equal(p.messages.error, message);
    struct vs_alloc_conf untouched;
    memset(&untouched, 0, sizeof untouched);
    assert_memory_equal(&p.conf, &untouched, sizeof untouched);
}

/* *text*: KEY:VALUE. */
static void refuse_value(const char *text, const char *allowed)
{
    char message[VS_ALLOC_CONF_MESSAGE_MAX];
    int key = (int)strcspn(text, ":");
    snprintf(message, sizeof message, "%.*s: '%s' is not allowed; allowed: %s", key, text,
             text + key + 1, allowed);
    refuse(text, message);
}

static struct parsed accept_warning(const char *text, const char *warning)
{
    struct parsed p;
    parse(&p, text);
    assert_int_equal(p.err, VS_OK);
    assert_int_equal(p.warning_count, 1);
    assert_string_equal(p.warnings[0], warning);
    return p;
}

TEST(an_empty_text_changes_nothing)
{
    struct parsed p = accept("");
    assert_int_equal(p.conf.config.max_split_size, 0);
    accept(" \t\n,, ");
}

TEST(every_key_of_pytorch_is_understood)
{
    struct parsed p = accept(
        "max_split_size_mb:128, max_non_split_rounding_mb:32 ,garbage_collection_threshold:0.8,"
        "roundup_power2_divisions:4,expandable_segments:True,backend:native,"
        "per_process_memory_fraction:0.25,large_segment_size_mb:24,"
        "release_lock_on_cudamalloc:True,graph_capture_record_stream_reuse:True,"
        "throw_on_cudamalloc_oom:True,pinned_use_cuda_host_register:True,"
        "pinned_num_register_threads:8,pinned_reserve_segment_size_mb:64,"
        "pinned_use_background_threads:True,pinned_free_catch_all:True,"
        "expandable_segments_reserve:0.5");
    const struct vs_allocator_config *c = &p.conf.config;
    assert_int_equal(c->max_split_size, 128 * MIB);
    assert_int_equal(c->max_non_split_rounding, 32 * MIB);
    assert_int_equal(c->large_segment_size, 24 * MIB);
    assert_true(c->garbage_collection_threshold == 0.8);
    assert_true(c->memory_fraction == 0.25);
    assert_true(c->expandable_segments);
    assert_true(c->expandable_reserve_fraction == 0.5);
    for (int i = 0; i < VS_ROUNDUP_SLOTS; i++)
        assert_int_equal(c->roundup_power2_divisions[i], 4);
    assert_int_equal(p.conf.backend, VS_BACKEND_NATIVE);
    assert_true(p.conf.release_lock_on_cudamalloc && p.conf.graph_capture_record_stream_reuse &&
                p.conf.throw_on_cudamalloc_oom && p.conf.pinned_use_cuda_host_register &&
                p.conf.pinned_use_background_threads && p.conf.pinned_free_catch_all);
    assert_int_equal(p.conf.pinned_num_register_threads, 8);
    assert_int_equal(p.conf.pinned_reserve_segment_size_mb, 64);
    assert_true(accept("release_lock_on_hipmalloc:True").conf.release_lock_on_cudamalloc);
    assert_true(accept("pinned_use_hip_host_register:True").conf.pinned_use_cuda_host_register);
    assert_int_equal(accept("backend:cudaMallocAsync").conf.backend, VS_BACKEND_MALLOC_ASYNC);
}

TEST(ties_have_a_key_of_our_own)
{
    assert_int_equal(accept("").conf.config.tie, VS_TIE_LOWEST_ADDRESS);
    assert_int_equal(accept("vramscope_tie:oldest_segment").conf.config.tie,
                     VS_TIE_OLDEST_SEGMENT);
    assert_int_equal(accept("vramscope_tie:oldest_segment,vramscope_tie:lowest_address")
                         .conf.config.tie,
                     VS_TIE_LOWEST_ADDRESS);
    refuse_value("vramscope_tie:newest", "lowest_address or oldest_segment");
}

static void assert_slots(const char *text, const uint32_t slots[VS_ROUNDUP_SLOTS])
{
    struct parsed p = accept(text);
    for (int i = 0; i < VS_ROUNDUP_SLOTS; i++)
        assert_int_equal(p.conf.config.roundup_power2_divisions[i], slots[i]);
}

TEST(the_list_of_divisions_fills_the_slots_as_pytorch_does)
{
    assert_slots("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
                 (uint32_t[16]){1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8});
    /* slots between two bounds are not set */
    assert_slots("roundup_power2_divisions:[64:8,256:4]",
                 (uint32_t[16]){8, 8, 8, 8, 8, 8, 8, 0, 4});
    assert_slots("roundup_power2_divisions:[1:2,65536:16]",
                 (uint32_t[16]){2, [15] = 16}); /* larger bounds use the last slot */
    assert_slots("roundup_power2_divisions:[>:8]",
                 (uint32_t[16]){0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8});
    assert_slots("roundup_power2_divisions:[2:0,4:2,]", (uint32_t[16]){0, 0, 2});
    assert_slots("roundup_power2_divisions:[]", (uint32_t[16]){0});
}

TEST(a_repeated_key_counts_the_last_time)
{
    assert_false(accept("expandable_segments:True,expandable_segments:False")
                     .conf.config.expandable_segments);
}

TEST(unknown_keys_are_named_and_skipped)
{
    struct parsed p = accept_warning("quick:[a:1,b:[2],max_split_size_mb:64",
                                     "unknown key: 'quick' is ignored");
    assert_int_equal(p.conf.config.max_split_size, 64 * MIB);
    accept_warning("quick", "unknown key: 'quick' is ignored");
    accept_warning("qu\x01\xff" "ck:7", "unknown key: 'qu??ck' is ignored");
    accept_warning("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:1",
                   "unknown key: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is ignored");
}

TEST(wrong_values_are_refused_by_key_value_and_what_is_allowed)
{
    refuse_value("max_split_size_mb:19", "a whole number of MiB, at least 20");
    refuse("max_split_size_mb:30,large_segment_size_mb:40",
           "max_split_size_mb: '30' is not allowed; allowed: a whole number of MiB, at least 40");
    refuse_value("max_non_split_rounding_mb:x", "a whole number of MiB, at least 20");
    refuse_value("max_split_size_mb:-1", "a whole number of MiB, at least 20");
    refuse_value("max_split_size_mb:99999999999999999999", "a whole number of MiB, at least 20");
    refuse_value("large_segment_size_mb:10", "a whole number of MiB above 10");
    refuse("large_segment_size_mb:13,expandable_segments:True",
           "large_segment_size_mb: 'an odd number' is not allowed; allowed: even numbers with "
           "expandable_segments");
    refuse_value("garbage_collection_threshold:1.0", "a number between 0 and 1, both excluded");
    refuse_value("garbage_collection_threshold:nan", "a number between 0 and 1, both excluded");
    refuse_value("per_process_memory_fraction:1.5", "a number from 0 to 1");
    refuse_value("expandable_segments:true", "True or False");
    refuse_value("backend:cuda", "native or cudaMallocAsync");
    refuse_value("roundup_power2_divisions:3", "powers of two up to 2147483648");
    refuse("roundup_power2_divisions:[256:3]",
           "roundup_power2_divisions: '3' is not allowed; allowed: 0 or powers of two up to "
           "2147483648");
    refuse("roundup_power2_divisions:[3:4]",
           "roundup_power2_divisions: '3' is not allowed; allowed: [BOUND:DIVISIONS,...] with "
           "bounds that are powers of two in MiB, or >");
    refuse_value("pinned_num_register_threads:256", "powers of two up to 128");
    refuse_value("pinned_reserve_segment_size_mb:0", "a whole number of MiB, at least 1");
}

TEST(broken_text_is_refused)
{
    refuse("max_split_size_mb",
           "max_split_size_mb: a value is missing; allowed: ':' and a value");
    refuse("max_split_size_mb:",
           "max_split_size_mb: a value is missing; allowed: a whole number of MiB, at least 20");
    refuse("max_split_size_mb,backend:native",
           "max_split_size_mb: ',' is not allowed; allowed: ':' and a value");
    refuse("expandable_segments:True:False",
           "after a value: ':' is not allowed; allowed: ',' and the next key");
    refuse("roundup_power2_divisions:[256:1",
           "roundup_power2_divisions: '[' is not allowed; allowed: a list that ends with ']'");
    refuse("unknown:[1,2", "unknown key: '[' is not allowed; allowed: a list that ends with ']'");
    refuse("roundup_power2_divisions:[256:1:2]",
           "roundup_power2_divisions: ':' is not allowed; allowed: ',' or ']' after each "
           "BOUND:DIVISIONS");
    char text[VS_ALLOC_CONF_MAX + 2];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuse(text, "longer than 4096 bytes");
    memset(text, ' ', sizeof text - 1);
    accept(text);
}

TEST(numbers_are_read_as_pytorch_reads_them)
{
    struct parsed p = accept_warning("max_split_size_mb:128MB",
                                     "max_split_size_mb: '128MB' is read up to the end of the number");
    assert_int_equal(p.conf.config.max_split_size, 128 * MIB);
    p = accept("max_split_size_mb:18446744073709551615,max_non_split_rounding_mb:9999999999999");
    assert_int_equal(p.conf.config.max_split_size, UINT64_MAX / MIB * MIB);
    assert_int_equal(p.conf.config.max_non_split_rounding, VS_ALLOCATOR_REQUEST_MAX);
    assert_true(accept("garbage_collection_threshold:8e-1").conf.config
                    .garbage_collection_threshold == 0.8);
    assert_true(accept("garbage_collection_threshold:.8").conf.config
                    .garbage_collection_threshold == 0.8);
    assert_true(accept("garbage_collection_threshold:0.80000000000000000000000000").conf.config
                    .garbage_collection_threshold == 0.8);
    p = accept_warning("garbage_collection_threshold:0.5.5",
                       "garbage_collection_threshold: '0.5.5' is read up to the end of the number");
    assert_true(p.conf.config.garbage_collection_threshold == 0.5);
    /* a share of 0 forbids all allocations */
    p = accept("per_process_memory_fraction:0");
    assert_true(p.conf.config.memory_fraction > 0 && p.conf.config.memory_fraction < 1e-20);
}

TEST(the_reserve_of_a_range_is_a_share_or_gibibytes)
{
    struct parsed p = accept("expandable_segments_reserve:40G");
    assert_int_equal(p.conf.config.expandable_reserve_bytes, 40 * 1024 * MIB);
    p = accept("expandable_segments_reserve:40G,expandable_segments_reserve:0.25");
    assert_int_equal(p.conf.config.expandable_reserve_bytes, 0);
    assert_true(p.conf.config.expandable_reserve_fraction == 0.25);
    p = accept_warning("expandable_segments_reserve:-3",
                       "expandable_segments_reserve: '-3' is neither a share nor GiB as in 40G: "
                       "ignored");
    assert_true(p.conf.config.expandable_reserve_fraction == 0);
    accept_warning("expandable_segments_reserve_by_class:[a:1,b:40G]",
                   "expandable_segments_reserve_by_class: '[' is ignored: streams have no classes "
                   "here");
}

TEST(the_other_backend_ignores_what_belongs_to_the_native_one)
{
    accept_warning("backend:cudaMallocAsync,max_split_size_mb:100",
                   "backend: 'cudaMallocAsync' ignores the options of the native one");
}

TEST(warnings_need_no_listener)
{
    struct vs_alloc_conf conf = {0};
    struct vs_alloc_conf_messages messages = {0};
    assert_int_equal(vs_alloc_conf_parse("other:1", 7, &conf, &messages), VS_OK);
    assert_string_equal(messages.unknown, "other");
}
