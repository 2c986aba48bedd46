/* SPDX-License-Identifier: Apache-2.0
 *
 * The option table, its parsers, and the precedence of its three sources. The
 * environment is replaced whole for each test. */
#include "support/cmocka_test.h"

#include <ctype.h>
#include <stdio.h>

#include "base/vs_option.h"

static struct vs_options options;
static char sentences[16][VS_OPTION_TEXT_MAX];
static int sentence_count;

static void collect(const char *sentence, void *arg)
{
    assert_ptr_equal(arg, &options);
    if (sentence_count < 16)
        strcpy(sentences[sentence_count], sentence);
    sentence_count++;
}

static void load(void)
{
    sentence_count = 0;
    vs_options_load_environment(&options, collect, &options);
}

BEFORE(fresh)
{
    clearenv();
    memset(sentences, 0, sizeof sentences);
    sentence_count = 0;
    vs_options_init(&options);
    return 0;
}

TEST(every_default_parses)
{
    for (int i = 0; i < VS_OPT_COUNT; i++) {
        const struct vs_option_info *info = vs_option_describe((enum vs_option_id)i);
        char why[VS_OPTION_TEXT_MAX] = "";
        struct vs_options o = options;
        if (vs_options_set(&o, (enum vs_option_id)i, info->fallback, VS_FROM_COMMAND, why))
            fail_msg("default of %s: %s", info->name, why);
        assert_string_equal(options.text[i], info->fallback);
        assert_int_equal(options.source[i], VS_FROM_DEFAULT);
    }
}

TEST(every_option_is_named_documented_and_bounded)
{
    for (int i = 0; i < VS_OPT_COUNT; i++) {
        const struct vs_option_info *info = vs_option_describe((enum vs_option_id)i);
        for (const char *p = info->name; *p; p++)
            assert_true(islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_');
        assert_true(strlen(info->help) > 10);
        if (info->type == VS_OPTION_COUNT || info->type == VS_OPTION_SIZE)
            assert_true(info->min < info->max);
        if (info->type == VS_OPTION_CHOICE)
            assert_non_null(strchr(info->unit, '|'));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(info->name, vs_option_describe((enum vs_option_id)j)->name);
    }
}

TEST(the_largest_trace_has_a_least_size)
{
    static const char *const good[] = {"0", "1MiB", "2GiB"}, *const bad[] = {"1", "10k", "1023KiB"};
    char why[VS_OPTION_TEXT_MAX];
    vs_options_init(&options);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(vs_options_set(&options, VS_OPT_max_trace_size, good[i],
                                        VS_FROM_COMMAND, why), VS_OK);
        assert_int_equal(vs_options_set(&options, VS_OPT_max_trace_size, bad[i],
                                        VS_FROM_COMMAND, why), VS_ERR_ARG);
        assert_non_null(strstr(why, "at least 1.0 MiB"));
    }
}

TEST(off_is_a_size_where_0_is_one)
{
    char why[VS_OPTION_TEXT_MAX];
    vs_options_init(&options);
    assert_int_equal(options.number[VS_OPT_values], 1 << 20);
    assert_int_equal(vs_options_set(&options, VS_OPT_values, "off", VS_FROM_COMMAND, why), VS_OK);
    assert_int_equal(options.number[VS_OPT_values], 0);
    assert_int_equal(vs_options_set(&options, VS_OPT_max_trace_size, "OFF", VS_FROM_COMMAND, why), VS_OK);
    assert_int_equal(vs_options_set(&options, VS_OPT_values, "none", VS_FROM_COMMAND, why), VS_ERR_ARG);
    assert_string_equal(why, "'none' is not a value for --values: expected a size such as 8GiB, or off");
}

TEST(environment_names_are_upper_case_with_the_prefix)
{
    char out[VS_OPTION_ENV_MAX];
    assert_string_equal(vs_option_env_name(VS_OPT_stack_depth, out), "VRAMSCOPE_STACK_DEPTH");
    assert_string_equal(vs_option_env_name(VS_OPT_output, out), "VRAMSCOPE_OUTPUT");
    for (int i = 0; i < VS_OPT_COUNT; i++)
        assert_int_equal(strlen(vs_option_env_name((enum vs_option_id)i, out)),
                         strlen("VRAMSCOPE_") + strlen(vs_option_describe((enum vs_option_id)i)->name));
}

TEST(options_are_found_by_flag_or_variable_spelling)
{
    enum vs_option_id id = VS_OPT_COUNT;
    assert_int_equal(vs_option_find("stack-depth", 11, &id), VS_OK);
    assert_int_equal(id, VS_OPT_stack_depth);
    id = VS_OPT_COUNT;
    assert_int_equal(vs_option_find("STACK_DEPTH=9", 11, &id), VS_OK);
    assert_int_equal(id, VS_OPT_stack_depth);
    id = VS_OPT_COUNT;
    assert_int_equal(vs_option_find("stack-dept", 10, &id), VS_ERR_NOT_FOUND);
    assert_int_equal(vs_option_find("stack-depths", 12, &id), VS_ERR_NOT_FOUND);
    assert_int_equal(vs_option_find("", 0, &id), VS_ERR_NOT_FOUND);
    assert_int_equal(id, VS_OPT_COUNT);
}

TEST(environment_beats_default_and_command_beats_environment)
{
    setenv("VRAMSCOPE_STACK_DEPTH", "32", 1);
    load();
    assert_int_equal(sentence_count, 0);
    assert_int_equal(options.number[VS_OPT_stack_depth], 32);
    assert_int_equal(options.source[VS_OPT_stack_depth], VS_FROM_ENVIRONMENT);
    assert_int_equal(vs_options_set(&options, VS_OPT_stack_depth, "16", VS_FROM_COMMAND, NULL), VS_OK);
    assert_int_equal(options.number[VS_OPT_stack_depth], 16);
    assert_int_equal(options.source[VS_OPT_stack_depth], VS_FROM_COMMAND);
    assert_int_equal(options.source[VS_OPT_flush_ms], VS_FROM_DEFAULT);
}

