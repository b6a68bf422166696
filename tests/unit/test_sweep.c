/* SPDX-License-Identifier: MIT */
/* Reads every seed of several subjects at each length and with each bit flipped, between two inaccessible pages. No
 * reader may access these pages, two reads of the same bytes must have the same verdict, and all guarantees that the
 * readers of fuzz/ check must hold. Other tests in this file change fields of logs, and check the verdicts on faults of
 * the writer and on worst-case inputs. */
#include <criterion/criterion.h>

#include "cpuid_readers.h"
#include "hook_readers.h"
#include "log_readers.h"
#include "lwp_readers.h"
#include "number_text_readers.h"
#include "pdh_text_readers.h"
#include "perfblock/write.h"
#include "readers.h"
#include "support.h"
#include "support_faults.h"
#include "text_readers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_le32(uint8_t *p, size_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

/* ---- Seeds --------------------------------------------------------------------------------------------- */

typedef reading reader(const uint8_t *data, size_t size);

/* The position of the sweep, which is printed if a reader accesses an inaccessible page. */
static struct {
    subject which;   /* the kind of input, for the functions of readers.h */
    reader *examine; /* reads and checks all guarantees */
    reader *read;    /* reads without strict mode */
    guarded memory;
    char text[512];
    const char *seed;
    size_t size;
    long bit; /* the flipped bit, or the first bit of the changed field; -1: none */
    size_t case_count;
} sweep;

static struct sigaction previous_action;

static void print_position(int number)
{
    fprintf(stderr, "seed %s, %zu bytes, change at bit %ld\n", sweep.seed, sweep.size, sweep.bit);
    sigaction(number, &previous_action, NULL); /* the instruction is executed again, with the previous handler */
}

static const char *describe_case(void)
{
    snprintf(sweep.text, sizeof sweep.text, "seed %s, %zu bytes, change at bit %ld", sweep.seed, sweep.size, sweep.bit);
    return sweep.text;
}

/* Reads the bytes at the end of the guarded memory, and a copy at its beginning. */
static reading check_case(size_t size)
{
    uint8_t *at_end = sweep.memory.end - size;
    sweep.size = size;
    sweep.case_count++;
    reading result = sweep.examine(at_end, size);
    cr_assert_null(result.broken, "%s: broken guarantee: %s", describe_case(), result.broken);
    if (size > 0)
        memcpy(sweep.memory.begin, at_end, size);
    reading other = sweep.read(sweep.memory.begin, size);
    cr_assert(other.error.code == result.error.code && other.error.offset == result.error.offset &&
                  other.sum == result.sum,
              "%s: the same bytes at another address are read differently", describe_case());
    return result;
}

/* Reads a seed at every length and with every bit flipped. Only the whole seed and every SWEEP_STEPth case are read.
 * The step must be odd, so that all bits of a byte occur. */
static void sweep_seed(const char *name, const uint8_t *data, size_t size)
{
    sweep.memory = guarded_make(2 * size);
    sweep.seed = name;
    sweep.bit = -1;
    for (size_t length = size % SWEEP_STEP; length <= size; length += SWEEP_STEP) {
        if (length > 0)
            memcpy(sweep.memory.end - length, data, length);
        reading result = check_case(length);
        if (length == size) /* the name begins with valid_ or broken_ */
            cr_expect_eq(result.error.code == PFB_OK, name[0] == 'v', "%s: %s at %zu", name,
                         pfb_code_name(result.error.code), result.error.offset);
    }
    for (size_t bit = 0; bit < 8 * size; bit += SWEEP_STEP) {
        sweep.bit = (long)bit;
        uint8_t *byte = sweep.memory.end - size + bit / 8;
        *byte ^= (uint8_t)(1u << bit % 8);
        check_case(size);
        *byte ^= (uint8_t)(1u << bit % 8);
    }
    guarded_free(&sweep.memory);
}

