/* SPDX-License-Identifier: Apache-2.0
 *
 * The spec of a simulated device: accepted values, and the messages of refusals. */
#include <string.h>

#include "support/cmocka_test.h"

#include "base/vs_size.h"
#include "simulator/driver/vs_sim_spec.h"

static struct vs_sim_spec parse(const char *text)
{
    struct vs_sim_spec spec;
    char why[VS_SIM_WHY_MAX];
    assert_int_equal(vs_sim_spec_parse(text, &spec, why), VS_OK);
    return spec;
}

static void refuse(const char *text, const char *expected)
{
    struct vs_sim_spec spec = {.devices = 77};
    char why[VS_SIM_WHY_MAX] = "";
    assert_int_equal(vs_sim_spec_parse(text, &spec, why), VS_ERR_ARG);
    assert_int_equal(spec.devices, 77); /* unwritten */
    assert_non_null(strstr(why, expected));
    assert_true(strlen(why) < 600); /* one problem, not the whole manual */
    assert_null(strchr(why, '\n'));
}

TEST(nothing_means_one_default_device)
{
    assert_string_equal(parse(NULL).preset->name, "a100-40g");
    assert_string_equal(parse("").preset->name, "a100-40g");
    assert_int_equal(parse("").devices, 1);
    assert_int_equal(parse("").malloc_us, 0);
}

/* The capacity is the one that PyTorch reports of such devices in public messages, in hundredths of a
 * GiB, not nvidia-smi's: that is the board's. */
TEST(every_preset_has_its_published_figures)
{
    static const struct {
        const char *name;
        int sm_count, major, minor;
        uint64_t lowest, highest;
    } presets[] = {
        {"p100-16g", 56, 6, 0, 1589, 1590},
        {"v100-16g", 80, 7, 0, 1577, 1577},
        {"v100-32g", 80, 7, 0, 3173, 3173},
        {"t4-16g", 40, 7, 5, 1456, 1458},
        {"rtx3060-12g", 28, 8, 6, 1163, 1175},
        {"rtx3090-24g", 82, 8, 6, 2368, 2369},
        {"rtx4060ti-16g", 34, 8, 9, 1545, 1570},
        {"rtx4070-12g", 46, 8, 9, 1163, 1175},
        {"rtx4080-16g", 76, 8, 9, 1545, 1570},
        {"rtx4090-24g", 128, 8, 9, 2364, 2365},
        {"rtx5090-32g", 170, 12, 0, 3136, 3136},
        {"a10g-24g", 80, 8, 6, 2198, 2207},
        {"l4-24g", 58, 8, 9, 2203, 2203},
        {"l40s-48g", 142, 8, 9, 4439, 4453},
        {"a40-48g", 84, 8, 6, 4442, 4442},
        {"a6000-48g", 84, 8, 6, 4737, 4753},
        {"rtx6000ada-48g", 142, 8, 9, 4737, 4753},
        {"rtxpro6000-96g", 188, 12, 0, 9497, 9497},
        {"a100-40g", 108, 8, 0, 3938, 3956},
        {"a100-80g", 108, 8, 0, 7915, 7932},
        {"h100-80g", 132, 9, 0, 7910, 7922},
        {"h100nvl-94g", 132, 9, 0, 9310, 9310},
        {"gh200-96g", 132, 9, 0, 9400, 9510},
        {"h200-141g", 132, 9, 0, 13972, 13981},
        {"b200-192g", 148, 10, 0, 17835, 17835},
        {"gb300-288g", 160, 10, 3, 27650, 27650},
    };
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        struct vs_sim_spec s = parse(presets[i].name);
        uint64_t hundredths = (s.capacity_bytes * 100 + VS_GIB / 2) / VS_GIB;
        assert_int_equal(s.preset->sm_count, presets[i].sm_count);
        assert_int_equal(s.preset->major, presets[i].major);
        assert_int_equal(s.preset->minor, presets[i].minor);
        assert_in_range(hundredths, presets[i].lowest, presets[i].highest);
        assert_true(s.board_bytes > s.capacity_bytes || !s.preset->board_mib);
    }
    assert_int_equal(parse("t4-16g").board_bytes, 15360 * VS_MIB);
    assert_int_equal(parse("t4-16g,capacity=2GiB").board_bytes, 2 * VS_GIB);
}

