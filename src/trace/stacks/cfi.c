/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes an entry of .eh_frame and executes the instructions that lead to a pc; see the header.
 * cfi_table.c finds the entry. Rules: DWARF 4 section 6.4 and Linux Standard Base, "Exception
 * Frames". The sections are the program's own memory; only lengths are checked, and anything not
 * understood gives VS_FRAME_OTHER. */
#define _GNU_SOURCE
#include "trace/stacks/cfi.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

#define FP_REGISTER 6u
#define SP_REGISTER 7u
#define PC_REGISTER 16u
#define REMEMBERED_MAX 8

/* Pointer encodings. */
#define ENC_SDATA4 0x0bu
#define ENC_PCREL 0x10u

struct bytes {
    const uint8_t *p, *end;
    bool bad;
};

static uint64_t get_fixed(struct bytes *b, size_t n)
{
    uint64_t value = 0;
    if ((size_t)(b->end - b->p) < n) {
        b->bad = true;
        return 0;
    }
    memcpy(&value, b->p, n);
    b->p += n;
    return value;
}

static uint64_t get_uleb(struct bytes *b)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = get_fixed(b, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    b->bad = true;
    return 0;
}

static int64_t get_sleb(struct bytes *b)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 63;) {
        uint64_t byte = get_fixed(b, 1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if (byte & 0x40)
            value |= ~UINT64_C(0) << shift;
        return (int64_t)value;
    }
    b->bad = true;
    return 0;
}

static void skip(struct bytes *b, uint64_t n)
{
    if ((uint64_t)(b->end - b->p) < n)
        b->bad = true;
    else
        b->p += n;
}

static struct bytes get_block(struct bytes *b)
{
    uint64_t n = get_uleb(b);
    struct bytes block = {b->p, b->p, false};
    skip(b, n);
    if (!b->bad)
        block.end = b->p;
    return block;
}

/* A pointer in position-independent code: four signed bytes relative to their own address. */
static uint64_t get_pcrel(struct bytes *b)
{
    uint64_t at = (uint64_t)(uintptr_t)b->p;
    return at + (uint64_t)(int64_t)(int32_t)get_fixed(b, 4);
}

/* Size of an encoded pointer that is skipped. */
static uint64_t encoded_bytes(unsigned encoding)
{
    switch (encoding & 7u) {
    case 0: /* the machine's word size */
    case 4:
        return 8;
    case 2:
        return 2;
    case 3:
        return 4;
    default: /* LEB128 and omitted: not used for personalities */
        return UINT64_MAX;
    }
}

/* --- the state of the instructions --- */

enum how { HOW_SAME, HOW_AT_CFA, HOW_AT_FP, HOW_UNDEFINED, HOW_ELSEWHERE };

struct cfi_place {
    enum how how;
    int64_t offset;
};

struct cfi_row {
    enum vs_frame_kind kind;
    int64_t cfa_offset;
    struct cfi_place fp, pc;
};

struct program {
    struct cfi_row row, initial, remembered[REMEMBERED_MAX];
    unsigned depth;
    uint64_t code_alignment, location, target;
    int64_t data_alignment;
    bool signal, bad;
};

static void put_place(struct program *p, uint64_t reg, enum how how, int64_t offset)
{
    if (reg == FP_REGISTER || reg == PC_REGISTER)
        *(reg == FP_REGISTER ? &p->row.fp : &p->row.pc) = (struct cfi_place){how, offset};
    else if (reg == SP_REGISTER && !p->signal)
        p->bad = true; /* elsewhere the caller's sp is always the CFA */
}

static void restore_place(struct program *p, uint64_t reg)
{
    if (reg == FP_REGISTER)
        p->row.fp = p->initial.fp;
    else if (reg == PC_REGISTER)
        p->row.pc = p->initial.pc;
}

static void put_cfa_register(struct program *p, uint64_t reg)
{
    p->row.kind = reg == SP_REGISTER ? VS_FRAME_SP : reg == FP_REGISTER ? VS_FRAME_FP
                                                                        : VS_FRAME_OTHER;
}

/* breg, offset: with fp, the only address that compilers compute in an expression. */
static bool plus(struct bytes *block, uint64_t reg, int64_t *offset)
{
    if (get_fixed(block, 1) != 0x70 + reg)
        return false;
    *offset = get_sleb(block);
    return !block->bad;
}

