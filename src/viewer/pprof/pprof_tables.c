/* SPDX-License-Identifier: Apache-2.0
 *
 * A location is one frame of the recorded stack with the functions that were inlined
 * there. Its functions are numbered by their first frame, so that each is written once. */
#include "viewer/pprof/pprof_tables.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/reading/vs_vec.h"
#include "base/vs_text.h"

/* Fields of profile.proto. */
enum { PROFILE_MAPPING = 3, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5, PROFILE_STRING = 6 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };
enum {
    MAPPING_ID = 1, MAPPING_START = 2, MAPPING_LIMIT = 3, MAPPING_OFFSET = 4, MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILES = 8, MAPPING_HAS_LINES = 9,
    MAPPING_HAS_INLINES = 10
};

void vs_pprof_string(struct vs_pprof_tables *tables, const char *text, uint64_t *out)
{
    uint64_t key = vs_text_hash(VS_TEXT_HASH_START, text);
    key += key == 0;
    const uint64_t *found;
    *out = 0;
    if (!*text)
        return;
    for (; (found = vs_map_get(&tables->by_string, key)) != NULL; key = key + 1 ? key + 1 : 1) {
        if (strcmp(tables->strings[*found - 1], text) != 0)
            continue;
        *out = *found;
        return;
    }
    vs_vec_room(&tables->strings, &tables->string_capacity,
                tables->string_count + 1, sizeof *tables->strings);
    vs_xmap_put(&tables->by_string, key, tables->string_count + 1);
    tables->strings[tables->string_count++] = vs_xarena_text(&tables->memory, text);
    *out = tables->string_count;
}

void vs_pprof_mapping(struct vs_pprof_tables *tables, uint32_t object, uint64_t *out)
{
    const uint64_t *found = vs_map_get(&tables->by_object, (uint64_t)object + 1);
    *out = 0;
    if (object == VS_NO_MODULE || !vs_reader_module(tables->reader, object))
        return;
    if (found) {
        *out = *found;
        return;
    }
    vs_vec_room(&tables->objects, &tables->object_capacity,
                tables->object_count + 1, sizeof *tables->objects);
    vs_xmap_put(&tables->by_object, (uint64_t)object + 1, tables->object_count + 1);
    tables->objects[tables->object_count++] = object;
    *out = tables->object_count;
}

/* The location of the *count* frames at *frames*, of which all but the first are inlined. The last
 * one and the count identify it: a frame's number stands for its place in the program. */
static void location_of(struct vs_pprof_tables *tables, const uint32_t *frames,
                        uint32_t count, uint64_t *out)
{
    uint64_t key = ((uint64_t)frames[count - 1] << 16 | count) + 1;
    const uint64_t *found = vs_map_get(&tables->by_location, key);
    if (found) {
        *out = *found;
        return;
    }
    const struct vs_named_frame *frame = vs_stack_names_frame(tables->names, frames[0]);
    struct vs_pprof_location location = {(uint32_t)tables->frame_count, count, 0, frame->pc};
    vs_pprof_mapping(tables, frame->object, &location.mapping);
    vs_vec_room(&tables->frames, &tables->frame_capacity, tables->frame_count + count,
                sizeof *tables->frames);
    vs_vec_room(&tables->locations, &tables->location_capacity,
                tables->location_count + 1, sizeof *tables->locations);
    vs_xmap_put(&tables->by_location, key, tables->location_count + 1);
    memcpy(tables->frames + tables->frame_count, frames, count * sizeof *frames);
    tables->frame_count += count;
    tables->locations[tables->location_count++] = location;
    *out = tables->location_count;
}

void vs_pprof_stack(struct vs_pprof_tables *tables, const struct vs_named_stack *stack,
                    uint64_t *ids, size_t *count)
{
    size_t n = 0;
    for (size_t end = stack->count; end > 0;) {
        size_t first = end - 1;
        uint64_t pc = vs_stack_names_frame(tables->names, stack->frames[first])->pc;
        while (first > 0 && vs_stack_names_frame(tables->names, stack->frames[first])->inlined &&
               vs_stack_names_frame(tables->names, stack->frames[first - 1])->pc == pc)
            first--;
        location_of(tables, stack->frames + first, (uint32_t)(end - first), &ids[n++]);
        end = first;
    }
    *count = n;
}

