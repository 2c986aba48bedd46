/* SPDX-License-Identifier: Apache-2.0
 *
 * The level that the user thinks in, with traces of known stacks. */
#include <stdio.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/naming/name_text.h"
#include "analysis/naming/naming.h"
#include "analysis/naming/python_file.h"
#include "analysis/report/site_text.h"
#include "analysis/state/user_level.h"
#include "unit/analysis/report_facts.h"

#define C10 "@/env/lib/python3.11/site-packages/torch/lib/libc10_cuda.so"
#define TORCH "/env/lib/python3.11/site-packages/torch/"

static struct vs_replay *replay;

AFTER(finish)
{
    vs_replay_close(replay);
    replay = NULL;
    return 0;
}

/* Writes a trace and replays it. */
static void record(const char *text)
{
    struct vs_event event;
    begin_trace("observe", "device 1G GPU");
    vs_trace(&b, "%s", text);
    read_trace(0);
    replay = vs_replay_open(reader);
    while (!vs_reader_next(reader, &event)) {
        vs_replay_event(replay, &event);
        assert_true(vs_replay_check(replay));
    }
    vs_replay_finish(replay);
}

static uint64_t stack_at(const struct vs_live_table *table, unsigned at)
{
    return replay->sites.items[vs_live_table_find(table, A(at))->site].stack;
}

TEST(tensors_are_the_users_level_and_their_segments_are_not)
{
    record("step 0; at " C10 "; alloc 64 20M; at f /home/u/train.py:7; tensor 64 3M; push forward; tensor 67 4M; "
           "drop 64; pop; at @/usr/lib/libnccl.so.2; alloc 128 5M; pop");
    struct vs_user_sums sums = vs_user_sums(replay, 0);
    assert_int_equal(sums.level, VS_LEVEL_FRAMEWORK);
    assert_int_equal(sums.tensors, 4 * MIB);
    assert_int_equal(sums.outside, 5 * MIB);
    assert_int_equal(sums.allocated, 9 * MIB);
    assert_int_equal(sums.backing, 20 * MIB);
    assert_int_equal(sums.peak->bytes, 9 * MIB);
    assert_int_equal(sums.peak->allocated, 25 * MIB);
    assert_int_equal(sums.steps_peak, 9 * MIB);
    assert_int_equal(sums.largest, 5 * MIB);
    const struct vs_phase *forward = &replay->phases.items[2];
    assert_string_equal(forward->name, "forward");
    assert_int_equal(vs_user_phase_peak(replay, forward, 0), 7 * MIB);
    uint64_t bytes, live = 0;
    assert_int_equal(vs_user_phase_allocs(replay, forward, &bytes), 1);
    assert_int_equal(bytes, 4 * MIB);
    size_t cursor = 0;
    const struct vs_live *one;
    while ((one = vs_user_live_next(replay, 0, &cursor)) != NULL)
        live += one->size;
    assert_int_equal(live, 9 * MIB);
}

#define SEGMENT "at " C10 "; alloc 64 20M; "
#define HANDLE "at " C10 "; alloc memory:1 20M vmm; "
#define GROW "at grow /home/u/train.py:9; "
#define RETRIES "/devices/0/framework/retries "

