/* SPDX-License-Identifier: MIT */
/* CPI hooks: grouping of hooks, warnings, and limits. */
#include "support_cpi.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

/* ---- The grammar --------------------------------------------------------------------------------------- */

/* L label start, S summary, Y system, P processors, T thread, F label end. */
static const char letters[] = "LSYPTF";
static const char *const sentences[] = {"LSF", "LYPF", "LYPTF", "LSYPF", "LSYPTF", "LTF",
                                        "S",   "YP",   "YPT",   "SYP",   "SYPT",   "T"};

static void put_letter(bytes *b, char letter, uint32_t minor, uint32_t elapsed)
{
    switch (letter) {
    case 'L':
    case 'F':
        put_label(b, minor, elapsed, "x", letter == 'F');
        break;
    case 'S':
        put_summary(b, minor, elapsed, 5, 1);
        break;
    case 'Y':
        put_system(b, minor, elapsed, 1, 1, 1);
        break;
    case 'P':
        put_processors(b, minor, elapsed, 1, 1, 1);
        break;
    default:
        put_thread(b, minor, elapsed);
        break;
    }
}

/* Returns the length of the longest prefix of a text that is the beginning of a sentence of the grammar, and whether
 * this prefix is a whole sentence. */
static size_t longest_beginning(const char *text, bool *is_sentence)
{
    size_t longest = 0;
    *is_sentence = false;
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        size_t same = 0;
        while (text[same] != '\0' && text[same] == sentences[i][same])
            same++;
        bool is_whole = sentences[i][same] == '\0';
        if (same > longest)
            *is_sentence = false;
        longest = same > longest ? same : longest;
        *is_sentence = *is_sentence || (is_whole && same == longest && same > 0);
    }
    return longest;
}

static void check_text(const char *text)
{
    bytes b = {.size = 0};
    size_t starts[16];
    for (size_t i = 0; text[i] != '\0'; i++) {
        starts[i] = b.size;
        put_letter(&b, text[i], 1, 10);
    }
    starts[strlen(text)] = b.size;
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
    size_t at = 0;
    bool is_sentence = true;
    while (text[at] != '\0') {
        size_t length = longest_beginning(text + at, &is_sentence);
        if (!is_sentence) {
            at += length;
            break;
        }
        cr_assert(pfb_cpi_hooks_next(&hooks, &group), "%s: no group at %zu", text, at);
        cr_expect(group.offset == starts[at] && group.end_offset == starts[at + length], "%s: group at %zu", text, at);
        at += length;
    }
    cr_assert_not(pfb_cpi_hooks_next(&hooks, &group), "%s", text);
    pfb_code code = is_sentence ? PFB_OK : text[at] == '\0' ? PFB_UNTERMINATED_GROUP : PFB_BAD_ORDER;
    expect_error(hooks.error, code, code == PFB_OK ? 0 : starts[at], text);
}

/* Tests every text of up to six letters. All hooks have the same minor code and elapsed cycles. */
Test(cpi_hooks_groups, groups_follow_the_grammar)
{
    size_t count = 1;
    for (size_t length = 1; length <= 6; length++) {
        count *= 6;
        for (size_t number = 0; number < count; number++) {
            char text[8] = "";
            size_t rest = number;
            for (size_t i = 0; i < length; i++, rest /= 6)
                text[i] = letters[rest % 6];
            check_text(text);
        }
    }
}

/* Without labels, a Y or T with another minor code or other elapsed cycles begins a new group. The `ends` of a row are
 * the positions in its text at which groups end. */