TEST(an_unknown_variable_is_warned_about_once)
{
    setenv("VRAMSCOPE_STACKDEPTH", "32", 1);
    setenv("VRAMSCOP_STACK_DEPTH", "32", 1); /* not our prefix: no warning */
    struct vs_options before = options;
    load();
    assert_int_equal(sentence_count, 1);
    assert_non_null(strstr(sentences[0], "VRAMSCOPE_STACKDEPTH"));
    assert_memory_equal(&before, &options, sizeof options);
}

TEST(a_bad_variable_is_explained_and_the_default_stays)
{
    setenv("VRAMSCOPE_ALLOCATOR", "cached", 1);
    load();
    assert_int_equal(sentence_count, 1);
    assert_non_null(strstr(sentences[0], "VRAMSCOPE_ALLOCATOR"));
    assert_non_null(strstr(sentences[0], "'cached'"));
    assert_non_null(strstr(sentences[0], "auto|caching|observe"));
    assert_true(vs_option_is(&options, VS_OPT_allocator, "auto"));
    assert_int_equal(options.source[VS_OPT_allocator], VS_FROM_DEFAULT);
}

TEST(warnings_may_be_left_out)
{
    setenv("VRAMSCOPE_NOSUCH", "1", 1);
    setenv("VRAMSCOPE_LOG", "loud", 1);
    setenv("VRAMSCOPE_FLUSH_MS", "50", 1);
    vs_options_load_environment(&options, NULL, NULL);
    assert_int_equal(options.number[VS_OPT_flush_ms], 50);
    assert_true(vs_option_is(&options, VS_OPT_log, "warn"));
}

TEST(huge_names_and_values_in_the_environment_do_no_harm)
{
    static char name[4000], value[8000];
    memset(name, 'A', sizeof name - 1);
    memcpy(name, "VRAMSCOPE_", 10);
    memset(value, 'x', sizeof value - 1);
    setenv(name, value, 1);
    setenv("VRAMSCOPE_OUTPUT", value, 1);
    setenv("VRAMSCOPE_STACKS", value, 1);
    load();
    assert_int_equal(sentence_count, 3);
    for (int i = 0; i < 3; i++)
        assert_true(strlen(sentences[i]) < VS_OPTION_TEXT_MAX);
    assert_string_equal(options.text[VS_OPT_output], "vramscope.%n.%p.vst");
}

TEST(refused_values_change_nothing_and_say_what_is_accepted)
{
    static char text[VS_OPTION_TEXT_MAX + 1];
    memset(text, 'x', VS_OPTION_TEXT_MAX);
    static const struct {
        enum vs_option_id id;
        const char *value, *expect;
    } cases[] = {
        {VS_OPT_stack_depth, "0", "1 to 128"},      {VS_OPT_stack_depth, "129", "1 to 128"},
        {VS_OPT_stack_depth, "", "1 to 128"},       {VS_OPT_stack_depth, "-1", "1 to 128"},
        {VS_OPT_stack_depth, " 5", "1 to 128"},     {VS_OPT_stack_depth, "5 ", "1 to 128"},
        {VS_OPT_stack_depth, "99999999999999999999999", "1 to 128"},
        {VS_OPT_kernels, "maybe", "on, off or api"}, {VS_OPT_nvtx, "", "on or off"},
        {VS_OPT_stacks, "nativ", "python|none"},    {VS_OPT_stacks, "native|none", "python|none"},
        {VS_OPT_stacks, "", "python|none"},         {VS_OPT_output, text, "1023 bytes"},
    };
    struct vs_options before = options;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[VS_OPTION_TEXT_MAX] = "";
        if (vs_options_set(&options, cases[i].id, cases[i].value, VS_FROM_COMMAND, why) != VS_ERR_ARG)
            fail_msg("'%.40s' was accepted", cases[i].value);
        if (!strstr(why, cases[i].expect))
            fail_msg("'%s' does not say '%s'", why, cases[i].expect);
        assert_memory_equal(&before, &options, sizeof options);
    }
}

TEST(switches_take_the_usual_words)
{
    static const char *const yes[] = {"on", "ON", "1", "yes", "true"};
    static const char *const no[] = {"off", "Off", "0", "no", "FALSE"};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(vs_options_set(&options, VS_OPT_nvtx, no[i], VS_FROM_COMMAND, NULL), VS_OK);
        assert_int_equal(options.number[VS_OPT_nvtx], 0);
        assert_int_equal(vs_options_set(&options, VS_OPT_nvtx, yes[i], VS_FROM_COMMAND, NULL), VS_OK);
        assert_int_equal(options.number[VS_OPT_nvtx], 1);
    }
}

TEST(choices_hold_the_index_of_their_word)
{
    static const char *const words[] = {"auto", "caching", "observe"};
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(vs_options_set(&options, VS_OPT_allocator, words[i], VS_FROM_COMMAND, NULL), VS_OK);
        assert_int_equal(options.number[VS_OPT_allocator], i);
        assert_true(vs_option_is(&options, VS_OPT_allocator, words[i]));
    }
    assert_false(vs_option_is(&options, VS_OPT_allocator, "obs"));
}

TEST(an_unset_foreign_variable_is_null)
{
    assert_null(vs_environment("LD_LIBRARY_PATH"));
    setenv("LD_LIBRARY_PATH", "/a:/b", 1);
    assert_string_equal(vs_environment("LD_LIBRARY_PATH"), "/a:/b");
}