/* Facts of the report's failures. */
static const struct report_case cases[] = {
    {"a_program_without_a_framework_has_the_devices_level", "at @/home/u/program; alloc 64 20M",
     "/devices/0/level device; /devices/0/peak_user/bytes 20M; /devices/0/live/bytes 20M"},
    /* the library that holds PyTorch's allocator need not be on the stack, or known by its name */
    {"memory_at_whose_address_a_tensor_begins_holds_tensors",
     "at @/home/u/libown_allocator.so; alloc 64 20M; at; tensor 64 3M",
     "/devices/0/level framework; /devices/0/peak_user/bytes 3M; /devices/0/live/bytes 3M"},
    {"a_failure_at_both_levels_is_one", /* the second attempt: its cache was emptied */
     SEGMENT GROW "tensor 64 3M; at " C10 "; fail 32M free 3M; fail 32M free 3M; " GROW "raise 30M",
     "/failure_count 1; /failures count 1; 0/level framework; 0/requested_bytes 30M; "
     "0/frames/0/function grow; 0/device_requested_bytes 32M; 0/device_free_bytes 3M; "
     "0/device_refusals 2; 0/error not 0"},
    {"a_request_that_pytorch_repeats_with_success_is_no_failure",
     SEGMENT "at; tensor 64 3M; at " C10 "; fail 32M free 3M; alloc 128 32M",
     "/failure_count 0; /failures count 0; " RETRIES "1"},
    /* Expandable segments: a block needs several handles of physical memory, and those that were
     * created before one is refused are released again; also after its cache was emptied. */
    {"refused_handles_and_the_frameworks_failure_are_one",
     HANDLE GROW "tensor 64 3M; at " C10 "; repeat 2 { alloc memory:i+2 20M vmm }; "
     "fail 20M vmm free 5M; repeat 2 { free memory:i+2 }; repeat 3 { alloc memory:i+4 20M vmm }; "
     "fail 20M vmm free 4M; repeat 3 { free memory:i+4 }; " GROW "raise 90M",
     "/failure_count 1; 0/level framework; 0/requested_bytes 90M; 0/device_requested_bytes 20M; "
     "0/family vmm; 0/device_refusals 2; 0/recovered false; "
     "0/device_free_bytes 64M"}, /* the three handles are free again */
    {"refused_handles_of_a_block_that_fits_at_last_are_no_failure",
     HANDLE "at; tensor 64 3M; at " C10 "; fail 20M vmm free 5M; "
     "repeat 2 { alloc memory:i+2 20M vmm }; at; tensor 128 30M",
     "/failure_count 0; " RETRIES "1"},
    {"a_request_that_the_program_repeats_is_a_failure_that_it_recovered_from",
     "at @/home/u/program; fail 32M free 3M; alloc 64 32M", "/failure_count 1; 0/recovered true"},
    {"a_failure_that_was_answered_is_not_part_of_the_next", /* a limit of the framework's own */
     "at @/home/u/program; fail 32M free 3M; at; tensor 64 3M; raise 30M",
     "/failure_count 2; 1/device_requested_bytes 0"},
};

ROWS(cases, the_level_of_a_trace)
{
    const struct report_case *c = *state;
    record(c->trace);
    read_report(0);
    expect_report("failures", c->facts);
}

TEST(a_failure_at_both_levels_is_named_by_the_request_to_the_device)
{
    record(SEGMENT GROW "tensor 64 3M; at " C10 "; fail 32M free 3M; " GROW "raise 30M");
    const struct vs_failure *failure = &replay->failures[0];
    assert_int_equal(failure->device_stack, stack_at(&replay->device_live, 64));
    assert_non_null(vs_user_failure_site(replay, failure));
}

/* Without stacks, too: a tensor lies in what is mapped. */
TEST(mapped_memory_with_tensors_is_a_segment_without_gaps)
{
    record("at @/home/u/program; repeat 4 { alloc memory:i+1 20M vmm }; map 64 20M 1; map 84 20M 2; map 124 20M 3; "
           "unmap 124; map 144 20M 4; at; tensor 79 10M; "
           "at @/usr/lib/libother.so; alloc memory:9 20M vmm; map 1000 20M 9"); /* not of the framework */
    struct vs_user_segment *list;
    size_t count;
    vs_user_segments(replay, 0, &list, &count);
    assert_int_equal(count, 2);
    assert_int_equal(list[0].addr, A(64));
    assert_int_equal(list[0].size, 40 * MIB);
    assert_int_equal(list[1].addr, A(144));
    free(list);
    assert_int_equal(vs_user_sums(replay, 0).allocated, 30 * MIB); /* the tensor, and handle 9 */
}

/* --- naming --- */

/* The sites at the peak of a trace. */
static const struct vs_report_sites *sites_of(const char *text)
{
    record(text);
    read_report(0);
    return &report->devices[0].at_peak;
}