static void visit_swept_seeds(const char *name, seed_visitor *visit, size_t min_seeds, size_t min_cases)
{
    struct sigaction action = {.sa_handler = print_position};
    sigaction(SIGSEGV, &action, &previous_action);
    sweep.case_count = 0;
    cr_assert_geq(visit_seeds(name, visit), min_seeds, "corpus/%s has too few seeds", name);
    cr_assert_geq(sweep.case_count, min_cases);
    sigaction(SIGSEGV, &previous_action, NULL);
}

static void sweep_seeds(const char *name, reader *examine, reader *read)
{
    sweep.examine = examine;
    sweep.read = read;
    enum { MIN_CASES = 13000 / (SWEEP_STEP + 12) }; /* of the smallest subject; 1000 if all are read */
    visit_swept_seeds(name, sweep_seed, 10, MIN_CASES);
}

static reading verify_subject(const uint8_t *data, size_t size)
{
    return verify_input(sweep.which, data, size);
}

static reading read_subject(const uint8_t *data, size_t size)
{
    return read_input(sweep.which, data, size, NULL);
}

static void sweep_subject(subject which, const char *name)
{
    sweep.which = which;
    sweep_seeds(name, verify_subject, read_subject);
}

Test(sweep, v2_seeds_are_read_within_bounds)
{
    sweep_subject(SUBJECT_V2, "v2");
}

Test(sweep, registration_seeds_are_read_within_bounds)
{
    sweep_subject(SUBJECT_METADATA, "metadata");
}

Test(sweep, query_seeds_are_read_within_bounds)
{
    sweep_subject(SUBJECT_QUERY, "query");
}

Test(sweep, capture_seeds_are_read_within_bounds)
{
    sweep_subject(SUBJECT_CAPTURE, "capture");
}

Test(sweep, cpuid_text_seeds_are_read_within_bounds)
{
    sweep_seeds("cpuid_text", verify_cpuid_text, read_cpuid_text);
}

static reading read_log_tolerantly(const uint8_t *data, size_t size)
{
    return read_log(data, size, NULL);
}

Test(sweep, log_seeds_are_read_within_bounds)
{
    sweep_seeds("log", verify_log, read_log_tolerantly);
}

static reading read_pdh_text_tolerantly(const uint8_t *data, size_t size)
{
    return read_pdh_text(data, size, NULL);
}

Test(sweep, pdh_text_seeds_are_read_within_bounds)
{
    sweep_seeds("pdh_text", verify_pdh_text, read_pdh_text_tolerantly);
}

static reading read_number_text_tolerantly(const uint8_t *data, size_t size)
{
    return read_number_text(data, size, NULL);
}

Test(sweep, number_text_seeds_are_read_within_bounds)
{
    sweep_seeds("number_text", verify_number_text, read_number_text_tolerantly);
}

/* Sets the 32-bit field at every (2 * SWEEP_STEP)th offset to limits of sizes and integers, and to values near
 * its own. */
static void sweep_fields(const char *name, const uint8_t *data, size_t size)
{
    static const uint32_t values[] = {0,  1,  7,  8,          23,         24,         47,
                                      48, 71, 72, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};
    static const uint32_t near[] = {1, 8, 24, (uint32_t)-1, (uint32_t)-8, (uint32_t)-24};
    enum { VALUES = sizeof values / sizeof values[0], NEAR = sizeof near / sizeof near[0], STEP = 2 * SWEEP_STEP };
    sweep.memory = guarded_make(2 * size);
    sweep.seed = name;
    sweep.size = size;
    uint8_t *copy = sweep.memory.end - size;
    if (size > 0)
        memcpy(copy, data, size);
    for (size_t at = 0; at + 4 <= size; at += STEP) {
        uint32_t old =
            data[at] | (uint32_t)data[at + 1] << 8 | (uint32_t)data[at + 2] << 16 | (uint32_t)data[at + 3] << 24;
        sweep.bit = (long)(8 * at);
        for (size_t i = 0; i < VALUES + NEAR; i++) {
            put_le32(copy + at, i < VALUES ? values[i] : old + near[i - VALUES]);
            reading result = sweep.read(copy, size);
            cr_assert_null(result.broken, "%s: broken guarantee: %s", describe_case(), result.broken);
            cr_assert_leq(result.error.offset, size);
            sweep.case_count++;
        }
        memcpy(copy + at, data + at, 4);
    }
    guarded_free(&sweep.memory);
}