static void put_cfa_expression(struct program *p, struct bytes block)
{
    int64_t offset;
    bool load = plus(&block, p->signal ? SP_REGISTER : FP_REGISTER, &offset) &&
                get_fixed(&block, 1) == 0x06 /* deref */ && !block.bad && block.p == block.end;
    p->row.kind = load ? VS_FRAME_FP_LOAD : VS_FRAME_OTHER;
    if (p->signal)
        p->row.kind = load && offset == VS_SIGNAL_SP ? VS_FRAME_SIGNAL : VS_FRAME_OTHER;
    p->row.cfa_offset = load ? offset : 0;
}

static void put_expression(struct program *p, uint64_t reg, struct bytes block)
{
    int64_t offset = 0;
    bool plain = plus(&block, FP_REGISTER, &offset) && block.p == block.end;
    put_place(p, reg, plain ? HOW_AT_FP : HOW_ELSEWHERE, offset);
}

/* An instruction with an extended opcode. */
static void step_extended(struct program *p, struct bytes *b, unsigned op)
{
    uint64_t reg;
    switch (op) {
    case 0x00: /* nop */
        break;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        p->location += get_fixed(b, (size_t)1 << (op - 2)) * p->code_alignment;
        break;
    case 0x05: /* offset_extended */
        reg = get_uleb(b);
        put_place(p, reg, HOW_AT_CFA, (int64_t)get_uleb(b) * p->data_alignment);
        break;
    case 0x06: /* restore_extended */
        restore_place(p, get_uleb(b));
        break;
    case 0x07: /* undefined */
        put_place(p, get_uleb(b), HOW_UNDEFINED, 0);
        break;
    case 0x08: /* same_value */
        put_place(p, get_uleb(b), HOW_SAME, 0);
        break;
    case 0x09: /* register */
        put_place(p, get_uleb(b), HOW_ELSEWHERE, 0);
        get_uleb(b);
        break;
    case 0x0a: /* remember_state */
        p->bad |= p->depth == REMEMBERED_MAX;
        if (!p->bad)
            p->remembered[p->depth++] = p->row;
        break;
    case 0x0b: /* restore_state */
        p->bad |= !p->depth;
        if (!p->bad)
            p->row = p->remembered[--p->depth];
        break;
    case 0x0c: /* def_cfa */
        put_cfa_register(p, get_uleb(b));
        p->row.cfa_offset = (int64_t)get_uleb(b);
        break;
    case 0x0d: /* def_cfa_register */
        put_cfa_register(p, get_uleb(b));
        break;
    case 0x0e: /* def_cfa_offset */
        p->row.cfa_offset = (int64_t)get_uleb(b);
        break;
    case 0x0f: /* def_cfa_expression */
        put_cfa_expression(p, get_block(b));
        break;
    case 0x12: /* def_cfa_sf */
        put_cfa_register(p, get_uleb(b));
        __attribute__((fallthrough));
    case 0x13: /* def_cfa_offset_sf */
        p->row.cfa_offset = get_sleb(b) * p->data_alignment;
        break;
    case 0x10: /* expression */
        reg = get_uleb(b);
        put_expression(p, reg, get_block(b));
        break;
    case 0x11: /* offset_extended_sf */
        reg = get_uleb(b);
        put_place(p, reg, HOW_AT_CFA, get_sleb(b) * p->data_alignment);
        break;
    case 0x14: /* val_offset, val_offset_sf */
    case 0x15:
        put_place(p, get_uleb(b), HOW_ELSEWHERE, 0);
        get_uleb(b);
        break;
    case 0x16: /* val_expression */
        put_place(p, get_uleb(b), HOW_ELSEWHERE, 0);
        get_block(b);
        break;
    case 0x2e: /* GNU_args_size: for landing pads */
        get_uleb(b);
        break;
    default: /* set_loc and instructions that no compiler emits */
        p->bad = true;
    }
}

/* Executes *b* up to the target. */
static void run(struct program *p, struct bytes b)
{
    while (b.p < b.end && !b.bad && !p->bad && p->location <= p->target) {
        unsigned op = (unsigned)get_fixed(&b, 1), low = op & 0x3f;
        switch (op >> 6) {
        case 1: /* advance_loc */
            p->location += low * p->code_alignment;
            break;
        case 2: /* offset */
            put_place(p, low, HOW_AT_CFA, (int64_t)get_uleb(&b) * p->data_alignment);
            break;
        case 3: /* restore */
            restore_place(p, low);
            break;
        default:
            step_extended(p, &b, low);
        }
    }
    p->bad |= b.bad;
}

