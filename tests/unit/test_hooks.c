/* SPDX-License-Identifier: MIT */
/* Reading of CPI hooks, the records of a CPI trace. */
#include "support_cpi.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

/* ---- The worked examples ------------------------------------------------------------------------------- */

/* Reads all groups of a stream; returns the error. */
static pfb_error count_groups(const void *data, size_t size, uint64_t *count)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_hooks_open(&hooks, data, size, NULL);
    pfb_error error = pfb_cpi_hooks_finish(&hooks);
    *count = hooks.group_count;
    return error;
}

static void expect_stored(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, pfb_cpi_hook_kind kind,
                          uint32_t whose, pfb_cpi_stored expected)
{
    pfb_cpi_stored s;
    cr_assert(pfb_cpi_hooks_stored(hooks, group, kind, whose, &s), "%s of %u", pfb_cpi_hook_name(kind), whose);
    cr_expect_eq(s.has_counts, expected.has_counts, "%s of %u", pfb_cpi_hook_name(kind), whose);
    cr_expect_eq(s.has_scaled, expected.has_scaled, "%s of %u", pfb_cpi_hook_name(kind), whose);
    cr_expect_eq(s.instr, expected.instr, "%s of %u", pfb_cpi_hook_name(kind), whose);
    cr_expect_eq(s.cycles, expected.cycles, "%s of %u", pfb_cpi_hook_name(kind), whose);
    cr_expect(s.cpi.integral == expected.cpi.integral && s.cpi.fraction == expected.cpi.fraction, "%s of %u",
              pfb_cpi_hook_name(kind), whose);
    if (!expected.has_scaled)
        return;
    cr_expect_eq(s.scaled_cycles, expected.scaled_cycles, "%s of %u", pfb_cpi_hook_name(kind), whose);
    cr_expect(s.scaled_cpi.integral == expected.scaled_cpi.integral &&
                  s.scaled_cpi.fraction == expected.scaled_cpi.fraction,
              "%s of %u", pfb_cpi_hook_name(kind), whose);
    cr_expect(s.busy.integral == expected.busy.integral && s.busy.fraction == expected.busy.fraction, "%s of %u",
              pfb_cpi_hook_name(kind), whose);
}

static void expect_no_warnings(const pfb_cpi_group *group)
{
    for (unsigned i = 0; i < PFB_CPI_WARNING_COUNT; i++)
        cr_expect_eq(group->warnings[i].count, 0, "%s", pfb_cpi_warning_name((pfb_cpi_warning)i));
}

Test(cpi_hooks, the_summary_is_read)
{
    bytes b = example(1);
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
    cr_assert(pfb_cpi_hooks_next(&hooks, &group));
    cr_expect(group.offset == 0 && group.end_offset == 100 && group.minor == 1 && group.elapsed_cycles == 3000000);
    cr_expect(group.cpu_count == 2 && group.label_size_bytes == 0);
    for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++)
        cr_expect_eq(group.hooks[kind].is_present, kind == PFB_CPI_SUMMARY_HOOK, "%u", kind);
    cr_expect(group.hooks[PFB_CPI_SUMMARY_HOOK].flags == 3 && group.hooks[PFB_CPI_SUMMARY_HOOK].word_count == 22);
    expect_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, 0,
                  (pfb_cpi_stored){.has_scaled = true, .cpi = {2, 0}, .scaled_cpi = {1, 5000}, .busy = {75, 0}});
    expect_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, 1,
                  (pfb_cpi_stored){.has_scaled = true, .cpi = {1, 0}, .scaled_cpi = {0, 2000}, .busy = {20, 0}});
    expect_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, PFB_CPI_OF_SYSTEM,
                  (pfb_cpi_stored){.has_scaled = true, .cpi = {1, 3333}, .scaled_cpi = {0, 6333}, .busy = {47, 5000}});
    expect_no_warnings(&group);
    pfb_cpi_stored stored;
    cr_expect_not(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, 2, &stored));
    cr_expect_not(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, PFB_CPI_OF_THREAD, &stored));
    cr_expect_not(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_SYSTEM_HOOK, PFB_CPI_OF_SYSTEM, &stored));
    cr_expect_not(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_HOOK_COUNT, 0, &stored));
    cr_expect_not(pfb_cpi_hooks_next(&hooks, &group));
    expect_error(hooks.error, PFB_OK, 0, "the end of the stream");
}