Test(cpi_hooks_groups, unlabelled_hooks_with_different_values_are_separate_groups)
{
    static const struct {
        const char *text, *minors, *elapsed;
        size_t ends[5]; /* 0 after the last */
    } rows[] = {
        {"SYPT", "1111", "1111", {4}},    {"SYPT", "1222", "1111", {1, 4}}, {"SYPT", "1111", "1222", {1, 4}},
        {"SYPT", "1112", "1111", {3, 4}}, {"SYPT", "1111", "1112", {3, 4}}, {"YPT", "112", "111", {2, 3}},
        {"YPYP", "1111", "1111", {2, 4}}, {"TT", "11", "11", {1, 2}},       {"SS", "11", "11", {1, 2}},
        {"ST", "11", "11", {1, 2}},       {"TYP", "111", "111", {1, 3}},    {"SLTF", "1111", "1111", {1, 4}},
        {"LTFT", "1111", "1111", {3, 4}}, {"SLTF", "1222", "1222", {1, 4}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes b = {.size = 0};
        size_t ends[8];
        for (size_t j = 0; rows[i].text[j] != '\0'; j++) {
            put_letter(&b, rows[i].text[j], (uint32_t)(rows[i].minors[j] - '0'), (uint32_t)(rows[i].elapsed[j] - '0'));
            ends[j + 1] = b.size;
        }
        pfb_cpi_hooks hooks;
        pfb_cpi_group group;
        pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
        for (size_t j = 0; rows[i].ends[j] != 0; j++) {
            cr_assert(pfb_cpi_hooks_next(&hooks, &group), "%s, row %zu", rows[i].text, i);
            cr_expect_eq(group.end_offset, ends[rows[i].ends[j]], "%s, row %zu", rows[i].text, i);
        }
        cr_expect(!pfb_cpi_hooks_next(&hooks, &group) && hooks.error.code == PFB_OK, "%s, row %zu", rows[i].text, i);
    }
}

/* Records with other major codes are skipped at any position and with any content. */
Test(cpi_hooks_groups, other_majors_are_skipped)
{
    bytes b = {.size = 0};
    for (const char *letter = "LSYPTF"; *letter != '\0'; letter++) {
        PUT_U32(&b, 0x00120013, 0x30000100, 5, 0xFFFFFFFF); /* type 3, an unknown kind */
        put_letter(&b, *letter, 1, 10);
    }
    PUT_U32(&b, 0x00FF000C, 0, 0);
    pfb_cpi_hooks hooks;
    pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
    expect_error(pfb_cpi_hooks_finish(&hooks), PFB_OK, 0, "records of other major codes");
    cr_expect(hooks.group_count == 1 && hooks.skipped_count == 7 && hooks.record_count == 13);
}

/* ---- Warnings ------------------------------------------------------------------------------------------ */

static void expect_warned(const bytes *b, pfb_cpi_warning which, uint32_t count, size_t offset, const char *what)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, b->data, b->size, NULL);
    cr_assert(pfb_cpi_hooks_next(&hooks, &group), "%s", what);
    for (unsigned i = 0; i < PFB_CPI_WARNING_COUNT; i++)
        cr_expect_eq(group.warnings[i].count, i == which ? count : 0, "%s: %u of %s", what, group.warnings[i].count,
                     pfb_cpi_warning_name((pfb_cpi_warning)i));
    if (count > 0)
        cr_expect_eq(group.warnings[which].offset, offset, "%s: %zu", what, group.warnings[which].offset);
    expect_error(pfb_cpi_hooks_finish(&hooks), PFB_OK, 0, what);
}

