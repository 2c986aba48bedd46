/* SPDX-License-Identifier: Apache-2.0
 *
 * A column of a group of rows is one page: a bit for each row, whether it has a value, and the values one after
 * the other, compressed. Structures are in Thrift's compact protocol: a byte with the distance to the number of the
 * field before and the type, then the value, and a zero byte at the end; their numbers are those of
 * parquet-format's parquet.thrift. */
#include "viewer/sqlite/parquet_file.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/reading/vs_vec.h"

#define GROUP_ROWS 122880u /* as DuckDB's; a multiple of 8 */
#define GROUP_BYTES ((size_t)32 << 20)
#define LEVEL 3
#define MAGIC "PAR1"

enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };
enum { PLAIN = 0, RLE = 3, INT64 = 2, BYTE_ARRAY = 6, OPTIONAL = 1, UTF8 = 0, TIMESTAMP_MICROS = 10, ZSTD = 6 };

struct parquet_bytes {
    unsigned char *at;
    size_t count, capacity;
};

struct column {
    char *name;
    enum vs_parquet_type type;
    struct parquet_bytes values;
    unsigned char present[GROUP_ROWS / 8];
};

struct vs_parquet_file {
    FILE *out;
    uint64_t offset, rows; /* rows: of the groups that are written */
    struct column *columns;
    size_t column_count, column_capacity, group_rows, group_bytes, group_count;
    struct parquet_bytes page, packed, header, groups; /* groups: their descriptions */
};

static void put(struct parquet_bytes *b, const void *from, size_t count)
{
    vs_vec_room(&b->at, &b->capacity, b->count + count, 1);
    memcpy(b->at + b->count, from, count);
    b->count += count;
}

static void put_varint(struct parquet_bytes *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put(b, &(unsigned char){(unsigned char)(value | 0x80)}, 1);
    put(b, &(unsigned char){(unsigned char)value}, 1);
}

/* The begin of a field whose number is *step* more than that of the one before. */
static void put_field(struct parquet_bytes *b, unsigned step, unsigned type)
{
    put_varint(b, step << 4 | type); /* a byte */
}

static void put_number(struct parquet_bytes *b, unsigned step, unsigned type, uint64_t value)
{
    put_field(b, step, type);
    put_varint(b, value << 1); /* none is negative */
}

static void put_text(struct parquet_bytes *b, unsigned step, const char *text)
{
    if (step)
        put_field(b, step, T_BINARY);
    put_varint(b, strlen(text));
    put(b, text, strlen(text));
}

static void put_list(struct parquet_bytes *b, unsigned step, unsigned type, size_t count)
{
    put_field(b, step, T_LIST);
    put(b, &(unsigned char){(unsigned char)(0xf0 | type)}, 1);
    put_varint(b, count);
}

static void write_bytes(struct vs_parquet_file *file, const struct parquet_bytes *b)
{
    fwrite(b->at, 1, b->count, file->out);
    file->offset += b->count;
}

/* Writes the page of a column, and its description to file->groups. Returns its bytes before compression. */
static uint64_t write_column(struct vs_parquet_file *file, struct column *column)
{
    struct parquet_bytes *page = &file->page, *packed = &file->packed, *header = &file->header, *b = &file->groups;
    size_t present = (file->group_rows + 7) / 8;
    uint64_t offset = file->offset;
    page->count = header->count = 0;
    put_varint(header, present << 1 | 1); /* a run of single bits */
    put(page, &(uint32_t){(uint32_t)(header->count + present)}, 4);
    put(page, header->at, header->count);
    put(page, column->present, present);
    put(page, column->values.at ? column->values.at : page->at, column->values.count);
    vs_vec_room(&packed->at, &packed->capacity, ZSTD_compressBound(page->count), 1);
    packed->count = ZSTD_compress(packed->at, packed->capacity, page->at, page->count, LEVEL);
    if (ZSTD_isError(packed->count))
        vs_out_of_memory(); /* its only failure with enough room */
    header->count = 0;
    put_number(header, 1, T_I32, 0); /* a page of data */
    put_number(header, 1, T_I32, page->count);
    put_number(header, 1, T_I32, packed->count);
    put_field(header, 2, T_STRUCT);
    put_number(header, 1, T_I32, file->group_rows);
    put_number(header, 1, T_I32, PLAIN);
    put_number(header, 1, T_I32, RLE);
    put_number(header, 1, T_I32, RLE);
    put(header, "\0", 2); /* the ends of both structures */
    write_bytes(file, header);
    write_bytes(file, packed);
    put_number(b, 2, T_I64, offset);
    put_field(b, 1, T_STRUCT);
    put_number(b, 1, T_I32, column->type == VS_PARQUET_TEXT ? BYTE_ARRAY : INT64);
    put_list(b, 1, T_I32, 2);
    put(b, (unsigned char[]){PLAIN << 1, RLE << 1}, 2);
    put_list(b, 1, T_BINARY, 1);
    put_text(b, 0, column->name);
    put_number(b, 1, T_I32, ZSTD);
    put_number(b, 1, T_I64, file->group_rows);
    put_number(b, 1, T_I64, header->count + page->count);
    put_number(b, 1, T_I64, header->count + packed->count);
    put_number(b, 2, T_I64, offset);
    put(b, "\0", 2);
    memset(column->present, 0, sizeof column->present);
    column->values.count = 0;
    return header->count + page->count;
}