Test(cpi_hooks, label_and_thread_are_read)
{
    bytes b = example(2);
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
    cr_assert(pfb_cpi_hooks_next(&hooks, &group));
    cr_expect(group.minor == 0x2A && group.elapsed_cycles == UINT64_C(12000000001) && group.tid == 4242);
    cr_expect(group.label_size_bytes == 6 && memcmp(b.data + group.label_offset, "loop A", 6) == 0);
    const pfb_cpi_stored all = {
        .has_counts = true, .instr = UINT64_C(9000000000), .cycles = UINT64_C(12000000001), .cpi = {1, 3333}};
    expect_stored(&hooks, &group, PFB_CPI_SYSTEM_HOOK, PFB_CPI_OF_SYSTEM, all);
    expect_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, 0, all);
    expect_stored(
        &hooks, &group, PFB_CPI_THREAD_HOOK, PFB_CPI_OF_THREAD,
        (pfb_cpi_stored){
            .has_counts = true, .instr = UINT64_C(8000000000), .cycles = UINT64_C(10500000000), .cpi = {1, 3125}});
    expect_no_warnings(&group);
    pfb_cpi_stored stored;
    cr_expect_not(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_LABEL_START, 0, &stored));
    cr_expect_not(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, 1, &stored));
    cr_expect_not(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, PFB_CPI_OF_SYSTEM, &stored));
    cr_expect_not(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_THREAD_HOOK, 0, &stored));
}

Test(cpi_hooks, all_hooks_of_a_group_are_read)
{
    static const size_t offsets[PFB_CPI_HOOK_COUNT] = {0, 36, 168, 240, 412, 460};
    bytes b = example(3);
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
    cr_assert(pfb_cpi_hooks_next(&hooks, &group));
    for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++)
        cr_expect(group.hooks[kind].is_present && group.hooks[kind].offset == offsets[kind], "%u", kind);
    const pfb_cpi_words none = {PFB_CPI_UNDEFINED, PFB_CPI_UNDEFINED};
    const pfb_cpi_stored busy = {true, true, 4000, 8000, {2, 0}, 6000, {1, 5000}, {75, 0}};
    const pfb_cpi_stored idle = {true, true, 0, 8000, none, 0, none, {0, 0}};
    const pfb_cpi_stored offline = {true, true, 0, 0, none, 0, none, none};
    const pfb_cpi_stored all = {true, true, 4000, 16000, {4, 0}, 6000, {1, 5000}, {37, 5000}};
    expect_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, 0, busy);
    expect_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, 1, idle);
    expect_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, 2, offline);
    expect_stored(&hooks, &group, PFB_CPI_SYSTEM_HOOK, PFB_CPI_OF_SYSTEM, all);
    expect_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, 2,
                  (pfb_cpi_stored){.has_scaled = true, .cpi = none, .scaled_cpi = none, .busy = none});
    expect_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, PFB_CPI_OF_THREAD, (pfb_cpi_stored){.cpi = {1, 5003}});
    expect_no_warnings(&group);
}

/* ---- Every check --------------------------------------------------------------------------------------- */

/* Words of an example that are changed, and the resulting error. `rank` is the position of the check in the order of
 * all checks. */
typedef struct fault {
    const char *what;
    int example, rank;
    struct {
        uint16_t at;
        uint32_t word;
    } words[2]; /* unused if {0, 0} */
    pfb_code code;
    size_t record, error_word; /* byte offset of the record; index of the reported word in it */
} fault;

