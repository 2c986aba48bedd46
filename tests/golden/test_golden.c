/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of every format version so far are read as before: tests/golden/vN.vst gives the text that it
 * always gave, kept as its XXH3. tests/decoder, which knows the document alone, makes the same text of
 * it (check_decoder.py). Neither is ever regenerated. */
#include "unit/trace/trace_test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "golden/trace_dump.h"

TEST(every_version_reads_as_it_always_did)
{
    static const struct {
        const char *name;
        uint64_t text;
    } traces[] = {{"v1", 0x68345f96a8362109},
                  {"v1_1", 0x6978950dde467d67},
                  {"v1_2", 0x8184c1c41c24d9ae},
                  {"v2_0", 0xf05544cff112ee3f},
                  {"v2_0_checkpoints", 0x49db73ea2ef5e601}};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        char path[512], *text = NULL;
        size_t bytes = 0;
        snprintf(path, sizeof path, "%s/%s.vst", VS_GOLDEN_DIR, traces[i].name);
        struct vs_reader *reader = open_reader(path);
        for (int pass = 0; pass < 2; pass++) {
            FILE *out = open_memstream(&text, &bytes);
            assert_non_null(out);
            assert_int_equal(vs_trace_dump(reader, out, true), VS_OK);
            fclose(out);
            assert_condition(reader, VS_TRACE_COMPLETE);
            if (XXH3_64bits(text, bytes) != traces[i].text)
                fail_msg("%s reads otherwise: its text is now %016llx", traces[i].name,
                         (unsigned long long)XXH3_64bits(text, bytes));
            free(text);
            vs_reader_rewind(reader);
        }
        vs_reader_close(reader);
    }
}
