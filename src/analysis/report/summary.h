/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of call sites at the present time of a replay, named, merged and truncated. */
#ifndef VS_SUMMARY_H
#define VS_SUMMARY_H

#include "analysis/naming/library.h"
#include "analysis/naming/name_text.h"
#include "analysis/report/report_site.h"
#include "base/vs_map.h"

enum vs_summary_kind {
    VS_SITES_LIVE,    /* live now */
    VS_SITES_LEFT,    /* live now, or lost with their context */
    VS_SITES_GROWING, /* only sites that grow */
    VS_SITES_FILLED,  /* only large sites that grew and are constant since */
};

/* vs_summary_wrappers: finds the program's wrappers from the sites that allocated most; _of: those of other
 * calls, from their *stacks*. Cost: looks up the symbols of at most VS_WRAPPER_STACKS stacks. */
#define VS_WRAPPER_STACKS 200
void vs_summary_wrappers(const struct vs_summary *summary, struct vs_wrappers *out);
void vs_summary_wrappers_of(const struct vs_summary *summary, const uint64_t *stacks, size_t stack_count,
                            struct vs_wrappers *out);

/* vs_summary_sites: the heaviest sites of *account* (a device index or
 * VS_HOST_INDEX) now, at the user's level (user_level.h). Cost: sorts the sites, looks up symbols of at
 * most four times sites_max stacks. */
void vs_summary_sites(const struct vs_summary *summary, unsigned account,
                      enum vs_summary_kind kind, struct vs_report_sites *out);

/* vs_summary_device_sites: likewise the device's own sites, those that hold a framework's blocks
 * included. */
void vs_summary_device_sites(const struct vs_summary *summary, unsigned account,
                             enum vs_summary_kind kind, struct vs_report_sites *out);

/* A call site's share of a list. */
struct vs_summary_row {
    uint64_t bytes, count;
    uint32_t site; /* index in the replay's sites */
};

/* vs_summary_rows: the heaviest of *rows*, which it sorts, as a list: those that read the same
 * folded, named, truncated. Sets only the items and their sums in *out*. */
void vs_summary_rows(const struct vs_summary *summary, struct vs_summary_row *rows,
                     size_t count, struct vs_report_sites *out);

/* vs_summary_frames: names one stack in *site*. *mark*: string id of the user's line that was marked
 * then ("at FILE:LINE"), 0: none. */
void vs_summary_frames(const struct vs_summary *summary, uint64_t stack, uint64_t mark,
                       struct vs_report_site *site);

/* vs_summary_part: adds *bytes* of *count* allocations by *stack* to the part of a call site that they
 * belong to, if any. */
void vs_summary_part(const struct vs_summary *summary, uint64_t stack, uint64_t bytes,
                     uint64_t count, struct vs_site_parts *parts);

/* vs_summary_sort_parts: the largest first. */
void vs_summary_sort_parts(struct vs_site_parts *parts);

/* vs_summary_same_text: whether both sites, named, have the same family and read the same. */
bool vs_summary_same_text(const struct vs_report_site *a, const struct vs_report_site *b);

/* A list of call sites while it is filled: those that read the same are one. Zero-initialise, with
 * room for all sites in *items*. */
struct vs_site_list {
    struct vs_report_site *items;
    size_t count;
    struct vs_map by_text; /* hash -> index + 1 */
};

/* vs_site_list_same: the site of *list* that reads as *site*; NULL: *site* is its last one now. */
struct vs_report_site *vs_site_list_same(struct vs_site_list *list,
                                         const struct vs_report_site *site);

/* vs_site_list_add: *count* pieces of memory of the device with *bytes* in all, by *stack*; of
 * stacks that read the same, *api* is that of the first. Adds to the sums of *out*. Returns the
 * site. */
struct vs_report_site *vs_site_list_add(const struct vs_summary *summary, struct vs_site_list *list,
                                        uint64_t stack, const char *api, uint64_t bytes,
                                        uint64_t count, struct vs_report_sites *out);

/* vs_summary_library: as vs_library_of_stack; *framework*: NULL: not asked. */
const char *vs_summary_library(const struct vs_summary *summary, uint64_t stack,
                               char name[VS_LIBRARY_NAME_MAX], bool *framework);

/* vs_site_list_end: the first sites_max of *list* become those of *out*, which counts the rest. */
void vs_site_list_end(const struct vs_summary *summary, struct vs_site_list *list,
                      struct vs_report_sites *out);

/* Of the trace, in the summary's arena: vs_summary_text: the string with number *id*;
 * vs_summary_name: likewise, the name of a function or kernel, demangled; _once: looked up once for each id, by
 * *names*, a map of the caller's; vs_summary_place: a place as text. */
const char *vs_summary_text(const struct vs_summary *summary, uint64_t id);
const char *vs_summary_name(const struct vs_summary *summary, uint64_t id);
const char *vs_summary_name_once(const struct vs_summary *summary, struct vs_map *names, uint64_t id);
const char *vs_summary_place(const struct vs_summary *summary, struct vs_place place);

#endif