/* Of the third example: label at word 0, summary 9, system 42, processors 60, thread 103, label 115. */
static const fault faults[] = {
    {"length 8", 3, 2, {{9, 0x00C00008}}, PFB_BAD_LENGTH, 36, 0},
    {"length 0", 3, 2, {{9, 0x00C00003}}, PFB_BAD_LENGTH, 36, 0},
    {"a length past the end", 3, 3, {{115, 0x00C0002A}}, PFB_TRUNC_RECORD, 460, 0},
    {"a length far past the end", 3, 3, {{9, 0x00C0FFFC}}, PFB_TRUNC_RECORD, 36, 0},
    {"major 0", 3, 4, {{9, 0x00000084}}, PFB_BAD_MAJOR, 36, 0},
    {"major 256", 3, 4, {{9, 0x01000084}}, PFB_BAD_MAJOR, 36, 0},
    {"kind 3", 3, 5, {{10, 0x30000007}}, PFB_UNKNOWN_MINOR, 36, 1},
    {"kind 14", 3, 5, {{10, 0xE0000007}}, PFB_UNKNOWN_MINOR, 36, 1},
    {"bit 8 of the minor word", 3, 5, {{10, 0x10000107}}, PFB_UNKNOWN_MINOR, 36, 1},
    {"bit 27 of the minor word", 3, 5, {{10, 0x18000007}}, PFB_UNKNOWN_MINOR, 36, 1},
    {"type 2 for a hook of words", 3, 6, {{9, 0x00C00086}}, PFB_BAD_TYPE, 36, 0},
    {"type 1 for a hook of words", 3, 6, {{9, 0x00C00085}}, PFB_BAD_TYPE, 36, 0},
    {"type 0 of a label", 3, 6, {{0, 0x00C00024}}, PFB_BAD_TYPE, 0, 0},
    {"type 3 of a label", 3, 6, {{115, 0x00C00027}}, PFB_BAD_TYPE, 460, 0},
    {"5 words of a summary", 3, 7, {{9, 0x00C00020}}, PFB_LENGTH_MISMATCH, 36, 0},
    {"8 words of a system", 3, 7, {{42, 0x00C0002C}}, PFB_LENGTH_MISMATCH, 168, 0},
    {"3 words of processors", 3, 7, {{60, 0x00C00018}}, PFB_LENGTH_MISMATCH, 240, 0},
    {"8 words of a thread", 3, 7, {{103, 0x00C0002C}}, PFB_LENGTH_MISMATCH, 412, 0},
    {"a summary without words", 3, 7, {{9, 0x00C0000C}}, PFB_LENGTH_MISMATCH, 36, 0},
    {"flags without the raw bit", 3, 8, {{12, 6}}, PFB_BAD_FLAGS, 36, 3},
    {"flags with bit 3", 3, 8, {{12, 15}}, PFB_BAD_FLAGS, 36, 3},
    {"the thread bit in a system hook", 3, 8, {{45, 7}}, PFB_BAD_FLAGS, 168, 3},
    {"the thread bit in a processors hook", 3, 8, {{63, 7}}, PFB_BAD_FLAGS, 240, 3},
    {"no CPUs", 3, 9, {{13, 0}}, PFB_BAD_NUM_CPUS, 36, 4},
    {"1025 CPUs", 3, 9, {{13, 1025}}, PFB_BAD_NUM_CPUS, 36, 4},
    {"a number of CPUs whose product wraps", 3, 9, {{64, 0x40000001}}, PFB_BAD_NUM_CPUS, 240, 4},
    {"one CPU too many", 3, 10, {{13, 4}}, PFB_LENGTH_MISMATCH, 36, 0},
    {"one CPU too few", 3, 10, {{64, 2}}, PFB_LENGTH_MISMATCH, 240, 0},
    {"thread words without the thread bit", 3, 10, {{12, 3}}, PFB_LENGTH_MISMATCH, 36, 0},
    {"scaled words without the scaled bit", 3, 10, {{45, 1}}, PFB_LENGTH_MISMATCH, 168, 0},
    {"fraction 10000", 3, 11, {{17, 10000}}, PFB_BAD_FRACTION, 36, 7},
    {"only the integral word is undefined", 3, 11, {{16, UINT32_MAX}}, PFB_BAD_FRACTION, 36, 7},
    {"only the fraction word is undefined", 3, 11, {{17, UINT32_MAX}}, PFB_BAD_FRACTION, 36, 7},
    {"fraction 10000 of the system", 3, 11, {{23, 10000}}, PFB_BAD_FRACTION, 36, 13},
    {"fraction 10000 of the thread in the summary", 3, 11, {{41, 10000}}, PFB_BAD_FRACTION, 36, 31},
    {"fraction 10000 of busy", 3, 11, {{27, 10000}}, PFB_BAD_FRACTION, 36, 17},
    {"fraction 10000 of the last processor", 3, 11, {{102, 10000}}, PFB_BAD_FRACTION, 240, 41},
    {"fraction 10000 of the thread", 3, 11, {{114, 10000}}, PFB_BAD_FRACTION, 412, 10},
    {"busy 101", 3, 12, {{26, 101}}, PFB_BUSY_RANGE, 36, 17},
    {"busy 100.0001", 3, 12, {{26, 100}, {27, 1}}, PFB_BUSY_RANGE, 36, 17},
    {"busy 4294967294 of the system", 3, 12, {{58, 4294967294}}, PFB_BUSY_RANGE, 168, 16},
    {"busy 101 of a processor", 3, 12, {{77, 101}}, PFB_BUSY_RANGE, 240, 17},
    {"a label of three integers", 3, 13, {{3, 3}}, PFB_BAD_LABEL, 0, 3},
    {"a label of 0 characters", 3, 13, {{6, 0}}, PFB_BAD_LABEL, 0, 6},
    {"a label of 256 characters", 3, 13, {{6, 256}}, PFB_BAD_LABEL, 0, 6},
    {"more characters than the record has", 3, 13, {{6, 9}}, PFB_BAD_LABEL, 0, 6},
    {"a word after the characters", 3, 13, {{6, 4}}, PFB_BAD_LABEL, 0, 6},
    {"a number of characters that wraps when rounded up", 3, 13, {{6, 0xFFFFFFFE}}, PFB_BAD_LABEL, 0, 6},
    {"a NUL in a label", 3, 13, {{7, 0x00616870}}, PFB_BAD_LABEL, 0, 7},
    {"a label that begins with NUL", 3, 13, {{7, 0x61687000}}, PFB_BAD_LABEL, 0, 7},
    {"padding other than 0", 2, 13, {{8, 0x01004120}}, PFB_BAD_LABEL, 0, 8},
    {"a label of 3 words", 3, 13, {{0, 0x00C0001A}}, PFB_BAD_LABEL, 0, 0},
    {"a label twice", 3, 14, {{115, 0x00C00026}, {116, 7}}, PFB_BAD_ORDER, 460, 1},
    {"another minor code in the summary", 3, 15, {{10, 0x10000008}}, PFB_MINOR_MISMATCH, 36, 1},
    {"another minor code in the processors hook", 3, 15, {{61, 0x40000008}}, PFB_MINOR_MISMATCH, 240, 1},
    {"another minor code in the last label", 3, 15, {{116, 0xF0000008}}, PFB_MINOR_MISMATCH, 460, 1},
    {"other elapsed cycles in the summary", 3, 16, {{15, 1}}, PFB_ELAPSED_MISMATCH, 36, 5},
    {"other elapsed cycles in the system hook", 3, 16, {{46, 1}}, PFB_ELAPSED_MISMATCH, 168, 4},
    {"other elapsed cycles in the processors hook", 3, 16, {{66, 1}}, PFB_ELAPSED_MISMATCH, 240, 5},
    {"other elapsed cycles in the thread hook", 3, 16, {{107, 1}}, PFB_ELAPSED_MISMATCH, 412, 4},
    {"other elapsed cycles in the last label", 3, 16, {{119, 1}}, PFB_ELAPSED_MISMATCH, 460, 4},
    {"instructions with another sum", 3, 19, {{68, 4001}}, PFB_SUM_MISMATCH, 240, 7},
    {"cycles with another sum", 3, 19, {{70, 8001}}, PFB_SUM_MISMATCH, 240, 7},
    {"scaled cycles with another sum", 3, 19, {{74, 6001}}, PFB_SUM_MISMATCH, 240, 7},
    {"instructions with another sum in the high word", 3, 19, {{67, 1}}, PFB_SUM_MISMATCH, 240, 7},
    {"another letter in the last label", 3, 20, {{122, 0x73616871}}, PFB_LABEL_MISMATCH, 460, 6},
};