/* In the second example, the figure 1.3333, which is 4 / 3, occurs twice, and 1.3125 once. */
Test(cpi_hooks_groups, figures_that_contradict_their_counters_are_warnings)
{
    static const struct {
        uint32_t fraction_word, fraction;
        size_t offset; /* 0: no warning */
    } rows[] = {
        {20, 0x0D04, 0},   {20, 0x0D06, 0}, {20, 0x0D03, 76}, {20, 0x0D07, 76},  {33, 0x0D04, 0},   {33, 0x0D03, 128},
        {33, 0x0D07, 128}, {45, 0x0C36, 0}, {45, 0x0C34, 0},  {45, 0x0C37, 176}, {45, 0x0C33, 176},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes b = example(2);
        set_u32(&b, (size_t)4 * rows[i].fraction_word, rows[i].fraction);
        char what[60];
        snprintf(what, sizeof what, "word %zu is %x", (size_t)rows[i].fraction_word, (unsigned)rows[i].fraction);
        expect_warned(&b, PFB_CPI_WARN_FIGURE, rows[i].offset != 0, rows[i].offset, what);
    }
    bytes b = example(2);
    set_u32(&b, 76, UINT32_MAX);
    set_u32(&b, 80, UINT32_MAX);
    expect_warned(&b, PFB_CPI_WARN_FIGURE, 1, 76, "an undefined figure although there are instructions");
    b = example(3); /* CPU 1 has no instructions */
    set_u32(&b, 4 * 83, 0);
    set_u32(&b, 4 * 84, 0);
    expect_warned(&b, PFB_CPI_WARN_FIGURE, 1, 4 * 83, "a defined figure although there are no instructions");
    b = example(3); /* scaled figures of CPU 0 and of the system */
    set_u32(&b, 4 * 75, 2);
    set_u32(&b, 4 * 57, 0x1386);
    expect_warned(&b, PFB_CPI_WARN_FIGURE, 2, 4 * 56, "changed scaled figures");
}

Test(cpi_hooks_groups, a_thread_bit_without_a_thread_hook_is_a_warning)
{
    bytes b = {.size = 0};
    put_summary(&b, 1, 10, 5, 1);
    expect_warned(&b, PFB_CPI_WARN_NO_THREAD, 0, 0, "a summary without other hooks");
    put_detailed(&b, 1, 10, 1, 1);
    expect_warned(&b, PFB_CPI_WARN_NO_THREAD, 1, 12, "detailed hooks without a thread hook");
    size_t end = b.size;
    put_thread(&b, 1, 10);
    expect_warned(&b, PFB_CPI_WARN_NO_THREAD, 0, 0, "detailed hooks with a thread hook");
    b.size = end;
    set_u32(&b, 4, 0x10000002); /* now the summary is a separate group */
    expect_warned(&b, PFB_CPI_WARN_NO_THREAD, 0, 0, "detailed hooks in another group than the summary");
}

Test(cpi_hooks_groups, descending_time_stamps_are_warnings)
{
    bytes b = {.size = 0};
    size_t system = 0;
    put_summary(&b, 1, 10, 1, 1);
    system = b.size;
    put_detailed(&b, 1, 10, 1, 1);
    size_t processors = system + 48;
    set_u32(&b, 8, 5);
    set_u32(&b, system + 8, 5);
    set_u32(&b, processors + 8, 6);
    expect_warned(&b, PFB_CPI_WARN_STAMP, 0, 0, "equal and ascending time stamps");
    set_u32(&b, system + 8, 4);
    expect_warned(&b, PFB_CPI_WARN_STAMP, 1, system + 8, "a time stamp that descends inside a group");
    set_u32(&b, processors + 8, 3);
    expect_warned(&b, PFB_CPI_WARN_STAMP, 2, system + 8, "two time stamps that descend");
    set_u32(&b, system + 8, 0);
    expect_warned(&b, PFB_CPI_WARN_STAMP, 1, processors + 8, "a time stamp that descends after a hook without one");
    set_u32(&b, processors + 8, 5);
    expect_warned(&b, PFB_CPI_WARN_STAMP, 0, 0, "equal time stamps around a hook without one");

    b = example(1);
    bytes second = example(1);
    set_u32(&b, 8, 9);
    set_u32(&second, 8, 8);
    put_raw(&b, second.data, second.size);
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
    cr_expect(pfb_cpi_hooks_next(&hooks, &group) && group.warnings[PFB_CPI_WARN_STAMP].count == 0);
    cr_expect(pfb_cpi_hooks_next(&hooks, &group) && group.warnings[PFB_CPI_WARN_STAMP].count == 1);
    cr_expect_eq(group.warnings[PFB_CPI_WARN_STAMP].offset, 108);
}