/* The number of the function of *frame*, which is written when it is new. */
static void write_function(struct vs_pprof_tables *tables, struct vs_gzip *gzip,
                           struct vs_map *functions, const struct vs_named_frame *frame,
                           uint64_t *out)
{
    struct vs_proto message = {0};
    uint64_t name, file;
    vs_pprof_string(tables, frame->function, &name);
    vs_pprof_string(tables, frame->file ? frame->file : "", &file);
    uint64_t key = (name << 32 | file) + 1;
    const uint64_t *found = vs_map_get(functions, key);
    if (found) {
        *out = *found;
        return;
    }
    *out = functions->count + 1;
    vs_proto_uint(&message, FUNCTION_ID, *out);
    vs_proto_uint(&message, FUNCTION_NAME, name);
    if (!frame->python) /* equal names: pprof leaves out parameters; and from "<module>", everything */
        vs_proto_uint(&message, FUNCTION_SYSTEM_NAME, name);
    vs_proto_uint(&message, FUNCTION_FILE, file);
    vs_gzip_message(gzip, PROFILE_FUNCTION, &message);
    free(message.bytes);
    vs_xmap_put(functions, key, *out);
}

static enum vs_err write_locations(struct vs_pprof_tables *tables, struct vs_gzip *gzip,
                                   struct vs_proto *message, struct vs_map *functions)
{
    struct vs_proto line = {0};
    enum vs_err err = VS_OK;
    for (size_t i = 0; !err && i < tables->location_count; i++) {
        const struct vs_pprof_location *location = &tables->locations[i];
        vs_proto_uint(message, LOCATION_ID, i + 1);
        vs_proto_uint(message, LOCATION_MAPPING, location->mapping);
        vs_proto_uint(message, LOCATION_ADDRESS, location->address);
        for (uint32_t k = location->count; !err && k > 0; k--) { /* the innermost first */
            const struct vs_named_frame *frame =
                vs_stack_names_frame(tables->names, tables->frames[location->first + k - 1]);
            uint64_t function;
            write_function(tables, gzip, functions, frame, &function);
            if (err)
                break;
            vs_proto_uint(&line, LINE_FUNCTION, function);
            vs_proto_uint(&line, LINE_LINE, frame->line);
            vs_proto_bytes(message, LOCATION_LINE, line.bytes, line.count);
            line.count = 0;
        }
        vs_gzip_message(gzip, PROFILE_LOCATION, message);
    }
    err = err ? err : line.err;
    free(line.bytes);
    return err;
}

enum vs_err vs_pprof_tables_write(struct vs_pprof_tables *tables, struct vs_gzip *gzip)
{
    struct vs_proto message = {0};
    struct vs_map functions = {0};
    for (size_t i = 0; i < tables->object_count; i++) {
        const struct vs_module *module = vs_reader_module(tables->reader, tables->objects[i]);
        uint64_t file, build_id;
        vs_pprof_string(tables, module->path, &file);
        vs_pprof_string(tables, module->build_id, &build_id);
        vs_proto_uint(&message, MAPPING_ID, i + 1);
        vs_proto_uint(&message, MAPPING_START, module->start);
        vs_proto_uint(&message, MAPPING_LIMIT, module->end);
        vs_proto_uint(&message, MAPPING_OFFSET, module->start - module->base);
        vs_proto_uint(&message, MAPPING_FILE, file);
        vs_proto_uint(&message, MAPPING_BUILD_ID, build_id);
        for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINES; field++)
            vs_proto_uint(&message, field,
                          1); /* names are complete: pprof need not look for files */
        vs_gzip_message(gzip, PROFILE_MAPPING, &message);
    }
    enum vs_err err = write_locations(tables, gzip, &message, &functions);
    vs_gzip_text(gzip, PROFILE_STRING, "");
    for (size_t i = 0; !err && i < tables->string_count; i++)
        vs_gzip_text(gzip, PROFILE_STRING, tables->strings[i]);
    free(message.bytes);
    vs_map_free(&functions);
    return err;
}

void vs_pprof_tables_free(struct vs_pprof_tables *tables)
{
    free(tables->strings);
    free(tables->locations);
    free(tables->frames);
    free(tables->objects);
    vs_map_free(&tables->by_string);
    vs_map_free(&tables->by_location);
    vs_map_free(&tables->by_object);
    vs_arena_free_all(&tables->memory);
}