enum { FAULTS = sizeof faults / sizeof faults[0] };

static void apply_fault(bytes *b, const fault *f)
{
    for (size_t i = 0; i < 2; i++) {
        if (i == 0 || f->words[i].at != 0)
            set_u32(b, (size_t)4 * f->words[i].at, f->words[i].word);
    }
}

/* Checks the reported error: its code, the byte offset of the record, and the offset of the word in it. The stream is
 * read from memory of exactly its size. */
static void expect_reported_error(const bytes *b, pfb_code code, size_t record, size_t error_word, const char *what,
                                  const char *context)
{
    uint8_t *data = exact_copy(b);
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, data, b->size, NULL);
    cr_expect_eq(pfb_cpi_hooks_finish(&hooks).code, code, "%s (%s): %s", what, context,
                 pfb_code_name(hooks.error.code));
    cr_expect_eq(hooks.error.offset, record, "%s (%s): %zu", what, context, hooks.error.offset);
    cr_expect_eq(hooks.word_offset / 4, record / 4 + error_word, "%s (%s): %zu", what, context, hooks.word_offset);
    if (code != PFB_BAD_LABEL) /* its offset may be that of a character of the label */
        cr_expect_eq(hooks.word_offset % 4, code == PFB_BAD_MAJOR ? 2 : 0, "%s (%s): %zu", what, context,
                     hooks.word_offset);
    cr_expect_not(pfb_cpi_hooks_next(&hooks, &group), "the first error is kept");
    free(data);
}