TEST(a_custom_device_is_described_by_three_keys)
{
    struct vs_sim_spec s;
    char why[VS_SIM_WHY_MAX];
    assert_int_equal(vs_sim_spec_parse("custom,sms=64,memory=23.65GiB,sm=89,devices=2", &s, why), VS_OK);
    assert_string_equal(s.preset->name, "custom");
    assert_int_equal(s.preset->sm_count, 64);
    assert_int_equal(s.preset->major, 8);
    assert_int_equal(s.preset->minor, 9);
    assert_int_equal(s.preset->threads_per_sm, 1536);
    assert_int_equal(s.capacity_bytes / VS_MIB, 24217);
    assert_int_equal(s.context_bytes, 64 * 1536 * 2048);
    assert_string_equal(s.context_kind, "rule");
    refuse("custom", "custom lacks sm=: write custom,sm=89,sms=128,memory=23.65GiB");
    refuse("custom,sm=89,memory=8GiB", "custom lacks sms=");
    refuse("custom,sm=89,sms=128", "custom lacks memory=");
    refuse("custom,sm=88,sms=128,memory=8GiB", "cannot use sm=88; sm takes the compute capability");
    refuse("custom,sm=8.9,sms=128,memory=8GiB", "cannot use sm=8.9");
    refuse("custom,sm=89,sms=0,memory=8GiB", "cannot use sms=0; sms takes the number of multiprocessors");
    refuse("custom,sm=89,sms=128,memory=8TiB", "between 64MiB and 1TiB");
    refuse("t4-16g,sms=128", "describe the device 'custom', not t4-16g");
    refuse("t4-16g,memory=2GiB", "not t4-16g; its memory is set by capacity=");
}

/* The rows are those of context_sizes.tsv beside this file. */
TEST(a_context_has_the_size_of_its_gpus_row_or_of_the_rule)
{
    struct vs_sim_spec s = parse("rtx4090-24g");
    assert_int_equal(s.context_bytes, 446693376);
    assert_string_equal(s.context_kind, "measured");
    assert_string_equal(s.context_source, "below other rows");
    s = parse("h100-80g,capacity=2GiB");
    assert_int_equal(s.context_bytes, 132 * 2048 * 2048);
    assert_string_equal(s.context_kind, "rule");
    assert_int_equal(parse("devices=2").context_bytes, 2000); /* of the default device */
    assert_int_equal(parse("t4-16g").context_bytes, 5000);
    assert_string_equal(parse("t4-16g").context_kind, "assumed");
    assert_string_equal(parse("t4-16g").context_source, "a \"guess\" with a back\\slash; and [brackets]");
    s = parse("h100-80g,context=500MiB");
    assert_int_equal(s.context_bytes, 500 * VS_MIB);
    assert_string_equal(s.context_kind, "given");
}

TEST(fields_change_the_preset)
{
    struct vs_sim_spec s =
        parse("t4-16g,capacity=2GiB,devices=2,context=500MiB,others=1GiB,malloc_us=100,"
              "free_us=50,kernel_us=7,seed=18446744073709551615");
    assert_int_equal(s.capacity_bytes, 2 * VS_GIB);
    assert_int_equal(s.devices, 2);
    assert_int_equal(s.context_bytes, 500 * VS_MIB);
    assert_int_equal(s.others_bytes, VS_GIB);
    assert_int_equal(s.malloc_us, 100);
    assert_int_equal(s.free_us, 50);
    assert_int_equal(s.kernel_us, 7);
    assert_true(s.seed == UINT64_MAX);
    assert_false(s.time_off);
    assert_true(parse("t4-16g,time=off").time_off);
    assert_false(parse("time=model").time_off);
    assert_int_equal(parse("devices=3").devices, 3); /* of the default device */
    assert_true(parse("").data_max_bytes == UINT64_MAX && parse("data=on").data_max_bytes == UINT64_MAX);
    assert_int_equal(parse("").addresses, VS_SIM_ADDRESSES_FENCED);
    assert_int_equal(parse("addresses=linux").addresses, VS_SIM_ADDRESSES_LINUX);
    s = parse("hole=198MiB@94,addresses=lowest");
    assert_int_equal(s.addresses, VS_SIM_ADDRESSES_LOWEST);
    assert_int_equal(s.hole_bytes, 198 * VS_MIB);
    assert_int_equal(s.hole_allocations, 94);
    assert_int_equal(parse("data=small").data_max_bytes, VS_MIB);
    assert_int_equal(parse("data=off").data_max_bytes, 0);
    assert_int_equal(parse("data=4MiB").data_max_bytes, 4 * VS_MIB);
    assert_true(parse("").workspace_bytes == VS_SIM_WORKSPACE_BY_RULE);
    assert_int_equal(parse("workspace=0").workspace_bytes, 0);
    assert_int_equal(parse("workspace=64MiB").workspace_bytes, 64 * VS_MIB);
}

