/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of Python's pickles: values of every kind and protocol, and bytes that are none: cut
 * off anywhere, lengths beyond the file, operands that are missing, memos that multiply, depths
 * without end, and opcodes that would call something. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/import/pickle.h"

static struct vs_pickle pickle;
static char why[VS_PICKLE_WHY_MAX];

static enum vs_err read_bytes(const void *bytes, size_t size)
{
    FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "rb");
    assert_non_null(in);
    vs_pickle_free(&pickle);
    enum vs_err err = vs_pickle_read(in, &pickle, why);
    fclose(in);
    return err;
}

#define READ(text) read_bytes(text, sizeof(text) - 1)

TEST(integers_of_every_length)
{
    static const struct {
        const char *bytes;
        size_t size;
        int64_t value;
    } cases[] = {
#define CASE(text, value) {"\x80\x02" text ".", sizeof(text) + 2, value}
        CASE("K\xff", 255), CASE("M\xff\xfe", 0xfeff), CASE("J\xff\xff\xff\xff", -1),
        CASE("J\x00\x00\x00\x80", INT32_MIN), CASE("\x8a\x00", 0), CASE("\x8a\x01\xff", -1),
        CASE("\x8a\x05\xff\xff\xff\xff\x00", 0xffffffff),
        CASE("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", INT64_MAX),
        CASE("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80", INT64_MIN),
        CASE("\x8b\x02\x00\x00\x00\x00\x01", 256),
#undef CASE
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_bytes(cases[i].bytes, cases[i].size), VS_OK);
        assert_int_equal(pickle.root.type, VS_PICKLE_INT);
        assert_int_equal(pickle.root.integer, cases[i].value);
    }
    assert_int_equal(READ("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00."), VS_OK);
    assert_int_equal(pickle.root.type, VS_PICKLE_BIG);
}

TEST(other_scalars)
{
    assert_int_equal(READ("\x80\x02N."), VS_OK);
    assert_int_equal(pickle.root.type, VS_PICKLE_NONE);
    assert_int_equal(READ("\x80\x03\x88."), VS_OK);
    assert_true(pickle.root.type == VS_PICKLE_BOOL && pickle.root.integer == 1);
    assert_int_equal(READ("\x80\x02G\x3f\xf8\x00\x00\x00\x00\x00\x00."), VS_OK);
    assert_true(pickle.root.type == VS_PICKLE_FLOAT && pickle.root.real == 1.5);
    assert_int_equal(READ("\x80\x02X\x03\x00\x00\x00" "a\0b."), VS_OK);
    assert_int_equal(pickle.root.text->length, 3);
    assert_memory_equal(pickle.root.text->bytes, "a\0b", 4);
    assert_int_equal(READ("\x80\x04\x8d\x01\x00\x00\x00\x00\x00\x00\x00z."), VS_OK);
    assert_true(vs_pickle_is_text(&pickle.root, "z"));
    assert_int_equal(READ("\x80\x05\x96\x02\x00\x00\x00\x00\x00\x00\x00zz."), VS_OK);
    assert_int_equal(pickle.root.type, VS_PICKLE_BYTES);
}

/* {"a": [1, 2, (3,)], "b": the same list} */
TEST(containers_and_the_memo)
{
    assert_int_equal(READ("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}(\x8c\x01" "a]\x94(K\x01K\x02K\x03"
                          "\x85" "e\x8c\x01" "bh\x00u."), VS_OK);
    const struct vs_pickle_value *a = vs_pickle_get(&pickle.root, "a");
    const struct vs_pickle_value *b = vs_pickle_get(&pickle.root, "b");
    assert_true(a && b && a->list == b->list);
    const struct vs_pickle_list *list = vs_pickle_items(a, VS_PICKLE_LIST);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->items[1].integer, 2);
    assert_int_equal(vs_pickle_items(&list->items[2], VS_PICKLE_TUPLE)->items[0].integer, 3);
    assert_null(vs_pickle_get(&pickle.root, "c"));
    assert_null(vs_pickle_get(a, "a"));
    assert_int_equal(vs_pickle_items(NULL, VS_PICKLE_LIST)->count, 0);
    assert_int_equal(READ("\x80\x02(K\x01K\x02l."), VS_OK);
    assert_int_equal(pickle.root.list->count, 2);
    assert_int_equal(READ("\x80\x02(U\x01xK\x02" "d."), VS_OK);
    assert_int_equal(vs_pickle_get(&pickle.root, "x")->integer, 2);
    assert_int_equal(READ("\x80\x02}U\x01xK\x02sU\x01xK\x03s."), VS_OK);
    assert_int_equal(vs_pickle_get(&pickle.root, "x")->integer, 3);
}

TEST(a_list_may_contain_itself)
{
    assert_int_equal(READ("\x80\x02]q\x00h\x00" "a."), VS_OK);
    assert_ptr_equal(pickle.root.list->items[0].list, pickle.root.list);
}

