/* SPDX-License-Identifier: MIT */
/* The output of fuzz/mutator.c for every seed: readers accept it, or detect exactly the fault that the mutator reports.
 * Equal seed numbers give equal outputs. */
#include <criterion/criterion.h>

#include "mutator.h"
#include "perfblock/perfblock.h"
#include "support.h"
#include "support_faults.h"
#include "support_readers.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS_EACH = 40, CAPACITY = 1 << 16 }; /* SEEDS_EACH: seed numbers for each file of the corpus */

typedef pfb_error read_function(const uint8_t *data, size_t size, uint32_t *notes);

static struct {
    mutator *mutate;
    read_function *read;
    size_t prefix; /* bytes of the input that precede the reply */
    size_t accepted, refused, noted, changed;
    bool has_fault[PFB_FAULT_COUNT];
} run;

static void check_mutation(const char *name, const uint8_t *data, size_t size, uint64_t seed)
{
    static uint8_t out[CAPACITY], second_output[CAPACITY];
    mutation m = run.mutate(data, size, out, sizeof out, seed);
    mutation repeated = run.mutate(data, size, second_output, sizeof second_output, seed);
    cr_assert(m.size_bytes > 0 && m.size_bytes <= sizeof out, "%s, %llu", name, (unsigned long long)seed);
    cr_assert(m.size_bytes == repeated.size_bytes && memcmp(out, second_output, m.size_bytes) == 0, "%s, %llu", name,
              (unsigned long long)seed);
    cr_assert_eq(m.is_broken, seed % 2 == 1, "%s, %llu", name, (unsigned long long)seed);
    uint8_t *exact = malloc(m.size_bytes); /* a sanitizer detects accesses past the end */
    cr_assert_not_null(exact);
    cr_assert_eq(run.mutate(data, size, exact, m.size_bytes, seed).size_bytes, m.size_bytes, "%s, %llu", name,
                 (unsigned long long)seed);
    run.changed += m.size_bytes != size || memcmp(exact, data, size) != 0;
    uint32_t notes = 0;
    pfb_error error = run.read(exact + run.prefix, m.size_bytes - run.prefix, &notes);
    free(exact);
    pfb_code expected = fault_code(m.fault);
    if (m.fault == PFB_FAULT_OBJECT_COUNT_MORE && error.code == PFB_BAD_OBJECT_COUNT)
        expected = PFB_BAD_OBJECT_COUNT; /* the objects leave no space for one more */
    cr_assert_eq(error.code, expected, "%s, %llu, fault %s: %s at %zu", name, (unsigned long long)seed,
                 fault_name(m.fault), pfb_code_name(error.code), error.offset);
    cr_assert_eq(notes != 0, m.fault == PFB_FAULT_RESULT_KIND_UNKNOWN || m.fault == PFB_FAULT_SYSTEM_NAME_HUGE,
                 "%s, %llu, fault %s: notes %x", name, (unsigned long long)seed, fault_name(m.fault), notes);
    run.has_fault[m.fault] = true;
    run.accepted += error.code == PFB_OK && notes == 0;
    run.refused += error.code != PFB_OK;
    run.noted += notes != 0;
}

static void check_seed(const char *name, const uint8_t *data, size_t size)
{
    for (uint64_t seed = 0; seed < SEEDS_EACH; seed++)
        check_mutation(name, data, size, 1000 * size + seed);
}

/* Returns the number of different faults that occurred. */
static size_t check_subject(const char *subject, mutator *mutate, read_function *read, size_t prefix)
{
    memset(&run, 0, sizeof run);
    run.mutate = mutate;
    run.read = read;
    run.prefix = prefix;
    size_t seeds = visit_seeds(subject, check_seed);
    size_t cases = seeds * SEEDS_EACH;
    cr_assert_gt(seeds, 10);
    cr_expect_eq(run.accepted, cases / 2, "half of the mutations are valid");
    cr_expect_eq(run.refused + run.noted, cases / 2, "half of the mutations are broken");
    cr_expect_gt(run.changed, cases * 3 / 4, "most mutations differ from the seed");
    size_t faults = 0;
    for (size_t i = 1; i < PFB_FAULT_COUNT; i++)
        faults += run.has_fault[i];
    return faults;
}