static void write_group(struct vs_parquet_file *file)
{
    uint64_t bytes = 0;
    put_list(&file->groups, 1, T_STRUCT, file->column_count);
    for (size_t i = 0; i < file->column_count; i++)
        bytes += write_column(file, &file->columns[i]);
    put_number(&file->groups, 1, T_I64, bytes);
    put_number(&file->groups, 1, T_I64, file->group_rows);
    put(&file->groups, "", 1);
    file->group_count++;
    file->rows += file->group_rows;
    file->group_rows = file->group_bytes = 0;
}

struct vs_parquet_file *vs_parquet_begin(FILE *out)
{
    struct vs_parquet_file *file = vs_xcalloc(1, sizeof *file);
    file->out = out;
    file->offset = fwrite(MAGIC, 1, 4, out);
    return file;
}

void vs_parquet_column(struct vs_parquet_file *file, const char *name, enum vs_parquet_type type)
{
    struct column *column = vs_vec_push(&file->columns, &file->column_count, &file->column_capacity, sizeof *column);
    column->name = vs_xstrdup(name);
    column->type = type;
}

void vs_parquet_row(struct vs_parquet_file *file, const struct vs_database_value *values)
{
    for (size_t i = 0; i < file->column_count; i++) {
        struct column *column = &file->columns[i];
        const char *text = column->type == VS_PARQUET_TEXT ? values[i].text : NULL;
        if (!text && (column->type == VS_PARQUET_TEXT || !values[i].known))
            continue;
        size_t length = text ? strlen(text) : 0, before = column->values.count;
        put(&column->values, text ? (const void *)&(uint32_t){(uint32_t)length} : &values[i].number, text ? 4 : 8);
        put(&column->values, text ? text : "", length);
        column->present[file->group_rows / 8] |= (unsigned char)(1 << file->group_rows % 8);
        file->group_bytes += column->values.count - before;
    }
    if (++file->group_rows == GROUP_ROWS || file->group_bytes > GROUP_BYTES)
        write_group(file);
}

void vs_parquet_end(struct vs_parquet_file *file)
{
    struct parquet_bytes *b = &file->header;
    if (file->group_rows)
        write_group(file);
    b->count = 0;
    put_number(b, 1, T_I32, 1); /* the version */
    put_list(b, 1, T_STRUCT, file->column_count + 1);
    put_text(b, 4, "schema"); /* the root */
    put_number(b, 1, T_I32, file->column_count);
    put(b, "", 1);
    for (size_t i = 0; i < file->column_count; i++) {
        const struct column *column = &file->columns[i];
        put_number(b, 1, T_I32, column->type == VS_PARQUET_TEXT ? BYTE_ARRAY : INT64);
        put_number(b, 2, T_I32, OPTIONAL);
        put_text(b, 1, column->name);
        if (column->type != VS_PARQUET_NUMBER)
            put_number(b, 2, T_I32, column->type == VS_PARQUET_TEXT ? UTF8 : TIMESTAMP_MICROS);
        put(b, "", 1);
    }
    put_number(b, 1, T_I64, file->rows);
    put_list(b, 1, T_STRUCT, file->group_count);
    put(b, file->groups.at ? file->groups.at : b->at, file->groups.count);
    put_text(b, 2, "vramscope version 1"); /* of the tables; readers take it apart */
    put(b, "", 1);
    put(b, &(uint32_t){(uint32_t)b->count}, 4);
    put(b, MAGIC, 4);
    write_bytes(file, b);
    for (size_t i = 0; i < file->column_count; i++) {
        free(file->columns[i].name);
        free(file->columns[i].values.at);
    }
    free(file->columns);
    free(file->page.at);
    free(file->packed.at);
    free(file->header.at);
    free(file->groups.at);
    free(file);
}