TEST(calls_are_refused)
{
    assert_int_equal(READ("\x80\x02" "cos\nsystem\n(S'true'\ntR."), VS_ERR_FORMAT);
    assert_non_null(strstr(why, "GLOBAL"));
    assert_non_null(strstr(why, "byte 2"));
    assert_int_equal(READ("\x80\x04\x8c\x02os\x8c\x06system\x93."), VS_ERR_FORMAT);
    assert_non_null(strstr(why, "STACK_GLOBAL"));
    static const unsigned char codes[] = {'R', 'b', 'i', 'o', 0x81, 0x92, 0x82, 0x83, 0x84, 'P', 'Q'};
    for (size_t i = 0; i < sizeof codes; i++) {
        unsigned char bytes[] = {0x80, 2, 'N', 'N', codes[i], '.'};
        assert_int_equal(read_bytes(bytes, sizeof bytes), VS_ERR_FORMAT);
        assert_non_null(strstr(why, "refused"));
    }
    for (unsigned code = 0; code < 256; code++) { /* whatever an opcode does, it fails cleanly */
        unsigned char bytes[] = {0x80, 2, (unsigned char)code};
        assert_true(code == '.' || read_bytes(bytes, sizeof bytes) != VS_OK);
    }
}

TEST(other_protocols_and_files)
{
    assert_int_equal(READ("\x80\x06N."), VS_ERR_VERSION);
    assert_non_null(strstr(why, "protocol 6"));
    assert_int_equal(READ("\x80\x01N."), VS_ERR_VERSION);
    assert_int_equal(READ("(lp0\n."), VS_ERR_FORMAT);
    assert_int_equal(READ("PK\x03\x04"), VS_ERR_FORMAT);
    assert_int_equal(READ("\0"), VS_ERR_FORMAT);
}

TEST(operands_must_be_there)
{
    static const char *const bodies[] = {"a", "s", "e", "u", "t", "l", "d", "\x85", "\x86", "\x87",
                                         "\x94", "h\x01", "j\x01\x01\x01\x01", "NNa", "N(Ne", "](NNu",
                                         "}(Nu", "(Nd", "(a", "](a", "]N(a", "]((NNe", "", "NN", "(N",
                                         "](", "K\x01r\xff\xff\xff\x7f"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char bytes[64] = "\x80\x02";
        size_t length = 2;
        for (const char *p = bodies[i]; *p; p++)
            bytes[length++] = *p;
        bytes[length++] = '.';
        assert_int_equal(read_bytes(bytes, length), VS_ERR_CORRUPT);
        assert_non_null(strstr(why, "at byte"));
    }
}

TEST(lengths_are_not_trusted)
{
    assert_int_equal(READ("\x80\x02X\xff\xff\xff\xff" "abc"), VS_ERR_CORRUPT);
    assert_int_equal(READ("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff" "abc"), VS_ERR_CORRUPT);
    assert_int_equal(READ("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f" "abc"), VS_ERR_CORRUPT);
    assert_int_equal(READ("\x80\x02\x8b\xff\xff\xff\x7f" "abc"), VS_ERR_CORRUPT);
    assert_int_equal(READ("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffN."), VS_OK);
    assert_true(pickle.arena.bytes_mapped <= (size_t)1 << 20);
}

/* A million levels: nothing may recurse. */
TEST(depth_is_no_matter)
{
    enum { DEPTH = 1000000 };
    char *bytes = malloc(2 * DEPTH + 8);
    assert_non_null(bytes);
    size_t n = 0;
    bytes[n++] = '\x80';
    bytes[n++] = 2;
    memset(bytes + n, ']', DEPTH);
    n += DEPTH;
    memset(bytes + n, 'a', DEPTH - 1);
    n += DEPTH - 1;
    bytes[n++] = '.';
    assert_int_equal(read_bytes(bytes, n), VS_OK);
    memset(bytes + 2, '(', DEPTH);
    assert_int_equal(read_bytes(bytes, n), VS_ERR_CORRUPT);
    free(bytes);
}

/* Each list has the one before it twice: 2^999 leaves, but 1000 lists. */
TEST(a_memo_does_not_multiply)
{
    unsigned char bytes[1000 * 14 + 8];
    size_t n = 0;
    bytes[n++] = 0x80;
    bytes[n++] = 4;
    bytes[n++] = '('; /* all of them become one tuple at the end */
    bytes[n++] = ']';
    bytes[n++] = 0x94;
    for (uint32_t i = 0; i < 999; i++) {
        bytes[n++] = ']';
        bytes[n++] = 0x94;
        bytes[n++] = '(';
        for (int twice = 0; twice < 2; twice++) {
            bytes[n++] = 'j';
            memcpy(bytes + n, &i, sizeof i);
            n += sizeof i;
        }
        bytes[n++] = 'e';
    }
    bytes[n++] = 't';
    bytes[n++] = '.';
    assert_int_equal(read_bytes(bytes, n), VS_OK);
    assert_int_equal(pickle.root.list->count, 1000);
    assert_true(pickle.arena.bytes_mapped <= VS_PICKLE_EXPANSION * n + ((size_t)1 << 20));
}

/* The worst that a byte can cost. */
TEST(memory_is_bounded_by_the_file)
{
    static const char patterns[][3] = {"}", "]", ")", "N", "(", "]\x94", "}\x94", "N\x85", "\x8c"};
    enum { SIZE = 1 << 20 };
    char *bytes = malloc(SIZE + 2);
    assert_non_null(bytes);
    memcpy(bytes, "\x80\x04", 2);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        size_t length = strlen(patterns[i]) + (patterns[i][0] == '\x8c'); /* with an empty text */
        for (size_t k = 0; k < SIZE; k++)
            bytes[2 + k] = patterns[i][k % length];
        assert_int_equal(read_bytes(bytes, SIZE + 2), VS_ERR_CORRUPT);
        assert_true(pickle.arena.bytes_mapped <= (size_t)VS_PICKLE_EXPANSION * SIZE);
    }
    free(bytes);
}

TEARDOWN(release)
{
    vs_pickle_free(&pickle);
    return 0;
}
