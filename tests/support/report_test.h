/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of what is read from a trace: one at a time, with its reader and its report, which are closed
 * after each test. Header-only; each test program is one file. */
#ifndef VS_REPORT_TEST_H
#define VS_REPORT_TEST_H

#include "support/cmocka_test.h"
#include "analysis/report/report.h"
#include "support/trace_text.h"

static struct vs_builder b;
static struct vs_reader *reader;
static struct vs_report *report;

AFTER(close_trace)
{
    vs_report_free(report);
    vs_reader_close(reader);
    report = NULL;
    reader = NULL;
    return 0;
}

/* Ends the trace, if it has no end, and opens it. */
static inline void read_trace(int status)
{
    if (b.recorder)
        vs_builder_close(&b, VS_END_EXIT, (uint64_t)status);
    if (!reader)
        assert_int_equal(vs_reader_open(b.path, &reader, NULL), VS_OK);
}

static inline void read_report(int status)
{
    read_trace(status);
    vs_report_free(report);
    assert_int_equal(vs_report_build(reader, b.path, NULL, &report), VS_OK);
}

/* A trace of one device, read before or not, which stays open. */
static inline void begin_trace(const char *policy, const char *text)
{
    close_trace(NULL);
    vs_builder_open(&b, policy);
    vs_trace(&b, "%s", text);
}

#endif
