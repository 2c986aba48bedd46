/* SPDX-License-Identifier: Apache-2.0
 *
 * The balance as printed: every row, the order, the signs, the text about the rest. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "analysis/report/report_device.h"
#include "support/cmocka_test.h"
#include "viewer/report/report_parts.h"

static const struct vs_balance_library libraries[] = {
    {"PyTorch", true, 6 * GIB, 40}, {"NCCL", false, GIB, 9}, {"cuBLAS", false, 32 * MIB, 2}};

static struct vs_balance full(void)
{
    struct vs_balance b = {.known = true, .event = 9, .time_ns = 1500000000, .place = "step 3",
                           .total = 16 * GIB, .context_count = 1, .contexts = 400 * MIB,
                           .contexts_how = VS_OVERHEAD_REPORTED, .others_known = true,
                           .others_count = 2, .others = 2 * GIB, .process_count = 2,
                           .process = {{77, GIB + GIB / 2}, {4194305, GIB / 2}},
                           .live = {[VS_FAMILY_DEVICE] = 7 * GIB, [VS_FAMILY_ARRAY] = 3 * MIB},
                           .cached = 512 * MIB, .pools = 20 * MIB, .rounding = MIB,
                           .modules = 6 * (int64_t)MIB, .pools_known = true,
                           .framework_allocated = 5 * GIB, .libraries = libraries,
                           .library_count = 3, .outside_framework = GIB + 32 * MIB,
                           .unexplained = 2 * (int64_t)MIB};
    b.used = vs_balance_parts(&b);
    b.free = b.total - b.used;
    return b;
}

#define OF_FULL                                                                                   \
    "    other process: pid 77 holds 1.50 GiB\n"                                                  \
    "    other process: pid 4194305 holds 512.0 MiB\n"                                            \
    "    unexplained may be code loaded later, local memory, the driver's own tables, or calls "  \
    "that were not intercepted\n"                                                                 \
    "  memory by library at the highest use of the device\n"                                      \
    "        6.00 GiB   85.3 %      40×  PyTorch, 5.00 GiB of it in tensors\n"                    \
    "        1.00 GiB   14.2 %       9×  NCCL\n"                                                  \
    "        32.0 MiB    0.4 %       2×  cuBLAS\n"                                                \
    "        1.03 GiB  of it outside PyTorch's allocator\n"

static void expect(const struct vs_balance *peak, const struct vs_balance *last, const char *text)
{
    char *got = NULL;
    size_t bytes;
    struct vs_style style = {.out = open_memstream(&got, &bytes), .width = 120, .sites = 5};
    assert_non_null(style.out);
    struct vs_report_device device = {.balance_peak = *peak, .balance_last = *last, .framework = "PyTorch",
                                      .contents = "tensors"};
    vs_balance_text(&style, &device, UINT64_C(2000000000), "the end");
    fclose(style.out);
    assert_string_equal(got, text);
    free(got);
}

TEST(every_part_has_its_row_and_they_add_up)
{
    struct vs_balance peak = full();
    expect(&peak, &peak,
           "  device memory in use                            highest use\n"
           "    last read at 1.500 s, step 3, 500.00 ms before the end\n"
           "    allocated by cudaMalloc                          7.00 GiB\n"
           "    allocated as arrays                               3.0 MiB\n"
           "    cached but unused                               512.0 MiB\n"
           "    cached by stream-ordered pools                   20.0 MiB\n"
           "    rounding to the driver's 2 MiB pages              1.0 MiB\n"
           "    CUDA context (1, size from NVML)                400.0 MiB\n"
           "    modules                                           6.0 MiB\n"
           "    other processes (2)                              2.00 GiB\n"
           "    unexplained                                       2.0 MiB\n"
           "    = used                                           9.92 GiB\n"
           "    free                                             6.08 GiB\n"
           "    total                                           16.00 GiB\n"
           OF_FULL);
}

TEST(two_points_stand_side_by_side)
{
    struct vs_balance peak = full(), last = {.known = true, .event = 20, .time_ns = 1900000000,
                                             .place = "", .total = 16 * GIB, .context_count = 1,
                                             .contexts = 400 * MIB, .others_known = true,
                                             .unexplained = -(int64_t)MIB};
    last.used = vs_balance_parts(&last);
    last.free = last.total - last.used;
    expect(&peak, &last,
           "  device memory in use                            highest use   last reading\n"
           "    read at 1.500 s, step 3, and at 1.900 s, 100.00 ms before the end\n"
           "    allocated by cudaMalloc                          7.00 GiB            0 B\n"
           "    allocated as arrays                               3.0 MiB            0 B\n"
           "    cached but unused                               512.0 MiB            0 B\n"
           "    cached by stream-ordered pools                   20.0 MiB            0 B\n"
           "    rounding to the driver's 2 MiB pages              1.0 MiB            0 B\n"
           "    CUDA context (1, size from NVML)                400.0 MiB      400.0 MiB\n"
           "    modules                                           6.0 MiB            0 B\n"
           "    other processes (2)                              2.00 GiB            0 B\n"
           "    unexplained                                       2.0 MiB       -1.0 MiB\n"
           "    = used                                           9.92 GiB      399.0 MiB\n"
           "    free                                             6.08 GiB      15.61 GiB\n"
           "    total                                           16.00 GiB      16.00 GiB\n"
           OF_FULL);
}

TEST(what_is_not_known_is_said)
{
    struct vs_balance b = {.known = true, .event = 3, .place = "", .total = GIB,
                           .context_count = 2, .contexts = 100 * MIB, .contexts_unmeasured = 1,
                           .live = {[VS_FAMILY_ASYNC] = MIB}, .managed_live = 64 * MIB,
                           .managed = 64 * MIB, .imported = 8 * MIB, .small_arrays = 3,
                           .small_array_bytes = MIB, .others_how = VS_USAGE_NO_BYTES,
                           .others_count = 2, .unexplained = 5};
    b.used = vs_balance_parts(&b);
    b.free = b.total - b.used;
    expect(&b, &b,
           "  device memory in use                            highest use\n"
           "    last read at 0 ns, 2.000 s before the end\n"
           "    allocated by cudaMallocAsync                      1.0 MiB\n"
           "    CUDA contexts (2, not all sizes known)          100.0 MiB\n"
           "    managed, at most (residency unknown)             64.0 MiB\n"
           "    unexplained                                           5 B\n"
           "    = used                                          165.0 MiB\n"
           "    free                                            859.0 MiB\n"
           "    total                                            1.00 GiB\n"
           "    2 other processes use the device; NVML does not report how much\n"
           "    unexplained may be memory of other processes: NVML did not list them\n"
           "    unexplained includes contexts whose size is unknown\n"
           "    unexplained includes the pages of 3 arrays below 1 MiB: up to 6.0 MiB\n"
           "    unexplained includes memory cached by stream-ordered pools, which was not read\n"
           "    managed: 64.0 MiB allocated; CUDA does not report how much of it is on the device\n"
           "    imported from other processes and counted there: 8.0 MiB\n");
}

/* A sampled trace: the error is the pages of allocations without events, not double counting. */
TEST(rounding_of_recorded_allocations_alone_is_said)
{
    struct vs_balance b = {.known = true, .event = 3, .place = "", .total = GIB, .others_known = true,
                           .live = {[VS_FAMILY_DEVICE] = 90 * MIB}, .rounding = 30 * MIB,
                           .rounding_partial = true, .unexplained = -20 * (int64_t)MIB,
                           .context_count = 1};
    b.used = vs_balance_parts(&b);
    b.free = b.total - b.used;
    expect(&b, &b,
           "  device memory in use                            highest use\n"
           "    last read at 0 ns, 2.000 s before the end\n"
           "    allocated by cudaMalloc                          90.0 MiB\n"
           "    rounding to the driver's 2 MiB pages             30.0 MiB\n"
           "    unexplained                                     -20.0 MiB\n"
           "    = used                                          100.0 MiB\n"
           "    free                                            924.0 MiB\n"
           "    total                                            1.00 GiB\n"
           "    rounding is known for recorded allocations only: unexplained is off by that of the "
           "others\n");
}

TEST(nothing_is_printed_where_the_device_was_not_read)
{
    struct vs_balance none = {.place = ""};
    expect(&none, &none, "");
}