TEST(a_site_is_named_by_the_users_functions)
{
    char text[VS_CHAIN_TEXT_MAX];
    const struct vs_report_sites *sites = sites_of(
        "at " C10 "; alloc 64 20M; at " C10 " < forward " TORCH "nn/modules/linear.py:31 < _call_impl " TORCH
        "nn/modules/module.py:31 < log_activation /home/u/train.py:31 < _call_impl " TORCH
        "nn/modules/module.py:31 < train_step /home/u/train.py:31; tensor 64 3M");
    const struct vs_report_device *gpu = &report->devices[0];
    assert_int_equal(gpu->level, VS_LEVEL_FRAMEWORK);
    assert_int_equal(sites->count, 1);
    assert_string_equal(vs_text_called(text, &sites->items[0]),
                        "log_activation (train.py:31) < train_step:31 [torch: forward]");
    assert_int_equal(gpu->device_at_peak.count, 1);
    assert_int_equal(gpu->device_at_peak.items[0].bytes, 20 * MIB);
}

TEST(stacks_below_one_line_are_one_row)
{
    const struct vs_report_sites *sites = sites_of(
        "at a " TORCH "a.py:5 < f /home/u/train.py:5; tensor 64 1M; "
        "at b " TORCH "a.py:5 < f /home/u/train.py:5; tensor 65 1M; "
        "at a " TORCH "a.py:6 < f /home/u/train.py:6; tensor 66 1M");
    assert_int_equal(sites->count, 2);
    assert_int_equal(sites->items[0].bytes, 2 * MIB);
    assert_int_equal(sites->items[0].stacks, 2);
    assert_int_equal(sites->items[0].allocs, 2);
    assert_null(sites->items[0].through);
    assert_int_equal(sites->items[1].bytes, MIB);
}

TEST(a_backward_pass_is_named_by_the_line_that_called_it)
{
    char text[VS_CHAIN_TEXT_MAX];
    const struct vs_report_sites *sites = sites_of(
        "at @/env/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so; "
        "push backward; mark at /nowhere/train.py:40; thread 758; tensor 64 1M; "
        "thread 0; mark at /nowhere/train.py:50; thread 758; tensor 65 2M; "
        "thread 0; pop; thread 758; tensor 68 4M"); /* of no line: the range is over */
    const struct vs_live *live = vs_live_table_find(&replay->framework_live, A(64));
    assert_string_equal(vs_reader_string(reader, live->mark), "at /nowhere/train.py:40");
    assert_int_equal(live->tid, VS_BUILDER_PID + 758);
    assert_int_equal(sites->count, 3);
    assert_int_equal(sites->items[0].bytes, 4 * MIB);
    assert_null(sites->items[0].line);
    assert_string_equal(vs_text_site(text, &sites->items[1], 4), "train.py:50");
    assert_string_equal(vs_text_site(text, &sites->items[2], 4), "train.py:40");
}

TEST(a_package_that_the_program_is_started_from_is_the_users)
{
    char text[VS_CHAIN_TEXT_MAX];
    const struct vs_report_sites *sites = sites_of(
        "at linear " TORCH "nn/functional.py:3 < fit /env/lib/python3.11/site-packages/axe/fit.py:3 < "
        "<module> /env/lib/python3.11/site-packages/axe/__main__.py:3 < _run_code <frozen runpy>; tensor 64 1M");
    assert_string_equal(vs_text_called(text, &sites->items[0]),
                        "fit (fit.py:3) < <module> (__main__.py:3) [torch: linear]");
}

TEST(a_python_file_is_a_librarys_by_where_it_is_installed)
{
    static const struct {
        const char *path, *library;
    } files[] = {
        {"/home/u/train.py", ""},
        {"/home/u/proj/.venv/lib/python3.12/site-packages/torch/nn/functional.py", "torch"},
        {"/home/u/.local/lib/python3.10/site-packages/numba/cuda/api.py", "numba"},
        {"/opt/conda/envs/x/lib/python3.11/site-packages/six.py", "six"},
        {"/usr/lib/python3/dist-packages/numpy/core.py", "numpy"},
        {"/usr/lib64/python3.9/threading.py", "python"},
        {"/home/u/.pyenv/versions/3.13t/lib/python3.13t/runpy.py", "python"},
        {"<frozen runpy>", "python"},
        {"<eval_with_key>.5 from x.py:1 in forward", "torch"},
        {"/tmp/torchinductor_u/ab/x.py", "torch.compile"},
        {"/cache/ab/cabqwertyuiopasdfghjklzxcvbnm234567qwertyuiopasdfgh.py", "torch.compile"},
        {"/home/u/lib/python3/train.py", "python"},
        {"/home/u/lib/python-code/train.py", ""},
        {"/home/u/torch/train.py", ""}, /* only the name of a library */
        {"/home/u/numba/kernels.py", ""},
        {"/home/u/src/torch/nn/functional.py", ""}, /* no environment there */
        {"/usr/src/app/train.py", ""},              /* a usual place in containers */
        {"/env/src/transformers/src/transformers/trainer.py", "transformers"},
        {"<stdin>", ""},
        {"train.py", ""},
    };
    record("at f /env/lib/python3.11/runpy.py < g /usr/lib/python3.11/runpy.py; tensor 64 1M");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[VS_PACKAGE_MAX];
        vs_python_library(reader, files[i].path, name);
        if (strcmp(name, files[i].library) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", files[i].path, name, files[i].library);
    }
}