static void expect_fault(const bytes *b, const fault *f, const char *context)
{
    expect_reported_error(b, f->code, f->record, f->error_word, f->what, context);
}

Test(cpi_hooks, every_check_reports_its_error)
{
    for (size_t i = 0; i < FAULTS; i++) {
        bytes b = example(faults[i].example);
        apply_fault(&b, &faults[i]);
        expect_fault(&b, &faults[i], "one fault");
    }
}

static bool touches_same_word(const fault *a, const fault *b)
{
    for (size_t i = 0; i < 4; i++) {
        if (a->words[i / 2].at == b->words[i % 2].at && a->words[i / 2].at != 0)
            return true;
    }
    return a->words[0].at == b->words[0].at;
}

/* With two faults in one record, the error of the first check is reported. Figures are checked in order of position,
 * and all checks of a figure precede those of the next. */
Test(cpi_hooks, the_first_failed_check_is_reported)
{
    size_t pairs = 0;
    for (size_t i = 0; i < FAULTS; i++) {
        for (size_t j = 0; j < FAULTS; j++) {
            const fault *first = &faults[i];
            const fault *second = &faults[j];
            bool is_one_check = first->rank == second->rank || (first->rank == 11 && second->rank == 12);
            if (first->example != second->example || first->record != second->record || first->rank > second->rank ||
                touches_same_word(first, second) || (is_one_check && first->error_word >= second->error_word))
                continue;
            bytes b = example(first->example);
            apply_fault(&b, second);
            apply_fault(&b, first);
            expect_fault(&b, first, second->what);
            pairs++;
        }
    }
    cr_expect_geq(pairs, 200, "%zu pairs", pairs);
}

/* With faults in two records, the error of the earlier record is reported. */
Test(cpi_hooks, the_first_faulty_record_is_reported)
{
    for (size_t i = 0; i < FAULTS; i++) {
        for (size_t j = 0; j < FAULTS; j++) {
            if (faults[i].example != 3 || faults[j].example != 3 || faults[i].record >= faults[j].record)
                continue;
            bytes b = example(3);
            apply_fault(&b, &faults[i]);
            apply_fault(&b, &faults[j]);
            expect_fault(&b, &faults[i], faults[j].what);
        }
    }
}