/* --- entries --- */

/* The bytes of the entry at *p*, without its length; empty when not understood. */
static struct bytes entry_at(const uint8_t *p)
{
    uint32_t length;
    memcpy(&length, p, sizeof length);
    p += sizeof length;
    if (length >= UINT32_C(0xfffffff0)) /* 64-bit entries: not emitted on this machine */
        length = 0;
    return (struct bytes){p, p + length, false};
}

/* Reads a common information entry; false for one of an unusual kind. */
static bool read_common(const uint8_t *at, struct program *p, struct bytes *instructions)
{
    struct bytes b = entry_at(at);
    if (get_fixed(&b, 4) != 0)
        return false;
    unsigned version = (unsigned)get_fixed(&b, 1);
    const char *letters = (const char *)b.p;
    size_t n = strnlen(letters, (size_t)(b.end - b.p));
    skip(&b, n + 1);
    p->code_alignment = get_uleb(&b);
    p->data_alignment = get_sleb(&b);
    uint64_t pc_register = version == 1 ? get_fixed(&b, 1) : get_uleb(&b);
    if (b.bad || (version != 1 && version != 3) || pc_register != PC_REGISTER || letters[0] != 'z')
        return false;
    struct bytes data = get_block(&b);
    bool relative = false;
    for (const char *l = letters + 1; *l; l++) {
        unsigned encoding = *l == 'R' || *l == 'L' || *l == 'P' ? (unsigned)get_fixed(&data, 1) : 0;
        if (*l == 'R')
            relative = encoding == (ENC_PCREL | ENC_SDATA4);
        else if (*l == 'P')
            skip(&data, encoded_bytes(encoding));
        else if (*l == 'S')
            p->signal = true;
        else if (*l != 'L')
            return false;
    }
    *instructions = b;
    return relative && !data.bad && !b.bad;
}

static bool fits(int64_t offset)
{
    return offset >= INT32_MIN / 2 && offset <= INT32_MAX / 2;
}

static struct vs_frame_rule rule_of(const struct cfi_row *row)
{
    struct vs_frame_rule rule = {.kind = VS_FRAME_OTHER};
    if (row->pc.how == HOW_UNDEFINED)
        return (struct vs_frame_rule){.kind = VS_FRAME_END};
    if (row->kind == VS_FRAME_SIGNAL) /* the kernel lays it out */
        return (struct vs_frame_rule){.kind = VS_FRAME_SIGNAL};
    if (row->pc.how != HOW_AT_CFA || row->pc.offset != -8 || !fits(row->cfa_offset) ||
        !fits(row->fp.offset) || row->fp.how == HOW_ELSEWHERE)
        return rule;
    rule.kind = (uint8_t)row->kind;
    rule.cfa_offset = (int32_t)row->cfa_offset;
    rule.fp_offset = (int32_t)row->fp.offset;
    /* undefined: the caller does not use it either */
    rule.saved_fp = row->fp.how == HOW_AT_CFA  ? VS_FP_AT_CFA
                    : row->fp.how == HOW_AT_FP ? VS_FP_AT_FP
                                               : VS_FP_KEPT;
    return rule;
}

struct vs_frame_rule vs_cfi_entry(const uint8_t *at, uint64_t target)
{
    struct vs_frame_rule other = {.kind = VS_FRAME_OTHER};
    struct program p = {.target = target, .row = {.pc = {HOW_ELSEWHERE, 0}}};
    struct bytes b = entry_at(at), instructions;
    const uint8_t *here = b.p;
    uint64_t back = get_fixed(&b, 4);
    if (b.bad || !back || !read_common(here - back, &p, &instructions))
        return other;
    uint64_t start = get_pcrel(&b), length = get_fixed(&b, 4);
    get_block(&b); /* for exceptions */
    if (b.bad)
        return other;
    if (target < start || target - start >= length)
        return (struct vs_frame_rule){.kind = VS_FRAME_NONE};
    p.location = start;
    run(&p, instructions);
    p.initial = p.row;
    run(&p, b);
    return p.bad ? other : rule_of(&p.row);
}

#endif