Test(sweep, changed_fields_of_logs_are_read_within_bounds)
{
    sweep.read = read_log_tolerantly;
    visit_swept_seeds("log", sweep_fields, 80, 10000);
}

static reading read_lwp_tolerantly(const uint8_t *data, size_t size)
{
    return read_lwp(data, size, NULL);
}

Test(sweep, lwp_seeds_are_read_within_bounds)
{
    sweep_seeds("lwp", verify_lwp, read_lwp_tolerantly);
}

Test(sweep, cpi_hooks_seeds_are_read_within_bounds)
{
    sweep_seeds("hooks", verify_hooks, verify_hooks);
}

Test(sweep, cpi_text_seeds_are_read_within_bounds)
{
    sweep_seeds("text", verify_cpi_text, read_cpi_text);
}

/* ---- Faults of the writer ------------------------------------------------------------------------------ */

/* Writes a block of one kind. */
typedef void shaper(pfb_writer *writer);

static const uint8_t letter[] = {'n', 0};

static void shape_v2(pfb_writer *writer)
{
    static const pfb_write_times times = {.perf_time = 1, .perf_time_100ns = 2, .perf_freq = 3};
    static const uint32_t ids[] = {4, 5, 6};
    pfb_write_begin_v2(writer, &times);
    for (uint32_t kind = PFB_V2_ERROR; kind <= PFB_V2_COUNTERSET; kind++) {
        if (kind == 3 || kind == 5)
            continue;
        pfb_write_begin_result(writer, kind, kind == PFB_V2_ERROR, ids, 3);
        uint32_t rows = kind == PFB_V2_ERROR ? 0 : kind & 4 ? 2 : 1;
        for (uint32_t row = 0; row < rows; row++) {
            if (kind & 4)
                pfb_write_instance(writer, row, UTF16_NAME(letter, row));
            for (uint32_t column = 0; column < (kind & 2 ? 3 : 1); column++)
                pfb_write_value(writer, row, column % 2 ? 4 : 8);
        }
        pfb_write_end_result(writer);
    }
    pfb_write_end_v2(writer);
}

static void shape_counterset(pfb_writer *writer)
{
    static const pfb_guid guid = {{1, 2, 3}};
    static const pfb_counter counter = {.id = 1, .base_id = PFB_NO_ID};
    pfb_write_counterset(writer, &guid, 100, PFB_INSTANCES_MULTIPLE, 2);
    pfb_write_counter(writer, &counter);
    pfb_write_counter(writer, &counter);
}

static void shape_string(pfb_writer *writer)
{
    pfb_write_string(writer, UTF16_NAME(letter, 1));
}

static void shape_strings(pfb_writer *writer)
{
    pfb_write_begin_strings(writer, 3);
    pfb_write_counter_string(writer, 0, UTF16_NAME(letter, 1));
    pfb_write_counter_string(writer, 1, NULL);
    pfb_write_counter_string(writer, 2, UTF16_NAME(letter, 0));
    pfb_write_end_strings(writer);
}

static void shape_identifiers(pfb_writer *writer)
{
    const pfb_query queries[2] = {{.name = pfb_utf16_name(letter, 1)}, {.index = 1}};
    pfb_write_identifier(writer, &queries[0]);
    pfb_write_identifier(writer, &queries[1]);
}

static void shape_instances(pfb_writer *writer)
{
    pfb_write_listed_instance(writer, 0, UTF16_NAME(letter, 1));
    pfb_write_listed_instance(writer, 1, NULL);
}