/* Figures exist for each CPU of the summary hook and for the system, but not for numbers past the last CPU. */
Test(cpi_hooks_groups, figures_of_cpus_past_the_last_do_not_exist)
{
    bytes b = example(1);
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_stored stored;
    pfb_cpi_hooks_open(&hooks, b.data, b.size, NULL);
    cr_assert(pfb_cpi_hooks_next(&hooks, &group));
    const pfb_cpi_hook *summary = &group.hooks[PFB_CPI_SUMMARY_HOOK];
    cr_assert(summary->is_present && summary->cpu_count > 0);
    cr_expect(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, PFB_CPI_OF_SYSTEM, &stored));
    for (uint32_t cpu = 0; cpu < summary->cpu_count + 3; cpu++)
        cr_expect_eq(pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_SUMMARY_HOOK, cpu, &stored), cpu < summary->cpu_count,
                     "CPU %u", cpu);
}

/* ---- Limits -------------------------------------------------------------------------------------------- */

static void expect_limit(const bytes *b, pfb_cpi_limits limits, uint64_t groups, pfb_code code, size_t offset)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_hooks_open(&hooks, b->data, b->size, &limits);
    char what[100];
    snprintf(what, sizeof what, "at most %llu bytes, %llu records, %llu groups", (unsigned long long)limits.bytes,
             (unsigned long long)limits.records, (unsigned long long)limits.groups);
    expect_error(pfb_cpi_hooks_finish(&hooks), code, offset, what);
    cr_expect_eq(hooks.group_count, groups, "%s", what);
}

/* The stream has example 2 at offset 0 (five records), example 1 at 220 (one record), and example 3 at 320 (six
 * records). */
Test(cpi_hooks_groups, limits_of_the_caller_are_checked)
{
    bytes b = example(2);
    bytes one = example(1);
    bytes three = example(3);
    put_raw(&b, one.data, one.size);
    put_raw(&b, three.data, three.size);
    const size_t end = 816;
    expect_limit(&b, (pfb_cpi_limits){0, 0, 0}, 3, PFB_OK, 0);
    expect_limit(&b, (pfb_cpi_limits){end, 12, 3}, 3, PFB_OK, 0);
    expect_limit(&b, (pfb_cpi_limits){end - 1, 0, 0}, 2, PFB_CALLER_LIMIT, end - 36);
    expect_limit(&b, (pfb_cpi_limits){220, 0, 0}, 1, PFB_CALLER_LIMIT, 220);
    expect_limit(&b, (pfb_cpi_limits){1, 0, 0}, 0, PFB_CALLER_LIMIT, 0);
    expect_limit(&b, (pfb_cpi_limits){0, 11, 0}, 2, PFB_CALLER_LIMIT, end - 36);
    expect_limit(&b, (pfb_cpi_limits){0, 6, 0}, 2, PFB_CALLER_LIMIT, 320);
    expect_limit(&b, (pfb_cpi_limits){0, 4, 0}, 0, PFB_CALLER_LIMIT, 184);
    expect_limit(&b, (pfb_cpi_limits){0, 0, 2}, 2, PFB_CALLER_LIMIT, 320);
    expect_limit(&b, (pfb_cpi_limits){0, 0, 1}, 1, PFB_CALLER_LIMIT, 220);
    bytes other_majors = {.size = 0};
    for (int i = 0; i < 5; i++)
        PUT_U32(&other_majors, 0x0012000C, 0, 0);
    expect_limit(&other_majors, (pfb_cpi_limits){0, 4, 1}, 0, PFB_CALLER_LIMIT, 48);
    expect_limit(&other_majors, (pfb_cpi_limits){0, 5, 1}, 0, PFB_OK, 0);
}
