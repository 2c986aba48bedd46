/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of every format version so far are read as before: tests/golden/vN.vst against its dump
 * vN.txt. Neither is ever regenerated. */
#include "unit/trace/trace_test.h"

#include "golden/trace_dump.h"

TEST(every_version_reads_as_it_always_did)
{
    static const char *const names[] = {"v1", "v1_1", "v1_2", "v2_0", "v2_0_checkpoints"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512], *text = NULL;
        size_t text_bytes = 0, expected_bytes;
        snprintf(path, sizeof path, "%s/%s.txt", VS_GOLDEN_DIR, names[i]);
        unsigned char *expected = slurp(path, &expected_bytes);
        snprintf(path, sizeof path, "%s/%s.vst", VS_GOLDEN_DIR, names[i]);
        struct vs_reader *reader = open_reader(path);
        for (int pass = 0; pass < 2; pass++) {
            FILE *out = open_memstream(&text, &text_bytes);
            assert_non_null(out);
            assert_int_equal(vs_trace_dump(reader, out, true), VS_OK);
            fclose(out);
            assert_condition(reader, VS_TRACE_COMPLETE);
            if (strcmp(text, (char *)expected) != 0)
                fail_msg("%s reads otherwise", names[i]);
            free(text);
            vs_reader_rewind(reader);
        }
        free(expected);
        vs_reader_close(reader);
    }
}