Test(cpi_hooks, contradictory_records_of_a_group_are_errors)
{
    bytes b = {.size = 0};
    put_summary(&b, 1, 10, 3, 1);
    size_t at = b.size;
    put_detailed(&b, 1, 10, 1, 1);
    expect_reported_error(&b, PFB_FLAGS_MISMATCH, at, 3, "a scaled summary hook, but a system hook that is not",
                          "flags");

    b = (bytes){.size = 0};
    put_system(&b, 1, 10, 3, 1, 1);
    at = b.size;
    put_processors(&b, 1, 10, 1, 1, 1);
    expect_reported_error(&b, PFB_FLAGS_MISMATCH, at, 3, "a scaled system hook, but a processors hook that is not",
                          "flags");

    b = (bytes){.size = 0};
    put_summary(&b, 1, 10, 1, 1);
    put_detailed(&b, 1, 10, 1, 1);
    at = b.size;
    put_thread(&b, 1, 10);
    expect_reported_error(&b, PFB_FLAGS_MISMATCH, at, 1, "a thread hook, but a summary without the thread bit",
                          "flags");

    b = (bytes){.size = 0};
    put_summary(&b, 1, 10, 1, 2);
    put_system(&b, 1, 10, 1, 1, 1);
    at = b.size;
    put_processors(&b, 1, 10, 1, 1, 1);
    expect_reported_error(&b, PFB_NUM_CPUS_MISMATCH, at, 4, "two CPUs in the summary, one in the processors hook",
                          "CPUs");

    b = (bytes){.size = 0}; /* 2^63 twice is 0 modulo 2^64 */
    put_system(&b, 1, 10, 1, 0, 1);
    at = b.size;
    put_processors(&b, 1, 10, 1, UINT64_C(1) << 63, 2);
    expect_reported_error(&b, PFB_SUM_MISMATCH, at, 7, "a sum of more than 64 bits", "sum");

    b = (bytes){.size = 0};
    put_label(&b, 1, 10, "abc", false);
    put_thread(&b, 1, 10);
    at = b.size;
    put_label(&b, 1, 10, "ab", true);
    expect_reported_error(&b, PFB_LABEL_MISMATCH, at, 6, "a shorter label at the end", "label");
}

/* Processors and system hooks are also compared in groups without labels. */
Test(cpi_hooks, system_and_processors_hooks_must_match)
{
    bytes b = {.size = 0};
    put_system(&b, 1, 10, 1, 1, 1);
    size_t at = b.size;
    put_processors(&b, 2, 10, 1, 1, 1);
    expect_reported_error(&b, PFB_MINOR_MISMATCH, at, 1, "another minor code", "a group without labels");
    b = (bytes){.size = 0};
    put_system(&b, 1, 10, 1, 1, 1);
    put_processors(&b, 1, 11, 1, 1, 1);
    expect_reported_error(&b, PFB_ELAPSED_MISMATCH, at, 5, "other elapsed cycles", "a group without labels");
}

/* ---- Truncations and bit flips ------------------------------------------------------------------------- */

/* The third example, truncated to each length. */
Test(cpi_hooks, truncated_streams_are_errors)
{
    static const size_t starts[] = {0, 36, 168, 240, 412, 460, 496};
    bytes b = example(3);
    for (size_t size = 0; size < b.size; size++) {
        size_t record = 0;
        while (starts[record + 1] <= size)
            record++;
        size_t left = size - starts[record];
        bytes cut = {.size = size};
        memcpy(cut.data, b.data, size);
        pfb_code code = left == 0 ? PFB_UNTERMINATED_GROUP : left < 12 ? PFB_TRUNC_HEADER : PFB_TRUNC_RECORD;
        uint8_t *data = exact_copy(&cut);
        uint64_t count;
        char what[40];
        snprintf(what, sizeof what, "the first %zu bytes", size);
        expect_error(count_groups(data, size, &count), size == 0 ? PFB_OK : code, starts[record], what);
        cr_expect_eq(count, 0, "%s", what);
        free(data);
    }
}

