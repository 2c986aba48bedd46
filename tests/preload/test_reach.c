/* SPDX-License-Identifier: Apache-2.0
 *
 * The command's messages about programs that cannot be preloaded, from their files: created here,
 * since no machine has them all. */
#define _GNU_SOURCE
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cmocka_test.h"

#include "tools/run/reach.h"

static char folder[] = "/tmp/vramscope-reach-XXXXXX";
static char path[PATH_MAX], why[8192];

static const char *file_of(const char *name, const void *bytes, size_t n)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

/* A program of that word size and processor; *loader* NULL: none. */
static const char *program_of(const char *name, int word, int machine, const char *loader)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segment;
        char loader[64];
    } p = {.header = {.e_type = ET_DYN,
                      .e_machine = (Elf64_Half)machine,
                      .e_phoff = sizeof p.header,
                      .e_phentsize = sizeof p.segment,
                      .e_phnum = 1}};
    memcpy(p.header.e_ident, ELFMAG, SELFMAG);
    p.header.e_ident[EI_CLASS] = (unsigned char)word;
    p.segment.p_type = loader ? PT_INTERP : PT_LOAD;
    p.segment.p_offset = offsetof(__typeof__(p), loader);
    if (loader) {
        strcpy(p.loader, loader);
        p.segment.p_filesz = strlen(loader) + 1;
    }
    return file_of(name, &p, sizeof p);
}

#if defined(__x86_64__)
#define OWN EM_X86_64
#define OTHER EM_AARCH64
#else
#define OWN EM_AARCH64
#define OTHER EM_X86_64
#endif
#define GLIBC "/lib64/ld-linux-x86-64.so.2"

static void expect(const char *program, enum vs_reach reach, const char *text)
{
    assert_int_equal(vs_reach(program, why, sizeof why), reach);
    if (text)
        assert_non_null(strstr(why, text));
    else
        assert_string_equal(why, "");
}

TEST(ordinary_programs_and_scripts_are_reached)
{
    expect("sh", VS_REACH_YES, NULL);
    expect("/bin/sh", VS_REACH_YES, NULL);
    expect("no-such-program-anywhere", VS_REACH_YES, NULL);
    expect(program_of("plain", ELFCLASS64, OWN, GLIBC), VS_REACH_YES, NULL);
    expect(file_of("script", "#!/bin/sh\n", 10), VS_REACH_YES, NULL);
    expect(file_of("empty", "", 0), VS_REACH_YES, NULL);
    expect(file_of("bare", "#!", 2), VS_REACH_YES, NULL);
    expect(file_of("torn", "\177ELF", 4), VS_REACH_YES, NULL);
}

TEST(what_has_no_loader_or_another_one_is_reported)
{
    expect(program_of("static", ELFCLASS64, OWN, NULL), VS_REACH_NO, "statically linked");
    expect(program_of("narrow", ELFCLASS32, EM_386, GLIBC), VS_REACH_NO, "32-bit");
    expect(program_of("other", ELFCLASS64, OTHER, GLIBC), VS_REACH_NO, "another CPU architecture");
    expect(program_of("musl", ELFCLASS64, OWN, "/lib/ld-musl-x86_64.so.1"), VS_REACH_HARMFUL, "musl");
}

TEST(scripts_are_followed_to_their_interpreter)
{
    char line[PATH_MAX + 64];
    const char *interpreter = program_of("interpreter", ELFCLASS64, OWN, NULL);
    snprintf(line, sizeof line, "#! %s -x\nrest\n", interpreter);
    expect(file_of("script", line, strlen(line)), VS_REACH_NO, "interpreter is statically linked");
    snprintf(line, sizeof line, "#!%s/script\n", folder);
    expect(file_of("second", line, strlen(line)), VS_REACH_NO, "interpreter is statically linked");
    snprintf(line, sizeof line, "#!/usr/bin/env -S A=1 %s/interpreter -y\n", folder);
    expect(file_of("third", line, strlen(line)), VS_REACH_NO, "interpreter is statically linked");
    snprintf(line, sizeof line, "#!%s/loop\n", folder);
    expect(file_of("loop", line, strlen(line)), VS_REACH_YES, NULL);
}

TEST(raised_rights_are_reported)
{
    const char *program = program_of("raised", ELFCLASS64, OWN, GLIBC);
    if (getuid() != 0)
        skip();
    assert_int_equal(chmod(program, 04755), 0);
    expect(program, VS_REACH_YES, NULL); /* the same as the caller */
    assert_int_equal(chown(program, 12345, 12345), 0);
    assert_int_equal(chmod(program, 04755), 0);
    expect(program, VS_REACH_NO, "set-user-ID");
    assert_int_equal(chmod(program, 02755), 0);
    expect(program, VS_REACH_NO, "set-group-ID");
    assert_int_equal(chmod(program, 0755), 0);
    expect(program, VS_REACH_YES, NULL);
}

TEST(a_library_is_distinguished_from_what_only_has_its_name)
{
    assert_true(vs_reach_is_library(program_of("own.so", ELFCLASS64, OWN, NULL)));
    assert_int_equal(truncate(path, sizeof(Elf64_Ehdr) + 1), 0);
    assert_false(vs_reach_is_library(path));
    assert_false(vs_reach_is_library(file_of("empty.so", "", 0)));
    assert_false(vs_reach_is_library(program_of("other.so", ELFCLASS64, OTHER, NULL)));
    assert_false(vs_reach_is_library("/no/such.so"));
}

SETUP(set_up)
{
    return mkdtemp(folder) ? 0 : -1;
}

TEARDOWN(tear_down)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}
