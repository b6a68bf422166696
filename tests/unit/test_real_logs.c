/* SPDX-License-Identifier: MIT */
/* Changed perfmon logs of real machines. The values of the unchanged logs are compared in tests/cli/test_log_cook.py
 * and by tests/oracle/compare.py. */
#include <criterion/criterion.h>

#include "log_readers.h"
#include "pdh_text_readers.h"
#include "support.h"
#include "support_real.h"

#include <string.h>

/* The first buffer of a log and, to change another buffer, the beginning of that one. */
typedef struct excerpt {
    guarded memory;
    uint8_t *data;
    size_t size;
} excerpt;

enum { BUFFER = 65536, EXCERPT = 16384, SWEPT = 1024, TEXT = 4096 };

static excerpt make_excerpt(const real_file *f, size_t buffer)
{
    excerpt e = {.size = buffer == 0 ? BUFFER : BUFFER + EXCERPT};
    e.memory = guarded_make(e.size);
    e.data = e.memory.end - e.size;
    memcpy(e.data, f->data, BUFFER);
    if (buffer != 0)
        memcpy(e.data + BUFFER, f->data + buffer * BUFFER, EXCERPT);
    return e;
}

static void check_excerpt(const excerpt *e, size_t size, const char *change, size_t at)
{
    reading result = read_log(e->memory.end - size, size, NULL);
    cr_assert_null(result.broken, "%s at %zu: broken guarantee: %s", change, at, result.broken);
    cr_assert_leq(result.error.offset, size);
}

/* Flips bits and changes fields of the first SWEPT bytes of a buffer, and reads prefixes. Only every SWEEP_STEPth
 * change of the first two kinds is read. */
static void sweep_buffer(const char *name, size_t buffer)
{
    static const uint32_t values[] = {0,  1,  7,  8,  23,         24,         31,         32,         47,        48,
                                      51, 52, 71, 72, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFE, 0xFFFFFFFF};
    real_file f = read_real(name);
    cr_assert_geq(f.size, (buffer + 1) * BUFFER);
    excerpt e = make_excerpt(&f, buffer);
    uint8_t *swept = e.data + (buffer == 0 ? 0 : BUFFER);
    check_excerpt(&e, e.size, "no change", 0);
    for (size_t bit = 0; bit < 8 * SWEPT; bit += SWEEP_STEP) {
        swept[bit / 8] ^= (uint8_t)(1u << bit % 8);
        check_excerpt(&e, e.size, "a flipped bit", bit);
        swept[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t at = 0; at < SWEPT; at += 4 * SWEEP_STEP) {
        uint8_t old[4];
        memcpy(old, swept + at, 4);
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            for (unsigned k = 0; k < 4; k++)
                swept[at + k] = (uint8_t)(values[i] >> 8 * k);
            check_excerpt(&e, e.size, "a changed field", at);
        }
        memcpy(swept + at, old, 4);
    }
    /* Checks prefixes: each is moved to the end of the guarded memory. */
    for (size_t size = e.size; size > e.size - SWEPT; size--) {
        memmove(e.memory.end - (size - 1), e.memory.end - size, size - 1);
        check_excerpt(&e, size - 1, "a truncation", size - 1);
    }
    guarded_free(&e.memory);
    free(f.data);
}

/* Header, paths, names and a part of a sample, of 64-bit and of 32-bit Windows. */
Test(real_logs, changed_buffers_break_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    sweep_buffer("blg/win8-counters.blg", 0);
    sweep_buffer("blg/win8-counters.blg", 1);
    sweep_buffer("blg/many-machines.blg", 0);
    sweep_buffer("blg/many-machines.blg", 1);
    sweep_buffer("blg/vista-objects-cut.blg", 1);
    sweep_buffer("blg/vista-objects-cut.blg", 3);
}

/* Reads prefixes of the beginning of the text log, and flips its bits. */
Test(real_logs, changed_text_breaks_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    real_file f = read_real("blg/text-named-blg.blg");
    guarded memory = guarded_make(TEXT);
    cr_assert_geq(f.size, TEXT);
    for (size_t size = 0; size <= TEXT; size++) {
        memcpy(memory.end - size, f.data, size);
        reading result = read_pdh_text(memory.end - size, size, NULL);
        cr_assert(!result.broken && result.error.offset <= size, "%zu bytes: %s", size, result.broken);
    }
    for (size_t bit = 0; bit < 8 * TEXT; bit += SWEEP_STEP) {
        uint8_t *byte = memory.end - TEXT + bit / 8;
        *byte ^= (uint8_t)(1u << bit % 8);
        reading result = read_pdh_text(memory.end - TEXT, TEXT, NULL);
        cr_assert(!result.broken && result.error.offset <= TEXT, "bit %zu: %s", bit, result.broken);
        *byte ^= (uint8_t)(1u << bit % 8);
    }
    guarded_free(&memory);
    free(f.data);
}
