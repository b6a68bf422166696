/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <criterion/criterion.h>

#include "perfblock/name.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

/* ---- Bytes -------------------------------------------------------------------------------------------- */

void put_fill(bytes *b, uint8_t value, size_t count)
{
    cr_assert_leq(count, sizeof b->data - b->size, "the buffer of the test is too small");
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
    cr_assert(at <= size && size - at >= 4, "the buffer has fewer than 4 bytes at offset %zu", at);
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

/* ---- Expectations ------------------------------------------------------------------------------------- */

void expect_error(pfb_error error, pfb_code code, size_t offset, const char *what)
{
    cr_expect(error.code == code && error.offset == offset, "%s: %s at %zu instead of %s at %zu", what,
              pfb_code_name(error.code), error.offset, pfb_code_name(code), offset);
}

void expect_name(const pfb_name *name, const char *ascii, const char *what)
{
    bool is_same = name->encoding == PFB_ENCODING_UTF16LE && name->bytes && name->size_bytes == 2 * strlen(ascii);
    for (size_t i = 0; is_same && i < strlen(ascii); i++)
        is_same = name->bytes[2 * i] == (uint8_t)ascii[i] && name->bytes[2 * i + 1] == 0;
    cr_expect(is_same, "%s: the name is not \"%s\"", what, ascii);
}

bool has_text(const pfb_name *name, const char *utf8)
{
    char text[256];
    return name->bytes && pfb_name_to_utf8(name, text, sizeof text) < sizeof text && strcmp(text, utf8) == 0;
}

bool is_utf8(const char *text)
{
    uint8_t units[2 * 1024];
    size_t count = pfb_name_to_utf16(UTF8_NAME(text, strlen(text)), units, sizeof units / 2);
    cr_assert_leq(count, sizeof units / 2);
    for (size_t i = 0; i < count; i++) {
        if (units[2 * i] == 0xFD && units[2 * i + 1] == 0xFF) /* U+FFFD: the text has it or is invalid */
            return false;
    }
    return true;
}

void fill_text(char *out, size_t capacity)
{
    size_t length = (capacity - 1) / 2 * 2;
    for (size_t i = 0; i < length; i += 2)
        memcpy(out + i, "\xD0\x96", 2);
    out[length] = '\0';
}

/* ---- Random numbers ------------------------------------------------------------------------------------ */

/* SplitMix64 (Steele, Lea and Flood, 2014). */
uint64_t random_u64(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = *state;
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(random_u64(state) % limit);
}

uint64_t random_number(uint64_t *state, unsigned max_bits)
{
    unsigned bits = 1 + random_below(state, max_bits);
    return random_u64(state) >> (64 - bits);
}

/* ---- Guarded memory ------------------------------------------------------------------------------------ */

#ifdef _WIN32

static size_t page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

static uint8_t *reserve(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE, PAGE_NOACCESS);
}

static bool make_accessible(uint8_t *memory, size_t size)
{
    return VirtualAlloc(memory, size, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

static void release(uint8_t *memory, size_t size)
{
    (void)size; /* VirtualFree releases the whole reservation */
    VirtualFree(memory, 0, MEM_RELEASE);
}

#else

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static uint8_t *reserve(size_t size)
{
    void *memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static bool make_accessible(uint8_t *memory, size_t size)
{
    return mprotect(memory, size, PROT_READ | PROT_WRITE) == 0;
}

static void release(uint8_t *memory, size_t size)
{
    munmap(memory, size);
}

#endif

guarded guarded_make(size_t min_size)
{
    size_t page = page_size();
    size_t size = (min_size / page + 1) * page;
    uint8_t *all = reserve(size + 2 * page);
    cr_assert(all && make_accessible(all + page, size), "out of memory");
    return (guarded){.begin = all + page, .end = all + page + size};
}

void guarded_free(guarded *memory)
{
    size_t page = page_size();
    release(memory->begin - page, (size_t)(memory->end - memory->begin) + 2 * page);
}

/* ---- The seed corpus ----------------------------------------------------------------------------------- */

/* Visits one file. Returns false if it is not a regular file. */
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

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

size_t visit_seeds(const char *subject, seed_visitor *visit)
{
    enum { MAX_NAMES = 4096 };
    char path[4096];
    char(*names)[256] = malloc(MAX_NAMES * sizeof *names);
    size_t count = 0;
    size_t visited = 0;
    snprintf(path, sizeof path, "%s/corpus/%s/seeds", PERFBLOCK_SOURCE_DIR, subject);
    DIR *folder = opendir(path);
    cr_assert(folder && names, "%s cannot be listed", path);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder), count++) {
        cr_assert(count < MAX_NAMES && strlen(entry->d_name) < sizeof *names,
                  "%s has too many names, or one is too long", path);
        strcpy(names[count], entry->d_name);
    }
    closedir(folder);
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/corpus/%s/seeds/%s", PERFBLOCK_SOURCE_DIR, subject, names[i]);
        visited += visit_file(path, names[i], visit);
    }
    free(names);
    return visited;
}
