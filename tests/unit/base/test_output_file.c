/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders of files that are kept as a cache. Replacements are tested with traces
 * (test_trace_rewrite) and with the tools' outputs (test_whole_file). */
#define _GNU_SOURCE
#include "support/cmocka_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_output_file.h"

static char folder[PATH_MAX];

BEFORE(make_folder)
{
    char base[] = "/tmp/vs_output_file.XXXXXX";
    assert_non_null(mkdtemp(base));
    snprintf(folder, sizeof folder, "%s/one/two", base);
    return 0;
}

AFTER(remove_folder)
{
    char command[PATH_MAX + 16];
    *strstr(folder, "/one") = '\0';
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* 100 bytes, last used *age* seconds ago. */
static void put(const char *name, int age)
{
    char path[PATH_MAX + 64], bytes[100] = "";
    struct timespec used[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && vs_folder_write(fd, bytes, sizeof bytes));
    assert_int_equal(futimens(fd, used), 0);
    close(fd);
}

static bool there(const char *name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return !access(path, F_OK);
}

static enum vs_folder_entry classify(const char *name)
{
    return *name == '.' ? VS_FOLDER_UNFINISHED : *name == 'k' ? VS_FOLDER_KEPT : VS_FOLDER_FOREIGN;
}

TEST(a_folder_is_made_with_those_above_it)
{
    char file[PATH_MAX + 16];
    struct stat st;
    assert_true(vs_folder_make(folder, 0700) && vs_folder_make(folder, 0700));
    assert_true(!stat(folder, &st) && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700);
    put("kept", 0);
    snprintf(file, sizeof file, "%s/kept/below", folder);
    assert_false(vs_folder_make(file, 0700));
}

TEST(what_was_unused_longest_goes_first)
{
    assert_true(vs_folder_make(folder, 0700));
    put("k-new", 10);
    put("k-old", 1000);
    put("k-oldest", 3000);
    put("foreign", 9000);
    vs_folder_trim(folder, 250, 60, classify);
    assert_true(there("k-new") && there("k-old") && there("foreign"));
    assert_false(there("k-oldest"));
    vs_folder_trim(folder, 100, 60, classify);
    assert_true(there("k-new") && there("foreign"));
    assert_false(there("k-old"));
    vs_folder_trim(folder, 100, 60, classify);
    assert_true(there("k-new"));
}

TEST(unfinished_files_go_when_nobody_writes_them)
{
    assert_true(vs_folder_make(folder, 0700));
    put(".k-running", 10);
    put(".k-dead", 100);
    vs_folder_trim(folder, 1 << 20, 60, classify);
    assert_true(there(".k-running"));
    assert_false(there(".k-dead"));
}