static const struct {
    shaper *shape;
    subject which;
    uint8_t selector; /* first byte of metadata, which selects the format */
} shapes[] = {{shape_v2, SUBJECT_V2, 0},
              {shape_counterset, SUBJECT_METADATA, 1},
              {shape_string, SUBJECT_METADATA, 3},
              {shape_strings, SUBJECT_METADATA, 5},
              {shape_identifiers, SUBJECT_METADATA, 12},
              {shape_instances, SUBJECT_METADATA, 13}};

/* Writes a block with a fault and compares the verdict with the error code of the fault. Returns false if the block
 * does not have the field of the fault. */
static bool check_fault(size_t shape, pfb_fault fault)
{
    uint8_t memory[2048] = {shapes[shape].selector};
    pfb_writer writer;
    pfb_write_init(&writer, memory + 1, sizeof memory - 1);
    pfb_write_break(&writer, fault);
    shapes[shape].shape(&writer);
    cr_assert_eq(writer.error.code, PFB_OK);
    size_t selector = shapes[shape].which == SUBJECT_METADATA;
    reading result = verify_input(shapes[shape].which, memory + 1 - selector, writer.size_bytes + selector);
    cr_expect_null(result.broken, "block %zu, %s: broken guarantee: %s", shape, fault_name(fault), result.broken);
    pfb_code code = writer.fault_planted ? fault_code(fault) : PFB_OK;
    cr_expect_eq(result.error.code, code, "block %zu, %s: %s", shape, fault_name(fault),
                 pfb_code_name(result.error.code));
    if (fault == PFB_FAULT_NAME_UNTERMINATED && writer.fault_planted) /* the error has the offset of the string */
        cr_expect_leq(result.error.offset, writer.fault_offset, "block %zu", shape);
    else if (code != PFB_OK)
        expect_error(result.error, code, writer.fault_offset, fault_name(fault));
    return writer.fault_planted;
}

/* The faults of V1 blocks are in test_write_v1.c. */
Test(sweep, every_fault_of_the_writer_is_detected)
{
    for (int fault = PFB_FAULT_NONE; fault < PFB_FAULT_SIGNATURE_WRONG; fault++) {
        size_t planted = 0;
        for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++)
            planted += check_fault(shape, (pfb_fault)fault);
        cr_expect_eq(planted > 0, fault != PFB_FAULT_NONE, "%s occurs in %zu blocks", fault_name((pfb_fault)fault),
                     planted);
    }
}

/* ---- Worst-case inputs -------------------------------------------------------------------------------- */

/* These tests check the verdict on worst-case inputs and the number of items in them. tests/instructions limits the
 * work by the number of instructions. */
enum { MEBIBYTE = 1 << 20 };

/* The first byte of a metadata input selects its format, see readers.h: 5 (PFB_REQUEST_COUNTER_NAMES) is a list of
 * strings, 11 GUIDs, 12 identifier blocks, and 13 instances. */

/* Fills zeroed memory with a worst-case input. */
typedef void filler(uint8_t *data, size_t size);

typedef struct worst_case {
    const char *name;
    subject which;
    filler *fill;
    pfb_code code;
    size_t min_items; /* the least number of items that the reader must find: per mebibyte if it is above 1000, and
                         otherwise in the whole input */
} worst_case;

static void fill_zeros(uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
}

static void fill_ones(uint8_t *data, size_t size)
{
    memset(data, 0xFF, size);
}

/* Writes a data block of results of one kind, with `result_size` bytes per result. Returns the number of results. */
static size_t fill_results(uint8_t *data, size_t size, uint32_t kind, size_t result_size)
{
    size_t count = (size - 48) / result_size;
    put_le32(data, 48 + count * result_size);
    put_le32(data + 4, count);
    for (uint8_t *p = data + 48; p < data + 48 + count * result_size; p += result_size) {
        put_le32(p, 1);
        put_le32(p + 4, kind);
        put_le32(p + 8, result_size);
    }
    return count;
}

