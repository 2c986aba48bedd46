/* SPDX-License-Identifier: Apache-2.0
 *
 * SARIF 2.1.0 (OASIS): one result per exceeded limit, at the line of its first culprit; the other
 * lines are related locations. Unusable traces are notifications of a failed invocation. */
#include <string.h>

#include "viewer/check/check_words.h"
#include "viewer/common/json_writer.h"

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define URI_MAX 4096

static const struct {
    const char *id, *text;
} rules[] = {
    {"gpu-memory/peak-allocated", "The peak of allocated GPU memory is above its limit."},
    {"gpu-memory/peak-requested", "The peak of requested GPU memory is above its limit."},
    {"gpu-memory/peak-reserved", "The peak of reserved GPU memory is above its limit."},
    {"gpu-memory/live-at-end", "More GPU memory than allowed was not freed."},
    {"gpu-memory/device-memory", "More of the device's memory than allowed was in use."},
    {"gpu-memory/free-memory", "Less of the device's memory than required was free."},
    {"gpu-memory/growth-per-step", "GPU memory grows from step to step by more than allowed."},
    {"gpu-memory/transferred", "More bytes than allowed were copied."},
    {"gpu-memory/copies", "There were more copies than allowed."},
    {"gpu-memory/exit-status", "The program failed."},
    {"gpu-memory/out-of-memory", "The program ran out of GPU memory."},
};

/* *path* as a URI reference. A relative path must not begin like a scheme. */
static const char *uri_of(const char *path, char *out)
{
    size_t n = 0;
    if (*path == '/')
        n = (size_t)snprintf(out, URI_MAX, "file://");
    for (const unsigned char *p = (const unsigned char *)path; *p && n < URI_MAX - 4; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || strchr("/-._~", *p);
        if (plain)
            out[n++] = (char)*p;
        else
            n += (size_t)snprintf(out + n, URI_MAX - n, "%%%02X", *p);
    }
    out[n] = 0;
    return out;
}

static void put_message(struct vs_json *json, const char *key, const char *text)
{
    vs_json_object(json, key, VS_J_TEXT("text", text));
}

static void put_physical(struct vs_json *json, const char *path, unsigned line)
{
    char uri[URI_MAX];
    vs_json_begin_object(json, "physicalLocation");
    vs_json_object(json, "artifactLocation", VS_J_TEXT("uri", uri_of(path, uri)),
                   VS_J_TEXT_IF(*path != '/', "uriBaseId", "SRCROOT"));
    if (line)
        vs_json_object(json, "region", VS_J_UINT("startLine", line));
    vs_json_end_object(json);
}

static void put_result(struct vs_json *json, const struct vs_check_result *result,
                       const struct vs_budget_verdict *verdict, const struct vs_budget_row *row)
{
    char text[VS_CHECK_LINE_MAX], more[VS_CHECK_LINE_MAX], whole[2 * VS_CHECK_LINE_MAX + 8], print[17];
    const struct vs_culprit *place = vs_check_place(result, row);
    vs_check_sentence(text, row);
    vs_check_reason(more, result, row);
    snprintf(whole, sizeof whole, "%s%s%s", text, *more ? "; " : "", more);
    vs_json_begin(json, NULL, VS_J_TEXT("ruleId", vs_check_rule(text, row)),
                  VS_J_TEXT("level", "error"));
    put_message(json, "message", whole);
    vs_json_begin_array(json, "locations");
    vs_json_begin_object(json, NULL);
    put_physical(json, place ? vs_check_path(result, place->file) : vs_check_trace(row),
                 place ? place->line : 0);
    vs_json_end_object(json);
    vs_json_end_array(json);
    unsigned id = 0;
    for (size_t i = 0; vs_json_next(json, "relatedLocations", i, row->culprit_count); i++) {
        const struct vs_culprit *culprit = &row->culprits[i];
        if (!culprit->file || !culprit->line)
            continue;
        vs_json_begin(json, NULL, VS_J_UINT("id", ++id));
        put_physical(json, vs_check_path(result, culprit->file), culprit->line);
        put_message(json, "message", vs_check_culprit(text, result, row, culprit));
        vs_json_end_object(json);
    }
    vs_check_fingerprint(print, verdict, row);
    vs_json_object(json, "partialFingerprints", VS_J_TEXT("vramscopeLimit/v1", print));
    vs_json_end_object(json);
}

void vs_check_sarif(const struct vs_check_result *result, FILE *out)
{
    struct vs_json json = {.out = out, .pretty = true};
    vs_json_begin(&json, NULL, VS_J_TEXT("$schema", SCHEMA), VS_J_TEXT("version", "2.1.0"));
    vs_json_begin_array(&json, "runs");
    vs_json_begin_object(&json, NULL);
    vs_json_begin_object(&json, "tool");
    vs_json_begin(&json, "driver", VS_J_TEXT("name", "vramscope check"),
                  VS_J_TEXT("version", result->version));
    for (size_t i = 0; vs_json_next_object(&json, "rules", i, sizeof rules / sizeof *rules); i++) {
        vs_json_string(&json, "id", rules[i].id);
        put_message(&json, "shortDescription", rules[i].text);
    }
    vs_json_end_object(&json);
    vs_json_end_object(&json);
    vs_json_begin_array(&json, "invocations");
    vs_json_begin(&json, NULL, VS_J_BOOL("executionSuccessful", result->problem_count == 0));
    for (size_t i = 0; vs_json_next_object(&json, "toolExecutionNotifications", i, result->problem_count); i++) {
        vs_json_string(&json, "level", "error");
        put_message(&json, "message", result->problems[i].text);
    }
    vs_json_end_object(&json);
    vs_json_end_array(&json);
    for (size_t i = 0; vs_json_next(&json, "results", i, result->count); i++)
        for (size_t k = 0; k < result->items[i].count; k++)
            if (result->items[i].rows[k].exceeded && !result->items[i].rows[k].follows)
                put_result(&json, result, &result->items[i], &result->items[i].rows[k]);
    vs_json_string(&json, "columnKind", "utf16CodeUnits");
    vs_json_end_object(&json);
    vs_json_end_array(&json);
    vs_json_end_object(&json);
}