static pfb_error read_v2(const uint8_t *data, size_t size, uint32_t *notes)
{
    pfb_v2_reader reader;
    pfb_v2_open(&reader, data, size, NULL);
    pfb_error error = pfb_v2_finish(&reader);
    *notes = reader.notes;
    cr_expect(error.code != PFB_OK || reader.total_size_bytes == size);
    return error;
}

static pfb_error read_v1(const uint8_t *data, size_t size, uint32_t *notes)
{
    pfb_v1_reader reader;
    pfb_v1_open(&reader, data, size, NULL);
    pfb_error error = finish_v1(&reader);
    *notes = reader.notes;
    cr_expect(error.code != PFB_OK || reader.total_size_bytes == size);
    return error;
}

Test(mutator, v2_readers_find_the_reported_fault)
{
    cr_expect_gt(check_subject("v2", mutate_v2, read_v2, 0), 15);
}

Test(mutator, v2_readers_find_the_reported_fault_in_values)
{
    cr_expect_gt(check_subject("v2_values", mutate_v2_values, read_v2, 4), 15);
}

Test(mutator, v1_readers_find_the_reported_fault)
{
    cr_expect_gt(check_subject("v1", mutate_v1, read_v1, 0), 24);
}

/* Counts the broken bodies of a capture. */
static size_t broken_bodies(const uint8_t *data, size_t size, pfb_error *error, pfb_code *code)
{
    pfb_capture capture;
    pfb_chunk chunk;
    uint32_t notes = 0;
    size_t count = 0;
    pfb_capture_open(&capture, data, size, true, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        pfb_error inner = {PFB_OK, 0};
        if (chunk.is_known && chunk.tag == PFB_TAG_DATA)
            inner = read_v2(data + chunk.body_offset, chunk.body_size_bytes, &notes);
        else if (chunk.is_known && chunk.tag == PFB_TAG_V1)
            inner = read_v1(data + chunk.body_offset, chunk.body_size_bytes, &notes);
        count += inner.code != PFB_OK;
        if (inner.code != PFB_OK)
            *code = inner.code;
    }
    *error = capture.error;
    return count;
}

static struct {
    size_t cut, inner, intact;
} captures;

/* Checks mutations of a capture whose bodies are valid: only the mutated body may be broken. */
static void check_capture(const char *name, const uint8_t *data, size_t size)
{
    static uint8_t out[CAPACITY];
    pfb_error error;
    pfb_code code = PFB_OK;
    if (broken_bodies(data, size, &error, &code) > 0 || error.code != PFB_OK)
        return;
    for (uint64_t seed = 0; seed < SEEDS_EACH; seed++) {
        mutation m = mutate_capture(data, size, out, sizeof out, seed);
        cr_assert(m.size_bytes > 0 && m.is_broken == (seed % 2 == 1), "%s, %llu", name, (unsigned long long)seed);
        code = PFB_OK;
        size_t count = broken_bodies(out, m.size_bytes, &error, &code);
        bool is_cut = m.is_broken && m.fault == PFB_FAULT_NONE;
        cr_assert_eq(error.code != PFB_OK, is_cut, "%s, %llu: %s", name, (unsigned long long)seed,
                     pfb_code_name(error.code));
        cr_assert_eq(code, fault_code(m.fault), "%s, %llu: %s", name, (unsigned long long)seed, pfb_code_name(code));
        cr_assert_eq(count, code == PFB_OK ? 0 : 1, "%s, %llu", name, (unsigned long long)seed);
        captures.cut += is_cut;
        captures.inner += m.is_broken && !is_cut;
        captures.intact += !m.is_broken;
    }
}

Test(mutator, a_broken_capture_is_truncated_or_has_one_broken_body)
{
    cr_assert_gt(visit_seeds("capture", check_capture), 10);
    cr_expect_gt(captures.intact, 100);
    cr_expect_gt(captures.cut, 50);
    cr_expect_gt(captures.inner, 20);
}

Test(mutator, small_capacities_are_not_exceeded)
{
    static mutator *const mutators[] = {mutate_v2, mutate_v2_values, mutate_v1, mutate_capture};
    for (size_t i = 0; i < sizeof mutators / sizeof mutators[0]; i++) {
        for (size_t capacity = 0; capacity < 200; capacity++) {
            uint8_t *out = malloc(capacity > 0 ? capacity : 1);
            cr_assert_not_null(out);
            mutation m = mutators[i]((const uint8_t *)"", 0, out, capacity, capacity);
            cr_expect_leq(m.size_bytes, capacity, "mutator %zu", i);
            free(out);
        }
    }
}
