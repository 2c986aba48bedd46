/* SPDX-License-Identifier: Apache-2.0
 *
 * Which library a program under `vramscope run --simulate` gets, when it names another of the same
 * soname: the simulated GPU's has 1 device, the others in VS_FOLDER/12 and 13 answer 1012 and 1013. */
#define SIMULATED "t4-16g"
#define VS_VICTIM VS_PROGRAM_13
#define VS_SIMULATOR_PATH ""
#define _GNU_SOURCE
#include "preload/run_shell.h"

#define RUN "\"$V\" run -q $S -o no.vst -- "
#define THEIRS "env -u VRAMSCOPE_SIMULATE -u LD_LIBRARY_PATH "

static void assert_out(const char *expected)
{
    assert_string_equal(err, "");
    assert_string_equal(out, expected);
}

TEST(a_program_with_its_own_path_gets_ours)
{
    bash(RUN "$P; " RUN VS_PROGRAM_12);
    assert_out("1\n1\n");
}

TEST(nothing_is_redirected_without_the_variable)
{
    bash("$P; " VS_PROGRAM_12 "; " RUN THEIRS "$P; LD_AUDIT=" VS_AUDIT " $P");
    assert_out("1013\n1012\n1013\n1013\n");
}

TEST(opening_by_any_path_gives_ours)
{
    bash(RUN "$P " VS_FOLDER "/13/libcudart.so.13 " VS_FOLDER "/12/libcudart.so.12 libcudart.so.12\n" RUN
         "$P " VS_FOLDER "/13/libcudart.so.13.1.2 " VS_FOLDER "/12/libcudart.so.12.4.6");
    assert_out("1\n1\n1\n1\n1\n1\n1\n");
}

/* Such a link has no major in its name: that of the file behind it counts. */
TEST(the_soname_decides_for_a_link_without_a_version)
{
    bash("ln -s " VS_FOLDER "/12/libcudart.so.12 libcudart.so\n" RUN
         "bash -c '\"$0\" ./libcudart.so >/dev/null; "
         "LD_DEBUG=files \"$0\" ./libcudart.so 2>&1 | grep -o \"calling init:.*libcudart.so.1[0-9]\" "
         "| sed s,.*/,,' $P");
    assert_out("libcudart.so.13\nlibcudart.so.12\n");
}

TEST(other_libraries_stay_what_they_are)
{
    bash("cp " VS_FOLDER "/13/libcudart.so.13 libcudart-1a2b.so.13\n"
         "cp " VS_FOLDER "/13/libcudart.so.13 libcuda_tools.so.1\n"
         "cp " VS_FOLDER "/13/libcudart.so.13 cudart.so.13\n" RUN
         "$P ./libcudart-1a2b.so.13 ./libcuda_tools.so.1 ./cudart.so.13");
    assert_out("1\n1013\n1013\n1013\n");
}

/* A related name makes the auditor read the file. */
TEST(a_damaged_file_gives_the_loaders_own_error)
{
    bash("for n in 0 1 16 63 64 65 100 512 4096; do head -c $n " VS_FOLDER
         "/13/libcudart.so.13 >libcudart.so.13.$n; done\n"
         "mkfifo libcudart.so.14; mkdir libcudart.so.15\n" RUN
         "$P ./libcudart.so.13.{0,1,16,63,64,65,100,512} ./libcudart.so.15 | sort | uniq -c");
    assert_out("      1 1\n      9 no library\n");
}

TEST(another_auditor_keeps_its_place)
{
    bash("LD_AUDIT=" VS_AUDITOR " " RUN "bash -c 'echo $LD_AUDIT; \"$0\"' $P\n"
         "LD_AUDIT=" VS_AUDITOR " " RUN "\"$V\" run -q $S -o no2.vst -- bash -c 'echo $LD_AUDIT'");
    assert_out(VS_AUDITOR ":" VS_AUDIT "\n1\n" VS_AUDITOR ":" VS_AUDIT "\n");
}

TEST(a_run_on_the_real_gpu_has_no_auditor)
{
    bash("\"$V\" run -q -o no.vst -- bash -c 'echo ${LD_AUDIT-unset} ${PYTHONPATH-unset} '"
         "'${USE_PYTORCH_KERNEL_CACHE-unset}'");
    assert_string_equal(out, "unset unset unset\n");
}

/* Kernels of the simulated NVRTC contain no code, and PyTorch would load them on a real GPU. */
TEST(pytorch_keeps_no_kernels)
{
    bash(RUN "bash -c 'echo $USE_PYTORCH_KERNEL_CACHE'; USE_PYTORCH_KERNEL_CACHE=1 " RUN
             "bash -c 'echo $USE_PYTORCH_KERNEL_CACHE'");
    assert_out("0\n0\n");
}

TEST(children_get_ours_too)
{
    bash("printf '#!/bin/sh\\nexec %s\\n' $P >start; chmod +x start\n" RUN "sh -c './start; (sh -c ./start)'");
    assert_out("1\n1\n");
}

TEST(a_clean_environment_is_explained)
{
    bash("\"$V\" run $S -o no.vst -- env -i $P");
    assert_string_equal(out, "1013\n");
    assert_prints(err, "was started without LD_PRELOAD in its environment");
    assert_prints(err, "does not use the simulated GPU either");
}

/* The Python part is not in every installation. */
TEST(python_starts_with_our_folder_where_there_is_one)
{
    bash("mkdir -p bin lib; cp " VS_COMMAND " bin; V=$PWD/bin/vramscope\n"
         "cp " VS_LIBRARY " lib/libvramscope.so; cp -a " VS_TREE "/lib/vramscope lib\n"
         "rm -rf lib/vramscope/python; PYTHONPATH=/a " RUN "bash -c 'echo $PYTHONPATH'\n"
         "mkdir -p lib/vramscope/python/startup\n"
         "PYTHONPATH=/a " RUN "bash -c 'echo ${PYTHONPATH#$PWD/}'; " RUN "bash -c 'echo ${PYTHONPATH#$PWD/}'");
    assert_out("/a\nlib/vramscope/python/startup:/a\nlib/vramscope/python/startup\n");
}
