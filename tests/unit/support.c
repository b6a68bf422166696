/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <criterion/criterion.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Bytes -------------------------------------------------------------------------------------------- */

void put_fill(bytes *b, uint8_t value, size_t count)
{
    cr_assert_leq(count, sizeof b->data - b->size, "the test needs more bytes than it has");
    memset(b->data + b->size, value, count);
    b->size += count;
}

void put_raw(bytes *b, const void *data, size_t size)
{
    put_fill(b, 0, size);
    if (size > 0)
        memcpy(b->data + b->size - size, data, size);
}

static void put_number(bytes *b, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put_fill(b, (uint8_t)(value >> 8 * i), 1);
}

void put_u16(bytes *b, uint32_t value)
{
    put_number(b, value, 2);
}

void put_u32(bytes *b, uint32_t value)
{
    put_number(b, value, 4);
}

void put_u32s(bytes *b, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_u32(b, values[i]);
}

void put_u64(bytes *b, uint64_t value)
{
    put_number(b, value, 8);
}

void put_units(bytes *b, const char *ascii)
{
    for (size_t i = 0; ascii[i] != '\0'; i++)
        put_u16(b, (uint8_t)ascii[i]);
}

void put_text(bytes *b, const char *ascii)
{
    put_units(b, ascii);
    put_u16(b, 0);
}

void set_u32(bytes *b, size_t at, uint32_t value)
{
    size_t size = b->size;
    cr_assert(at <= size && size - at >= 4, "there is no field at %zu", at);
    b->size = at;
    put_u32(b, value);
    b->size = size;
}

uint8_t *exact_copy(const bytes *b)
{
    uint8_t *copy = malloc(b->size);
    cr_assert(copy || b->size == 0, "out of memory");
    if (b->size > 0)
        memcpy(copy, b->data, b->size);
    return copy;
}

/* ---- Verdicts ----------------------------------------------------------------------------------------- */

void expect_error(pfb_error error, pfb_code code, size_t offset, const char *what)
{
    cr_expect(error.code == code && error.offset == offset, "%s: %s at %zu instead of %s at %zu", what,
              pfb_code_name(error.code), error.offset, pfb_code_name(code), offset);
}

void expect_name(const uint8_t *utf16, size_t units, const char *ascii, const char *what)
{
    bool is_same = units == strlen(ascii);
    for (size_t i = 0; is_same && i < units; i++)
        is_same = utf16[2 * i] == (uint8_t)ascii[i] && utf16[2 * i + 1] == 0;
    cr_expect(is_same, "%s: the name is not \"%s\"", what, ascii);
}

/* ---- Guarded memory ------------------------------------------------------------------------------------ */

guarded guarded_make(size_t least_size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (least_size / page + 1) * page;
    uint8_t *all = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(all != MAP_FAILED, "no memory");
    cr_assert_eq(mprotect(all + page, size, PROT_READ | PROT_WRITE), 0);
    return (guarded){.begin = all + page, .end = all + page + size};
}

void guarded_free(guarded *memory)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(memory->begin - page, (size_t)(memory->end - memory->begin) + 2 * page);
}

/* ---- The seed corpus ----------------------------------------------------------------------------------- */

/* Visits one file; false for what is none, such as a folder. */
static bool visit_file(const char *path, const char *name, seed_visitor *visit)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + 1);
    FILE *file = fopen(path, "rb");
    cr_assert(data && file, "%s cannot be opened", path);
    cr_assert_eq(fread(data, 1, size, file), size, "%s cannot be read", path);
    fclose(file);
    visit(name, data, size);
    free(data);
    return true;
}

size_t visit_seeds(const char *subject, seed_visitor *visit)
{
    char path[4096];
    struct dirent **entries;
    size_t visited = 0;
    snprintf(path, sizeof path, "%s/corpus/%s/seeds", PERFBLOCK_SOURCE_DIR, subject);
    int count = scandir(path, &entries, NULL, alphasort);
    cr_assert_geq(count, 0, "%s cannot be listed", path);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/corpus/%s/seeds/%s", PERFBLOCK_SOURCE_DIR, subject, entries[i]->d_name);
        visited += visit_file(path, entries[i]->d_name, visit);
        free(entries[i]);
    }
    free(entries);
    return visited;
}
