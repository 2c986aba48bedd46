/* SPDX-License-Identifier: Apache-2.0
 *
 * A location is one frame of the recorded stack with the functions that were inlined
 * there. Its functions are numbered by their first frame, so that each is written once. */
#include "viewer/pprof/pprof_tables.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/reading/vs_vec.h"

/* Fields of profile.proto. */
enum { PROFILE_MAPPING = 3, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5, PROFILE_STRING = 6 };
enum { LOCATION_LINE = 4 };

uint64_t vs_pprof_string(struct vs_pprof_tables *tables, const char *text)
{
    return *text ? vs_intern_text(&tables->strings, text) + UINT64_C(1) : 0;
}

uint64_t vs_pprof_mapping(struct vs_pprof_tables *tables, uint32_t object)
{
    if (object == VS_NO_MODULE || !vs_reader_module(tables->reader, object))
        return 0;
    return vs_intern(&tables->objects, &object, sizeof object) + UINT64_C(1);
}

/* The location of the *count* frames at *frames*, of which all but the first are inlined. The last
 * one and the count identify it: a frame's number stands for its place in the program. */
static uint64_t location_of(struct vs_pprof_tables *tables, const uint32_t *frames, uint32_t count)
{
    uint64_t key = ((uint64_t)frames[count - 1] << 16 | count) + 1;
    const uint64_t *found = vs_map_get(&tables->by_location, key);
    if (found)
        return *found;
    const struct vs_named_frame *frame = vs_stack_names_frame(tables->names, frames[0]);
    vs_vec_room(&tables->frames, &tables->frame_capacity, tables->frame_count + count,
                sizeof *tables->frames);
    memcpy(tables->frames + tables->frame_count, frames, count * sizeof *frames);
    VS_VEC_ADD(tables->locations, tables->location_count, tables->location_capacity,
               (struct vs_pprof_location){(uint32_t)tables->frame_count, count,
                                          vs_pprof_mapping(tables, frame->object), frame->pc});
    tables->frame_count += count;
    vs_xmap_put(&tables->by_location, key, tables->location_count);
    return tables->location_count;
}

size_t vs_pprof_stack(struct vs_pprof_tables *tables, const struct vs_named_stack *stack,
                      uint64_t *ids)
{
    size_t count = 0;
    for (size_t end = stack->count; end > 0;) {
        size_t first = end - 1;
        uint64_t pc = vs_stack_names_frame(tables->names, stack->frames[first])->pc;
        while (first > 0 && vs_stack_names_frame(tables->names, stack->frames[first])->inlined &&
               vs_stack_names_frame(tables->names, stack->frames[first - 1])->pc == pc)
            first--;
        ids[count++] = location_of(tables, stack->frames + first, (uint32_t)(end - first));
        end = first;
    }
    return count;
}

/* The number of the function of *frame*, which is written when it is new. */
static uint64_t write_function(struct vs_pprof_tables *tables, FILE *out,
                               struct vs_intern *functions, const struct vs_named_frame *frame)
{
    struct vs_proto message = {0};
    uint64_t name = vs_pprof_string(tables, frame->function);
    const uint64_t key[] = {name, vs_pprof_string(tables, frame->file ? frame->file : "")};
    size_t known = functions->count;
    uint64_t number = vs_intern(functions, key, sizeof key) + UINT64_C(1);
    if (number <= known)
        return number;
    /* Name and system's name: of equal ones pprof leaves out parameters; and from "<module>", everything. */
    vs_proto_uints(&message, number, key[0], frame->python ? 0 : key[0], key[1]);
    vs_proto_write(out, PROFILE_FUNCTION, &message);
    free(message.bytes);
    return number;
}

void vs_pprof_tables_write(struct vs_pprof_tables *tables, FILE *out)
{
    struct vs_proto message = {0}, line = {0};
    struct vs_intern functions = {0};
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct vs_module *module =
            vs_reader_module(tables->reader, *(const uint32_t *)tables->objects.items[i]);
        uint64_t file = vs_pprof_string(tables, module->path);
        uint64_t build_id = vs_pprof_string(tables, module->build_id);
        /* It has functions, files, lines and inlined functions: pprof need not look for files. */
        vs_proto_uints(&message, i + 1, module->start, module->end, module->start - module->base, file,
                       build_id, 1, 1, 1, 1);
        vs_proto_write(out, PROFILE_MAPPING, &message);
    }
    for (size_t i = 0; i < tables->location_count; i++) {
        const struct vs_pprof_location *location = &tables->locations[i];
        vs_proto_uints(&message, i + 1, location->mapping, location->address);
        for (uint32_t k = location->count; k > 0; k--) { /* the innermost first */
            const struct vs_named_frame *frame =
                vs_stack_names_frame(tables->names, tables->frames[location->first + k - 1]);
            vs_proto_uints(&line, write_function(tables, out, &functions, frame), frame->line);
            vs_proto_bytes(&message, LOCATION_LINE, line.bytes, line.count);
            line.count = 0;
        }
        vs_proto_write(out, PROFILE_LOCATION, &message);
    }
    vs_proto_write_text(out, PROFILE_STRING, "");
    for (size_t i = 0; i < tables->strings.count; i++)
        vs_proto_write_text(out, PROFILE_STRING, tables->strings.items[i]);
    free(message.bytes);
    free(line.bytes);
    vs_intern_free(&functions);
}

void vs_pprof_tables_free(struct vs_pprof_tables *tables)
{
    vs_intern_free(&tables->strings);
    vs_intern_free(&tables->objects);
    free(tables->locations);
    free(tables->frames);
    vs_map_free(&tables->by_location);
}