static void fill_unknown_results(uint8_t *data, size_t size)
{
    fill_results(data, size, 3, 16);
}

static void fill_empty_values(uint8_t *data, size_t size)
{
    size_t count = fill_results(data, size, 1, 24);
    for (size_t i = 0; i < count; i++)
        put_le32(data + 48 + 24 * i + 20, 8);
}

/* Writes one result with as many counters as possible, each with its id and an empty value. */
static void fill_many_counters(uint8_t *data, size_t size)
{
    size_t count = (size - 48 - 16 - 8) / 12;
    fill_results(data, size, 2, size - 48);
    put_le32(data + 64, 8 + 4 * count);
    put_le32(data + 68, count);
    for (size_t i = 0; i < count; i++)
        put_le32(data + 72 + 4 * count + 8 * i + 4, 8);
}

/* Writes one result without counters and with as many instances as possible. */
static void fill_small_instances(uint8_t *data, size_t size)
{
    size_t count = (size - 48 - 16 - 16) / 10;
    fill_results(data, size, 6, size - 48);
    put_le32(data + 64, 8);
    put_le32(data + 72, 8 + 10 * count);
    put_le32(data + 76, count);
    for (size_t i = 0; i < count; i++)
        put_le32(data + 80 + 10 * i, 10);
}

/* Writes one instance whose name fills the block and has no NUL. */
static void fill_endless_name(uint8_t *data, size_t size)
{
    fill_results(data, size, 4, size - 48);
    put_le32(data + 64, size - 64);
    put_le32(data + 68, 1);
    put_le32(data + 72, size - 72);
    memset(data + 80, 'x', size - 80);
}

/* Writes strings in the second half of a block. Each begins `step` bytes after the previous one and ends with the
 * block. If `step` is 0, all strings are the same empty one. */
static void fill_strings(uint8_t *data, size_t size, size_t step)
{
    size_t count = size / 16;
    data[0] = 5;
    data++;
    size -= 1 + (size - 1) % 8;
    put_le32(data, size);
    put_le32(data + 4, count);
    size_t first = 8 + 8 * count;
    memset(data + first, 'x', size - first - 8);
    for (size_t i = 0; i < count; i++)
        put_le32(data + 8 + 8 * i + 4, step ? first + step * i : size - 8);
}

static void fill_shared_strings(uint8_t *data, size_t size)
{
    fill_strings(data, size, 2);
}

static void fill_empty_strings(uint8_t *data, size_t size)
{
    fill_strings(data, size, 0);
}

static void fill_guids(uint8_t *data, size_t size)
{
    (void)size;
    data[0] = 11;
}

static void fill_identifiers(uint8_t *data, size_t size)
{
    data[0] = 12;
    for (size_t at = 1; at + 40 <= size; at += 40)
        put_le32(data + at + 20, 40);
}

static void fill_listed_instances(uint8_t *data, size_t size)
{
    data[0] = 13;
    for (size_t at = 1; at + 10 <= size; at += 10)
        put_le32(data + at, 10);
}

static void fill_empty_chunks(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 16 <= size; at += 16)
        memcpy(data + at, at == 0 ? "PFBC\1" : "NOTE\1", 5);
}