TEST(faults_are_read_in_order)
{
    struct vs_sim_spec s =
        parse("fail=device:3,fail=pool:5+,fail=any:2.5%,slow=100:50,lost=1000,cupti=refused,"
              "driver=11080");
    assert_int_equal(s.fail_count, 3);
    assert_int_equal(s.fails[0].families, 1u << VS_SIM_FAMILY_DEVICE);
    assert_int_equal(s.fails[0].first, 3);
    assert_false(s.fails[0].onwards);
    assert_int_equal(s.fails[1].families, 1u << VS_SIM_FAMILY_POOL);
    assert_int_equal(s.fails[1].first, 5);
    assert_true(s.fails[1].onwards);
    assert_int_equal(s.fails[2].families, (1u << VS_SIM_FAMILY_COUNT) - 1);
    assert_int_equal(s.fails[2].first, 0);
    assert_int_equal(s.fails[2].per_mille, 25);
    assert_int_equal(s.slow_every, 100);
    assert_int_equal(s.slow_ms, 50);
    assert_int_equal(s.lost_launches, 1000);
    assert_int_equal(s.cupti, VS_SIM_CUPTI_REFUSED);
    assert_int_equal(s.driver_version, 11080);
    assert_int_equal(parse("").driver_version, VS_SIM_DRIVER_VERSION);
    assert_int_equal(parse("").fail_count, 0);
}

TEST(the_checker_is_off_unless_asked_for)
{
    assert_int_equal(parse("").check, VS_SIM_CHECK_OFF);
    assert_int_equal(parse("check=off").check, VS_SIM_CHECK_OFF);
    assert_int_equal(parse("check=report").check, VS_SIM_CHECK_REPORT);
    struct vs_sim_spec s = parse("check=fail");
    assert_int_equal(s.check, VS_SIM_CHECK_FAIL);
    assert_false(s.check_unwritten || s.check_leaks);
    s = parse("t4-16g,check=fail+leaks+uninitialised,seed=1");
    assert_int_equal(s.check, VS_SIM_CHECK_FAIL);
    assert_true(s.check_unwritten && s.check_leaks);
    assert_true(parse("check=report+uninitialized").check_unwritten);
}

TEST(what_is_not_understood_is_named)
{
    refuse("h300", "no simulated device 'h300'; devices: p100-16g, ");
    refuse("a100", "no simulated device 'a100'; did you mean a100-40g or a100-80g?");
    refuse("h300", "gb300-288g, custom; keys: see docs/simulator.md");
    refuse("t4-16g,time=on", "time=on");
    refuse("t4-16g,capacity=lots", "capacity=lots");
    refuse("t4-16g,colour=red", "unknown key in colour=red; keys: sm, sms, memory, capacity, ");
    refuse("t4-16g,devices=0", "devices=0");
    refuse("t4-16g,devices=17", "cannot use devices=17; devices takes 1 to 16");
    refuse("t4-16g,malloc_us=-1", "malloc_us=-1");
    refuse("t4-16g,nonsense", "nonsense");
    refuse("t4-16g,capacity=1MiB", "capacity");
    refuse("h100-80g,others=100GiB", "leave room");
    refuse("h100-80g,context=90GiB", "leave room");
    refuse("h100-80g,capacity=10GiB,others=10GiB", "leave room");
    refuse("addresses=high", "cannot use addresses=high; addresses takes fenced, lowest or linux");
    refuse("addresses=lowest,hole=188MiB", "hole takes SIZE@COUNT");
    refuse("addresses=lowest,hole=1MiB@5", "a multiple of 2MiB");
    refuse("addresses=lowest,hole=2MiB@0", "hole=2MiB@0");
    refuse("addresses=linux,hole=2MiB@5", "hole needs addresses=lowest");
    refuse("hole=2MiB@5", "hole needs addresses=lowest");
    refuse("data=some", "cannot use data=some; data takes on, small, off or a size such as 4MiB");
    refuse("fail=device", "fail=device");
    refuse("fail=device:", "fail=device:");
    refuse("fail=device:0", "fail=device:0");
    refuse("fail=device:3x", "fail=device:3x");
    refuse("fail=device:3++", "fail=device:3++");
    refuse("fail=disk:3", "fail=disk:3");
    refuse("fail=device:101%", "fail=device:101%");
    refuse("fail=device:100.5%", "fail=device:100.5%");
    refuse("fail=device:5%%", "fail=device:5%%");
    refuse("slow=3", "slow takes EVERY:MS, MS from 0 to 600000");
    refuse("lost=0", "lost=0");
    refuse("cupti=no", "cupti=no");
    refuse("nvml=no", "nvml=no");
    assert_int_equal(parse("").nvml, VS_SIM_NVML_WORKS);
    assert_int_equal(parse("nvml=pids").nvml, VS_SIM_NVML_PIDS);
    assert_int_equal(parse("nvml=nofigures").nvml, VS_SIM_NVML_NO_FIGURES);
    assert_int_equal(parse("nvml=none").nvml, VS_SIM_NVML_NONE);
    refuse("driver=99990", "driver takes 2000 to 13000");
    refuse("check=", "check=");
    refuse("check=yes", "check=yes");
    refuse("check=fail+", "check=fail+");
    refuse("check=fail+leak", "check=fail+leak");
    refuse("check=failing", "check=failing");
    char long_text[600];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    refuse(long_text, "more than 511 characters");
}