TEST(an_object_is_a_librarys_by_name_or_folder)
{
    static const struct {
        const char *path;
        bool installed;
    } objects[] = {
        {"/home/u/build/train", false},
        {"/home/u/build/libmodel.so", false},
        {"/home/u/libs/libnccl.so.2", true},
        {"/usr/lib/x86_64-linux-gnu/libfoo.so.1", true},
        {"/usr/local/cuda/lib64/libcublas.so.12", true},
        {"/usr/local/bin/train", false},
        {"/env/lib/python3.11/site-packages/x/_ext.so", true},
        {"/home/u/.pyenv/versions/3.11.7/bin/python3.11", true},
        {"/home/u/.pyenv/versions/3.11.7/lib/libpython3.11.so.1.0", true},
        {"/home/u/miniconda3/bin/python3.13t", true},
        {"/home/u/miniconda3/lib/libpython3.so", true},
        {"/home/u/build/pythonic", false},
        {"/home/u/build/lib/vramscope/simulator/libnvrtc.so.13", true},
        {"/home/u/build/libpython_model.so", false},
    };
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        char name[VS_PACKAGE_MAX];
        assert_int_equal(vs_library_installed(objects[i].path, name), objects[i].installed);
    }
}

TEST(templates_of_system_headers_are_not_the_users_code)
{
    static const struct { const char *function, *file, *library; } code[] = {
        {"make", "/usr/include/c++/12/bits/shared_ptr.h", "C++ library"},
        {"make", "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/std_thread.h", "C++ library"},
        {"_mm_set1_ps", "/usr/lib/gcc/x86_64-linux-gnu/12/include/xmmintrin.h", "compiler header"},
        {"resize", "/usr/local/cuda-13.0/include/thrust/device_vector.h", "Thrust"},
        {"resize", "/usr/local/cuda-13.0/include/cccl/thrust/device_vector.h", "Thrust"},
        {"Sum", "/opt/cuda/targets/x86_64-linux/include/cccl/cub/device/device_scan.cuh", "CUB"},
        {"max", "/opt/nvidia/targets/x86_64-linux/include/cuda_fp16.hpp", "CUDA"},
        {"max", "/opt/cuda-12.4/include/cuda_fp16.hpp", "CUDA"},
        {"max", "/usr/include/eigen3/Eigen/Core", "system header"},
        {"void thrust::THRUST_300001_SM_900_NS::sort<int*>(int*, int*)", "/home/u/vendor/sort.h", "Thrust"},
        {"cuda::std::__4::pair<int, long> thrust::THRUST_300001_SM_900_NS::get<int>(long)", NULL, "Thrust"},
        {"cub::CUB_200200_SM_80::DeviceScan::Sum(int)", NULL, "CUB"},
        {"std::__1::vector<int, std::__1::allocator<int> >::resize(unsigned long)", NULL, "C++ library"},
        {"void grow<std::vector<int> >(std::vector<int>&)", "/home/u/a.cu", NULL},
        {"thrusters::fire()", NULL, NULL},
        {"resize", "/home/u/cuda-samples/include/pool.h", NULL},
        {"resize", "/home/u/project/include/pool.h", NULL},
        {"resize", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
        const char *library = vs_library_of_code(code[i].function, code[i].file);
        assert_string_equal(library ? library : "the user's",
                            code[i].library ? code[i].library : "the user's");
    }

    struct vs_chain_frame frames[] = {
        {.function = "std::make_shared<Buffer>", .file = "/usr/include/c++/12/bits/shared_ptr.h", .module = "a",
         .library = "C++ library"},
        {.function = "keep", .file = "/home/u/a.cpp", .module = "a"},
    };
    assert_true(vs_naming_fold(frames, 2));
    assert_string_equal(frames[0].library, "C++ library");
    assert_string_equal(frames[1].library, "");
}

TEST(names_of_functions_are_short)
{
    static const char *const names[][2] = {
        {"void thrust::THRUST_300001_SM_900_NS::sort<thrust::THRUST_300001_SM_900_NS::detail::pointer<int> >(int*)",
         "thrust::sort<…>"},
        {"thrust::THRUST_300001_SM_900_NS::device_vector<int, thrust::device_allocator<int> >::resize(unsigned long)",
         "thrust::device_vector<…>::resize"},
        {"std::__cxx11::basic_string<char, std::char_traits<char> >::append(char const*)",
         "std::basic_string<…>::append"},
        {"Pool<float>::grow(unsigned long) const", "Pool<float>::grow"},
        {"operator<< <Matrix<double, 3, 3, 0, 3, 3> >(std::ostream&)", "operator<< <Matrix<double, 3, 3, 0, 3, 3> >"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
        {"<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
        {"Module.cuda.<locals>.<lambda>", "Module.cuda.<locals>.<lambda>"},
        {"<module>", "<module>"},
    };
    char out[200], cut[8];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = vs_function_text(names[i][0], out, sizeof out);
        assert_string_equal(out, names[i][1]);
        assert_int_equal(length, strlen(out));
    }
    assert_int_equal(vs_function_text("a_long_name", cut, sizeof cut), 7);
    assert_string_equal(cut, "a_long_");
}

TEST(a_dispatcher_of_pytorch_names_no_call)
{
    struct vs_chain_frame frames[] = {
        {.function = "at::_ops::mm::redispatch(c10::DispatchKeySet)", .module = "libtorch.so", .library = "PyTorch"},
        {.function = "at::_ops::mm::call(at::Tensor const&)", .module = "libtorch.so", .library = "PyTorch"},
        {.function = "OpOverload.redispatch", .file = "/e/site-packages/torch/_ops.py", .python = true, .library = "torch"},
        {.function = "DTensor.__torch_dispatch__", .file = "/e/site-packages/torch/a.py", .python = true, .library = "torch"},
        {.function = "train", .file = "/home/u/train.py", .line = 5, .python = true},
    };
    char out[VS_THROUGH_MAX];
    assert_string_equal(vs_naming_through(frames, 5, out), "torch.mm");
    frames[3].function = "Linear.forward";
    assert_string_equal(vs_naming_through(frames, 5, out), "torch: Linear.forward");
}

TEST(the_user_can_name_libraries)
{
    char name[VS_PACKAGE_MAX];
    assert_false(vs_library_named("/home/u/app/third_party/pool/pool.cpp", "pool::grow()", name));
    assert_true(vs_library_add("third_party/pool,acme::,/srv/shared/,libowned"));
    assert_true(vs_library_named("/home/u/app/third_party/pool/pool.cpp", NULL, name));
    assert_string_equal(name, "pool");
    assert_true(vs_library_named(NULL, "void acme::detail::grow<int>(int)", name));
    assert_string_equal(name, "acme");
    assert_true(vs_library_named("/srv/shared/tool.py", NULL, name));
    assert_true(vs_python_is_library("/srv/shared/tool.py"));
    assert_true(vs_library_installed("/home/u/build/libowned.so.2", name));
    assert_string_equal(name, "libowned");
    assert_false(vs_library_named("/home/u/app/third_party/pools/a.cpp", "acmes::f()", name));
}

/* Called by ctypes, or an extension compiled with debug information. */
TEST(native_code_of_the_user_below_python_names_the_call_site)
{
    struct vs_chain_frame frames[] = {
        {.function = "at::empty", .module = "libtorch.so", .library = "PyTorch"},
        {.function = "inlined", .file = "/env/site-packages/torch/include/ATen/empty.h", .line = 3, .module = "libown.so",
         .known = true, .library = "library header"},
        {.function = "backward", .file = "/home/u/own.c", .line = 60, .module = "libown.so", .known = true},
        {.function = "libstripped.so+0x10", .module = "libstripped.so"},
        {.function = "PyCFuncPtr_call", .file = "_ctypes.c", .line = 4, .module = "_ctypes.so", .known = true,
         .library = "python"},
        {.function = "run", .file = "/env/site-packages/tool/run.py", .line = 5, .python = true, .known = true,
         .library = "tool"},
        {.function = "main", .file = "/home/u/train.py", .line = 6, .python = true, .known = true},
        {.function = "embed", .file = "/home/u/app.c", .line = 7, .module = "app", .known = true},
    };
    const char *const libraries[] = {"PyTorch", "library header", "", "native", "python", "tool", "", "native"};
    assert_true(vs_naming_fold(frames, 8));
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(frames[i].library, libraries[i]);
    assert_string_equal(vs_library_of_code("empty", "/env/lib/python3.11/site-packages/torch/include/ATen/empty.h"),
                        "library header");
}

/* The stacks of a trace's tensors, 1 MiB each from 64 on. */
static uint64_t stack(unsigned tensor)
{
    return stack_at(&replay->framework_live, 64 + tensor);
}

TEST(native_code_of_the_user_tells_stacks_of_one_python_line_apart)
{
    struct vs_map owners = {0};
    uint64_t keys[5];
    record("at @/home/u/libown.so < f /home/u/t.py; tensor 64 1M; "
           "at @/home/u/libother.so < f /home/u/t.py; tensor 65 1M; "
           "at " C10 " < f /home/u/t.py; tensor 66 1M; "
           "at @/usr/lib/libcublas.so.12 < f /home/u/t.py; tensor 67 1M; "
           "at " C10 " < f /home/u/t.py < @/home/u/app; tensor 68 1M");
    for (unsigned i = 0; i < 5; i++)
        vs_naming_key(reader, &owners, stack(i), 0, &keys[i]);
    assert_true(keys[0] != keys[1]);
    assert_true(keys[0] != keys[2]);
    assert_true(keys[2] == keys[3]);
    assert_true(keys[2] == keys[4]);
    vs_map_free(&owners);
}

TEST(a_long_first_function_leaves_room_for_its_line)
{
    struct vs_report_frame frame = {
        .function = "a_library_of_long_names::outer::middle::Template<std::vector<float, std::allocator<float>>, "
                    "std::vector<double>>::inner::grow_the_buffer",
        .file = "/home/u/a_file.cpp", .line = 123, .known = true};
    struct vs_report_site site = {.frames = &frame, .frame_count = 1, .api = ""};
    char text[VS_CHAIN_TEXT_MAX];
    assert_string_equal(vs_text_site(text, &site, 4),
                        "…::outer::middle::Template<…>::inner::grow_the_buffer (a_file.cpp:123)");
}

/* The stack of a refused request differs from those of the requests before it only inside PyTorch's
 * allocator. */
TEST(requests_of_one_call_have_the_same_caller)
{
#define CUDA "@/env/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so < "
    record("at " C10 " < " C10 " < " CUDA "decode /home/u/serve.py:7; tensor 64 1M; "
           "at " C10 " < " CUDA "decode /home/u/serve.py:7; tensor 65 1M; " /* refused */
           "at " C10 " < " CUDA "decode /home/u/serve.py:8; tensor 66 1M; "
           "at " C10 " < " CUDA "decode /home/u/serve.py:7 < main /home/u/serve.py:7; tensor 67 1M; "
           "at " C10 "; tensor 68 1M"); /* inside */
    assert_true(vs_library_same_caller(reader, stack(0), stack(1)));
    assert_true(vs_library_same_caller(reader, stack(4), stack(4)));
    assert_false(vs_library_same_caller(reader, stack(0), stack(2)));
    assert_false(vs_library_same_caller(reader, stack(0), stack(3)));
    assert_false(vs_library_same_caller(reader, stack(0), stack(4)));
    assert_false(vs_library_same_caller(reader, stack(4), 0));
}