static const worst_case worst_cases[] = {
    {"a data block of zeros", SUBJECT_V2, fill_zeros, PFB_BAD_TOTAL_SIZE, 0},
    {"a data block of 0xFF bytes", SUBJECT_V2, fill_ones, PFB_TRUNCATED_BLOCK, 0},
    {"results of an unknown kind", SUBJECT_V2, fill_unknown_results, PFB_OK, 65000},
    {"values without data", SUBJECT_V2, fill_empty_values, PFB_OK, 130000},
    {"as many counters as possible", SUBJECT_V2, fill_many_counters, PFB_OK, 87000},
    {"as many instances as possible", SUBJECT_V2, fill_small_instances, PFB_OK, 104000},
    {"a name without NUL", SUBJECT_V2, fill_endless_name, PFB_TRUNCATED_STRING, 1},
    {"strings that share their bytes", SUBJECT_METADATA, fill_shared_strings, PFB_OVERLAPPING_STRINGS, 16},
    {"one string for all counters", SUBJECT_METADATA, fill_empty_strings, PFB_OK, 65000},
    {"metadata of zeros", SUBJECT_METADATA, fill_zeros, PFB_OK, 0},
    {"a list of GUIDs", SUBJECT_METADATA, fill_guids, PFB_TRUNCATED_LIST, 65000},
    {"identifiers without names", SUBJECT_METADATA, fill_identifiers, PFB_TRUNCATED_IDENTIFIER, 26000},
    {"a list of instances", SUBJECT_METADATA, fill_listed_instances, PFB_OK, 104000},
    {"identifiers of zeros", SUBJECT_QUERY, fill_zeros, PFB_BAD_IDENTIFIER_SIZE, 0},
    {"a capture of zeros", SUBJECT_CAPTURE, fill_zeros, PFB_UNKNOWN_FORMAT, 0},
    {"empty chunks", SUBJECT_CAPTURE, fill_empty_chunks, PFB_OK, 65000},
};

static void check_worst_case(const worst_case *worst, size_t mebibytes)
{
    size_t size = mebibytes * MEBIBYTE;
    uint8_t *data = calloc(1, size);
    cr_assert_not_null(data);
    worst->fill(data, size);
    reading result = read_input(worst->which, data, size, NULL);
    free(data);
    cr_expect_null(result.broken, "%s: broken guarantee: %s", worst->name, result.broken);
    cr_expect_eq(result.error.code, worst->code, "%s: %s at %zu", worst->name, pfb_code_name(result.error.code),
                 result.error.offset);
    cr_expect_geq(result.items, worst->min_items * (worst->min_items > 1000 ? mebibytes : 1), "%s: %llu items",
                  worst->name, (unsigned long long)result.items);
}

Test(sweep, worst_case_inputs_have_the_expected_verdict)
{
    for (size_t i = 0; i < sizeof worst_cases / sizeof worst_cases[0]; i++) {
        check_worst_case(&worst_cases[i], 1);
        check_worst_case(&worst_cases[i], 2);
    }
}

/* Matches patterns with the name aaa...a. A matcher with full backtracking would take exponential time. A matcher that
 * only returns to the last star takes time proportional to at most the product of both lengths. If SWEEP_STEP is
 * above 1, the name is shorter. */
Test(sweep, pattern_matching_does_not_take_exponential_time)
{
    enum { NAME_UNITS = SWEEP_STEP > 1 ? 1 << 12 : 1 << 16 };
    static uint8_t pattern[2 * PFB_QUERY_NAME_UNITS];
    static uint8_t name[2 * NAME_UNITS];
    for (size_t stars = 0; stars < 2; stars++) { /* *aaa...ab, then *a*a*a...*b */
        for (size_t i = 0; i < PFB_QUERY_NAME_UNITS; i++)
            pattern[2 * i] = i == 0 || (stars && i % 2 == 0) ? '*' : 'a';
        pattern[2 * PFB_QUERY_NAME_UNITS - 2] = 'b';
        for (size_t i = 0; i < NAME_UNITS; i++)
            name[2 * i] = 'a';
        cr_expect_not(pfb_query_match(UTF16_NAME(pattern, PFB_QUERY_NAME_UNITS), UTF16_NAME(name, NAME_UNITS), 0));
        name[2 * NAME_UNITS - 2] = 'b';
        cr_expect(pfb_query_match(UTF16_NAME(pattern, PFB_QUERY_NAME_UNITS), UTF16_NAME(name, NAME_UNITS), 0));
    }
}