/* Of two groups, the first is returned unchanged even if any bit of the second is flipped. */
Test(cpi_hooks, groups_before_an_error_are_returned)
{
    for (int second = 1; second <= 3; second++) {
        bytes b = example(3);
        bytes other = example(second);
        size_t begin = b.size;
        put_raw(&b, other.data, other.size);
        for (size_t bit = 0; bit < 8 * other.size; bit++) {
            uint8_t *byte = b.data + begin + bit / 8;
            *byte ^= (uint8_t)(1u << bit % 8);
            uint8_t *data = exact_copy(&b);
            pfb_cpi_hooks hooks;
            pfb_cpi_group group;
            pfb_cpi_hooks_open(&hooks, data, b.size, NULL);
            cr_assert(pfb_cpi_hooks_next(&hooks, &group) && group.end_offset == begin && group.cpu_count == 3,
                      "example %d, bit %zu", second, bit);
            while (pfb_cpi_hooks_next(&hooks, &group))
                cr_expect(group.offset >= begin && group.end_offset <= b.size, "example %d, bit %zu", second, bit);
            cr_expect(hooks.error.code == PFB_OK || (hooks.error.offset >= begin && hooks.error.offset <= b.size),
                      "example %d, bit %zu", second, bit);
            cr_expect(hooks.error.code == PFB_OK || hooks.word_offset >= hooks.error.offset, "example %d, bit %zu",
                      second, bit);
            free(data);
            *byte ^= (uint8_t)(1u << bit % 8);
        }
    }
}

/* A complete group is returned first, then the error after it. */
Test(cpi_hooks, a_complete_group_is_returned_before_the_error)
{
    bytes b = example(1);
    put_u32(&b, 0x00C00008);
    put_fill(&b, 0, 8);
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
    cr_expect(pfb_cpi_hooks_next(&hooks, &group));
    expect_error(hooks.error, PFB_OK, 0, "when the group is returned");
    cr_expect_not(pfb_cpi_hooks_next(&hooks, &group));
    expect_error(hooks.error, PFB_BAD_LENGTH, 100, "the record after the group");
}

Test(cpi_hooks, null_and_0_bytes_are_empty_streams)
{
    uint64_t count = 1;
    expect_error(count_groups(NULL, 100, &count), PFB_OK, 0, "a null stream");
    cr_expect_eq(count, 0);
    expect_error(count_groups("", 0, &count), PFB_OK, 0, "a stream of 0 bytes");
}

/* ---- Names --------------------------------------------------------------------------------------------- */

Test(cpi_hooks, hooks_and_warnings_have_names)
{
    cr_expect_str_eq(pfb_cpi_hook_name(PFB_CPI_LABEL_START), "label_start");
    cr_expect_str_eq(pfb_cpi_hook_name(PFB_CPI_SUMMARY_HOOK), "summary");
    cr_expect_str_eq(pfb_cpi_hook_name(PFB_CPI_SYSTEM_HOOK), "system");
    cr_expect_str_eq(pfb_cpi_hook_name(PFB_CPI_PROCESSORS_HOOK), "processors");
    cr_expect_str_eq(pfb_cpi_hook_name(PFB_CPI_THREAD_HOOK), "thread");
    cr_expect_str_eq(pfb_cpi_hook_name(PFB_CPI_LABEL_END), "label_end");
    cr_expect_str_eq(pfb_cpi_hook_name(PFB_CPI_HOOK_COUNT), "unknown_hook");
    cr_expect_str_eq(pfb_cpi_warning_name(PFB_CPI_WARN_FIGURE), "figure_mismatch");
    cr_expect_str_eq(pfb_cpi_warning_name(PFB_CPI_WARN_NO_THREAD), "missing_thread_hook");
    cr_expect_str_eq(pfb_cpi_warning_name(PFB_CPI_WARN_STAMP), "stamp_descends");
    cr_expect_str_eq(pfb_cpi_warning_name(PFB_CPI_WARNING_COUNT), "unknown_warning");
}
