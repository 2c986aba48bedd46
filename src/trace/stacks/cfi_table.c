/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the .eh_frame entry for a pc: the object that contains it, and the search table of that
 * object (.eh_frame_hdr, Linux Standard Base, "Exception Frames"). */
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "trace/stacks/cfi.h"

#if defined(__x86_64__)

/* Pointer encodings of the table. */
#define ENC_UDATA4 0x03u
#define ENC_TABLE 0x3bu /* sdata4, relative to the header */

/* Finds the rule of *target* in the search table at *header*. */
static struct vs_frame_rule rule_of(const uint8_t *header, uint64_t bytes, uint64_t target)
{
    struct vs_frame_rule other = {.kind = VS_FRAME_OTHER}, none = {.kind = VS_FRAME_NONE};
    struct entry {
        int32_t start, at; /* relative to the header */
    } e;
    uint32_t count;
    if (bytes < 12 || header[0] != 1 || (header[1] & 7u) != ENC_UDATA4 || header[2] != ENC_UDATA4 ||
        header[3] != ENC_TABLE)
        return other;
    memcpy(&count, header + 8, sizeof count);
    if (count > (bytes - 12) / sizeof e)
        return other;
    int64_t wanted = (int64_t)(target - (uint64_t)(uintptr_t)header);
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        memcpy(&e, header + 12 + middle * sizeof e, sizeof e);
        if (e.start <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return none;
    memcpy(&e, header + 12 + (low - 1) * sizeof e, sizeof e);
    return vs_cfi_entry(header + e.at, target);
}

/* Finds the rule of the return address *pc*. It looks up the call before *pc*, which may be the
 * function's last instruction. The outermost function has no caller: contexts are created to
 * "return" to its first instruction, so *pc* itself is tried too. */
static struct vs_frame_rule search(const uint8_t *header, uint64_t bytes, uint64_t pc)
{
    struct vs_frame_rule rule = rule_of(header, bytes, pc - 1);
    if (rule.kind == VS_FRAME_NONE) {
        struct vs_frame_rule first = rule_of(header, bytes, pc);
        if (first.kind == VS_FRAME_END)
            return first;
    }
    return rule;
}

/* Returns whether a call instruction ends at *pc*. *low*: lowest readable address. Where none does
 * and there is no other information about the caller, the stack began there: contexts (makecontext)
 * and coroutines are created to "return" to code that made no call. */
static bool follows_call(uint64_t pc, uint64_t low)
{
    const uint8_t *p = (const uint8_t *)(uintptr_t)pc;
    if (pc - low < 7)
        return true; /* cannot be decided: assume so */
    if (p[-5] == 0xe8)
        return true;
    for (int length = 2; length <= 7; length++) { /* ff /2, in all its address forms */
        if (p[-length] == 0xff && (p[1 - length] & 0x38) == 0x10)
            return true;
    }
    return false;
}

struct query {
    uint64_t pc;
    void (*found)(uint64_t pc, const struct vs_frame_rule *rule);
};

static int look_in_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct query *q = arg;
    const ElfW(Phdr) *table = NULL;
    uint64_t target = q->pc - 1;
    uint64_t low = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type == PT_GNU_EH_FRAME)
            table = ph;
        else if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) && target >= start &&
                 target - start < ph->p_filesz)
            low = ph->p_flags & PF_R ? start : q->pc;
    }
    if (!low)
        return 0;
    struct vs_frame_rule rule = {.kind = VS_FRAME_OTHER}; /* without a table: left to libunwind */
    if (table)
        rule = search((const uint8_t *)(uintptr_t)(info->dlpi_addr + table->p_vaddr),
                      table->p_memsz, q->pc);
    if (rule.kind == VS_FRAME_NONE && !follows_call(q->pc, low))
        rule.kind = VS_FRAME_END;
    q->found(q->pc, &rule);
    return 1;
}

void vs_cfi_find(uint64_t pc, void (*found)(uint64_t pc, const struct vs_frame_rule *rule))
{
    struct query query = {pc, found};
    uint64_t bytes;
    if (dl_iterate_phdr(look_in_object, &query))
        return;
    const uint8_t *table = vs_loaded_object_frames(pc - 1, &bytes); /* of another namespace */
    struct vs_frame_rule rule = {.kind = VS_FRAME_NONE};
    if (table)
        rule = search(table, bytes, pc);
    found(pc, &rule);
}

#else /* other machines: libunwind only */

void vs_cfi_find(uint64_t pc, void (*found)(uint64_t pc, const struct vs_frame_rule *rule))
{
    (void)pc, (void)found;
}

#endif
