/* SPDX-License-Identifier: MIT */
/* Texts of CPI snapshots: reading and writing. */
#include "support.h"

#include <criterion/criterion.h>

#include "perfblock/cpi/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading ------------------------------------------------------------------------------------------- */

static pfb_cpi_cpu cpus[PFB_CPI_CPU_LIMIT + 1];
static size_t offsets[PFB_CPI_CPU_LIMIT + 1];

/* The contents of a text: the widths, then "line:clock" for each snapshot, "[cpu instr cycles]" or "[cpu instr cycles
 * busy elapsed]", "(tid instr cycles)" or "(tid instr cycles user)", and "line!code=sentence" for each refusal. */
typedef struct parsed {
    char text[2048];
    size_t size;
    pfb_error error;
    uint32_t lines;
} parsed;

#define APPEND(t, ...) ((t)->size += (size_t)snprintf((t)->text + (t)->size, sizeof(t)->text - (t)->size, __VA_ARGS__))

static void append_snapshot(parsed *t, const pfb_cpi_step *step)
{
    const pfb_cpi_snapshot *s = &step->snapshot;
    APPEND(t, "%" PRIu32 ":%" PRIu64, step->line, s->clock);
    for (size_t i = 0; i < s->cpu_count; i++) {
        const pfb_cpi_cpu *c = &s->cpus[i];
        APPEND(t, "[%" PRIu32 " %" PRIu64 " %" PRIu64, c->cpu, c->instr, c->cycles);
        if (step->has_busy)
            APPEND(t, " %" PRIu64 " %" PRIu64, c->busy, c->elapsed);
        else
            cr_expect(c->busy == 0 && c->elapsed == 0);
        APPEND(t, "]");
    }
    if (s->has_thread)
        APPEND(t, "(%" PRIu32 " %" PRIu64 " %" PRIu64 "%s)", s->thread.tid, s->thread.instr, s->thread.cycles,
               step->is_user_only ? " user" : "");
    else
        cr_expect(!step->is_user_only && step->thread_offset == 0);
}

static void read_all(const char *input, size_t size, size_t capacity, parsed *t)
{
    pfb_cpi_text text;
    pfb_cpi_step step;
    char *data = malloc(size > 0 ? size : 1); /* of exactly this size */
    cr_assert_not_null(data);
    memcpy(data, input, size);
    *t = (parsed){.size = 0};
    if (pfb_cpi_text_open(&text, data, size))
        APPEND(t, "%" PRIu32 "/%" PRIu32 " ", text.widths.instr, text.widths.cycles);
    text.cpu_offsets = offsets;
    while (pfb_cpi_text_next(&text, cpus, capacity, &step)) {
        if (step.is_refusal)
            APPEND(t, "%" PRIu32 "!%" PRId32 "=%.*s", step.line, step.code, (int)step.sentence_size_bytes,
                   data + step.sentence_offset);
        else
            append_snapshot(t, &step);
        APPEND(t, ";");
    }
    t->error = text.error;
    t->lines = text.lines;
    cr_expect_not(pfb_cpi_text_next(&text, cpus, capacity, &step), "a step is returned after the end");
    cr_expect_eq(text.error.code, t->error.code);
    free(data);
}

static void expect_parsed(const char *text, const char *expected)
{
    parsed t;
    read_all(text, strlen(text), PFB_CPI_CPU_LIMIT, &t);
    cr_expect_str_eq(t.text, expected, "%s\ngave %s", text, t.text);
    expect_error(t.error, PFB_OK, 0, text);
}

#define HEAD "cpi-snapshots 1\n"

/* ---- The worked examples ------------------------------------------------------------------------------- */

static const char first_example[] = HEAD "snapshot 1000\n"
                                         "cpu 0 0 1000 0 1000\n"
                                         "cpu 1 5000 1000 0 1000\n"
                                         "snapshot 3001000\n"
                                         "cpu 0 1500000 3001000 2250000 3001000\n"
                                         "cpu 1 3005120 3001000 600000 3001000\n";
static const char second_example[] = HEAD "snapshot 68719476736\n"
                                          "cpu 0 7000000000 68719476736\n"
                                          "thread 4242 100 200\n"
                                          "snapshot 80719476737\n"
                                          "cpu 0 16000000000 80719476737\n"
                                          "thread 4242 8000000100 10500000200\n";
static const char third_example[] = HEAD "widths 40 64\n"
                                         "snapshot 500\n"
                                         "cpu 0 1099511626776 10 0 0\n"
                                         "cpu 1 777 10 5 0\n"
                                         "cpu 3 1 1 1 1\n"
                                         "thread 900 0 0\n"
                                         "snapshot 8500\n"
                                         "cpu 0 3000 8010 6000 8000\n"
                                         "cpu 1 777 8010 5 8000\n"
                                         "thread 900 3200 4801\n";

Test(cpi_text, worked_examples_are_read)
{
    expect_parsed(first_example, "64/64 2:1000[0 0 1000 0 1000][1 5000 1000 0 1000];"
                                 "5:3001000[0 1500000 3001000 2250000 3001000][1 3005120 3001000 600000 3001000];");
    expect_parsed(second_example, "64/64 2:68719476736[0 7000000000 68719476736](4242 100 200);"
                                  "5:80719476737[0 16000000000 80719476737](4242 8000000100 10500000200);");
    expect_parsed(third_example, "40/64 3:500[0 1099511626776 10 0 0][1 777 10 5 0][3 1 1 1 1](900 0 0);"
                                 "8:8500[0 3000 8010 6000 8000][1 777 8010 5 8000](900 3200 4801);");
}

/* Reads two snapshots and computes the figures of their interval. */
static pfb_cpi_verdict compute(const char *input, uint32_t mode, pfb_cpi_figures *figures, pfb_cpi_result *result)
{
    static pfb_cpi_cpu ends[8];
    pfb_cpi_text text;
    pfb_cpi_step start;
    pfb_cpi_step end;
    cr_assert(pfb_cpi_text_open(&text, input, strlen(input)));
    cr_assert(pfb_cpi_text_next(&text, cpus, 8, &start) && pfb_cpi_text_next(&text, ends, 8, &end));
    return pfb_cpi_compute(&start.snapshot, &end.snapshot, &text.widths, mode, figures, result);
}

Test(cpi_text, worked_examples_have_their_figures)
{
    pfb_cpi_figures figures[3];
    pfb_cpi_result result;
    cr_assert_eq(compute(first_example, PFB_CPI_SCALED, figures, &result), PFB_CPI_COMPUTED);
    cr_expect(result.elapsed_cycles == 3000000 && result.system.cycles == 6000000 && result.system.instr == 4500120);
    cr_expect(figures[0].raw_cpi == 2.0 && figures[0].scaled_cpi == 1.5 && figures[0].busy_percent == 75.0);
    cr_assert_eq(compute(second_example, PFB_CPI_ON_THREAD, figures, &result), PFB_CPI_COMPUTED);
    cr_expect(result.thread.raw_cpi == 1.3125 && result.tid == 4242 && result.elapsed_cycles == 12000000001);
    cr_assert_eq(compute(third_example, PFB_CPI_SCALED | PFB_CPI_ON_THREAD, figures, &result), PFB_CPI_COMPUTED);
    cr_expect(figures[0].status == PFB_CPI_WRAPPED && figures[0].instr == 4000);
    cr_expect(figures[1].status == PFB_CPI_NO_INSTR && figures[2].status == PFB_CPI_OFFLINE);
    cr_expect(result.system.raw_cpi == 4.0 && result.system.busy_percent == 37.5 && result.cpus_changed);
}

/* ---- Valid texts --------------------------------------------------------------------------------------- */

Test(cpi_text, valid_texts_are_read)
{
    static const struct {
        const char *text, *parsed;
    } rows[] = {
        {HEAD, "64/64 "},
        {"cpi-snapshots\t01 \n", "64/64 "},
        {"\xEF\xBB\xBF" HEAD "snapshot 1\n", "64/64 2:1;"},
        {"cpi-snapshots 1\r\nwidths 1 64\r\nsnapshot 2\r\ncpu 1 2 3\r\nrefuse -5 no\r\n", "1/64 3:2[1 2 3];5!-5=no;"},
        {HEAD "\n \t\n# what\nwidths 64 1\n#\nsnapshot 1\n\n  # cpu 0 1 2\n\tcpu \t0  1\t2 \n\n", "64/1 7:1[0 1 2];"},
        {HEAD "snapshot 0\nsnapshot 0\nsnapshot 18446744073709551615\n", "64/64 2:0;3:0;4:18446744073709551615;"},
        {HEAD "snapshot 1\ncpu 4294967295 18446744073709551615 0 18446744073709551615 0\n",
         "64/64 2:1[4294967295 18446744073709551615 0 18446744073709551615 0];"},
        {HEAD "snapshot 1\nthread 4294967295 18446744073709551615 1 user\ncpu 0 0 0\n",
         "64/64 2:1[0 0 0](4294967295 18446744073709551615 1 user);"},
        {HEAD "snapshot 1\ncpu 007 00000000000000000000000000000000008 0\n", "64/64 2:1[7 8 0];"},
        {HEAD "refuse -234 instructions, ENOENT\n", "64/64 2!-234=instructions, ENOENT;"},
        {HEAD "refuse 7\nrefuse -1 \t a  b\t \nrefuse -2147483648 5 x\nrefuse 2147483647 # no remark\n",
         "64/64 2!7=;3!-1=a  b;4!-2147483648=5 x;5!2147483647=# no remark;"},
        {HEAD "snapshot 9\ncpu 1 2 3\nrefuse -1 x\nsnapshot 8\nthread 1 2 3\n", "64/64 2:9[1 2 3];4!-1=x;5:8(1 2 3);"},
        {HEAD "snapshot 1\ncpu 0 1 2\nsnapshot 2\ncpu 0 1 2 3 4\n", "64/64 2:1[0 1 2];4:2[0 1 2 3 4];"},
        {HEAD "snapshot 1\n# the last line says nothing", "64/64 2:1;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_parsed(rows[i].text, rows[i].parsed);
}

Test(cpi_text, lines_have_their_offsets)
{
    static const char input[] = HEAD "# x\n  snapshot 5\n\ncpu 1 2 3\n cpu 2 3 4\nthread 1 2 3\nrefuse -5  why\n";
    pfb_cpi_text text;
    pfb_cpi_step step;
    cr_assert(pfb_cpi_text_open(&text, input, sizeof input - 1));
    cr_expect_null(text.cpu_offsets);
    text.cpu_offsets = offsets;
    cr_assert(pfb_cpi_text_next(&text, cpus, 2, &step));
    cr_expect(step.offset == 20 && step.line == 3 && step.snapshot.cpu_count == 2 && step.snapshot.cpus == cpus);
    cr_expect(offsets[0] == 34 && offsets[1] == 44 && step.thread_offset == 55,
              "the offset of a line includes its leading blanks");
    cr_assert(pfb_cpi_text_next(&text, cpus, 0, &step));
    cr_expect(step.offset == 68 && step.line == 8 && step.sentence_offset == 79 && step.sentence_size_bytes == 3);
    cr_expect_not(pfb_cpi_text_next(&text, cpus, 0, &step));
    cr_expect(text.error.code == PFB_OK && text.lines == 8);
}

/* ---- Invalid texts ------------------------------------------------------------------------------------- */

Test(cpi_text, the_first_line_is_checked)
{
    static const struct {
        const char *text;
        pfb_code code;
        bool is_recognised; /* return value of pfb_cpi_text_recognise */
    } rows[] = {
        {"", PFB_UNKNOWN_FORMAT, false},
        {"\n" HEAD, PFB_UNKNOWN_FORMAT, false},
        {" " HEAD, PFB_UNKNOWN_FORMAT, false},
        {"# x\n" HEAD, PFB_UNKNOWN_FORMAT, false},
        {"cpi-snapshot 1\n", PFB_UNKNOWN_FORMAT, false},
        {"cpi-snapshots1\n", PFB_UNKNOWN_FORMAT, false},
        {"CPI-SNAPSHOTS 1\n", PFB_UNKNOWN_FORMAT, false},
        {"cpi-snapshots", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots\n", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots \r\n", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots 1", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots x\n", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots -1\n", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots 0\n", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots 1 2\n", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots 1.0\n", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots 18446744073709551616\n", PFB_BAD_CPI_LINE, true},
        {"cpi-snapshots 2\n", PFB_UNREAD_FORMAT, true},
        {"cpi-snapshots 18446744073709551615 and more\n", PFB_UNREAD_FORMAT, true},
    };
    parsed t;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        read_all(rows[i].text, strlen(rows[i].text), 0, &t);
        expect_error(t.error, rows[i].code, 0, rows[i].text);
        cr_expect_str_eq(t.text, "", "%s", rows[i].text);
        cr_expect_eq(pfb_cpi_text_recognise(rows[i].text, strlen(rows[i].text)), rows[i].is_recognised, "%s",
                     rows[i].text);
    }
    cr_expect_not(pfb_cpi_text_recognise(NULL, 20));
    cr_expect(pfb_cpi_text_recognise("cpi-snapshots", 13) && !pfb_cpi_text_recognise("cpi-snapshots", 12));
    cr_expect(pfb_cpi_text_recognise("\xEF\xBB\xBF" HEAD, 19));
}

/* Each malformed line, and the contents that are read before it. */
Test(cpi_text, malformed_lines_are_errors)
{
    static const struct {
        const char *before, *line, *parsed;
    } rows[] = {
        {HEAD, "widths 0 64\n", ""},
        {HEAD, "widths 64 0\n", ""},
        {HEAD, "widths 65 64\n", ""},
        {HEAD, "widths 64 65\n", ""},
        {HEAD, "widths 64\n", ""},
        {HEAD, "widths 64 64 64\n", ""},
        {HEAD, "widths 4294967297 64\n", ""},
        {HEAD "widths 64 64\n", "widths 64 64\n", "64/64 "},
        {HEAD "snapshot 1\n", "widths 64 64\n", "64/64 "},
        {HEAD, "cpu 0 1 2\n", "64/64 "},
        {HEAD, "thread 0 1 2\n", "64/64 "},
        {HEAD "refuse -1 x\n", "cpu 0 1 2\n", "64/64 2!-1=x;"},
        {HEAD "refuse -1 x\n", "thread 0 1 2\n", "64/64 2!-1=x;"},
        {HEAD, "snapshot\n", "64/64 "},
        {HEAD, "snapshot x\n", "64/64 "},
        {HEAD, "snapshot -1\n", "64/64 "},
        {HEAD, "snapshot +1\n", "64/64 "},
        {HEAD, "snapshot 0x1\n", "64/64 "},
        {HEAD, "snapshot 1.5\n", "64/64 "},
        {HEAD, "snapshot 18446744073709551616\n", "64/64 "},
        {HEAD, "snapshot 28446744073709551615\n", "64/64 "},
        {HEAD, "snapshot 100000000000000000000\n", "64/64 "},
        {HEAD, "snapshot 1 2\n", "64/64 "},
        {HEAD, "snapshot1\n", "64/64 "},
        {HEAD, "Snapshot 1\n", "64/64 "},
        {HEAD, "snapshots 1\n", "64/64 "},
        {HEAD, "hello\n", "64/64 "},
        {HEAD, HEAD, "64/64 "},
        {HEAD "snapshot 1\n", "cpu\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1 2 3\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1 2 3 4 5\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1 2 x\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1 2x\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1 2 # x\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 4294967296 1 2\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 18446744073709551616 2\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1 18446744073709551616\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1 2 18446744073709551616 4\n", "64/64 "},
        {HEAD "snapshot 1\n", "cpu 0 1 2 3 18446744073709551616\n", "64/64 "},
        {HEAD "snapshot 1\ncpu 5 1 2\n", "cpu 5 1 2\n", "64/64 "},
        {HEAD "snapshot 1\ncpu 5 1 2\n", "cpu 4 1 2\n", "64/64 "},
        {HEAD "snapshot 1\ncpu 5 1 2\n", "cpu 6 1 2 3 4\n", "64/64 "},
        {HEAD "snapshot 1\ncpu 5 1 2 3 4\n", "cpu 6 1 2\n", "64/64 "},
        {HEAD "snapshot 1\n", "thread 1 2\n", "64/64 "},
        {HEAD "snapshot 1\n", "thread 1 2 3 4\n", "64/64 "},
        {HEAD "snapshot 1\n", "thread 1 2 3 users\n", "64/64 "},
        {HEAD "snapshot 1\n", "thread 1 2 3 user user\n", "64/64 "},
        {HEAD "snapshot 1\n", "thread 4294967296 2 3\n", "64/64 "},
        {HEAD "snapshot 1\n", "thread 1 18446744073709551616 3\n", "64/64 "},
        {HEAD "snapshot 1\n", "thread 1 2 18446744073709551616\n", "64/64 "},
        {HEAD "snapshot 1\nthread 1 2 3\ncpu 1 1 1\n", "thread 1 2 3\n", "64/64 "},
        {HEAD "snapshot 1\nsnapshot 2\n", "cup 1 2 3\n", "64/64 2:1;"},
        {HEAD, "refuse\n", "64/64 "},
        {HEAD, "refuse 0 x\n", "64/64 "},
        {HEAD, "refuse -0 x\n", "64/64 "},
        {HEAD, "refuse - 5 x\n", "64/64 "},
        {HEAD, "refuse --5 x\n", "64/64 "},
        {HEAD, "refuse -5x\n", "64/64 "},
        {HEAD, "refuse x\n", "64/64 "},
        {HEAD, "refuse 2147483648 x\n", "64/64 "},
        {HEAD, "refuse -2147483649 x\n", "64/64 "},
        {HEAD, "refuse -5 a\rb\n", "64/64 "},
        {HEAD, "snapshot 50", ""}, /* may be a truncated number; detected while the reader looks for a widths line */
        {HEAD "snapshot 50\n", "cpu 0 1 2", "64/64 "},
        {HEAD "refuse -5 x\n", "refuse -5 y", "64/64 2!-5=x;"},
        {HEAD, "widths 64 6", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[400];
        parsed t;
        bool is_cut = strchr(rows[i].line, '\n') == NULL;
        int size = snprintf(text, sizeof text, "%s%s%s", rows[i].before, rows[i].line, is_cut ? "" : "snapshot 77\n");
        read_all(text, (size_t)size, PFB_CPI_CPU_LIMIT, &t);
        cr_expect_str_eq(t.text, rows[i].parsed, "%s gave %s", text, t.text);
        expect_error(t.error, PFB_BAD_CPI_LINE, strlen(rows[i].before), text);
    }
    parsed t;
    read_all(HEAD "refuse -5 a\0b\n", sizeof HEAD + 13, 0, &t);
    expect_error(t.error, PFB_BAD_CPI_LINE, sizeof HEAD - 1, "a NUL in a sentence");
}

/* The maximum number of CPUs, one CPU more, and smaller capacities. */
Test(cpi_text, the_number_of_cpus_is_limited)
{
    static char text[40 * (PFB_CPI_CPU_LIMIT + 2)];
    pfb_cpi_text reader;
    pfb_cpi_step step;
    size_t ends[PFB_CPI_CPU_LIMIT + 2] = {(size_t)snprintf(text, sizeof text, HEAD "snapshot 1\n")};
    for (size_t i = 0; i <= PFB_CPI_CPU_LIMIT; i++)
        ends[i + 1] = ends[i] + (size_t)snprintf(text + ends[i], sizeof text - ends[i], "cpu %zu 1 2\n", 3 * i);
    cr_assert(pfb_cpi_text_open(&reader, text, ends[PFB_CPI_CPU_LIMIT]));
    cr_assert(pfb_cpi_text_next(&reader, cpus, PFB_CPI_CPU_LIMIT, &step));
    cr_expect(step.snapshot.cpu_count == PFB_CPI_CPU_LIMIT && cpus[PFB_CPI_CPU_LIMIT - 1].cpu == 3069);
    cr_assert(pfb_cpi_text_open(&reader, text, ends[PFB_CPI_CPU_LIMIT + 1]));
    cr_expect_not(pfb_cpi_text_next(&reader, cpus, PFB_CPI_CPU_LIMIT + 1, &step));
    expect_error(reader.error, PFB_BAD_CPI_LINE, ends[PFB_CPI_CPU_LIMIT], "one CPU more than the maximum");
    for (size_t capacity = 0; capacity < PFB_CPI_CPU_LIMIT; capacity += 93) {
        pfb_cpi_cpu few[PFB_CPI_CPU_LIMIT] = {{0}};
        cr_assert(pfb_cpi_text_open(&reader, text, ends[PFB_CPI_CPU_LIMIT]));
        cr_expect_not(pfb_cpi_text_next(&reader, capacity > 0 ? few : NULL, capacity, &step));
        expect_error(reader.error, PFB_CALLER_TOO_SMALL, ends[capacity], "the first CPU above the capacity");
        cr_expect_eq(few[capacity].instr, 0, "nothing is written past the capacity");
    }
}

/* Every prefix with the whole first line: complete lines are read, and a truncated line is an error. */
Test(cpi_text, every_prefix_of_a_text_is_read)
{
    size_t steps = 0;
    for (size_t size = sizeof HEAD - 1; size < sizeof third_example; size++) {
        parsed t;
        read_all(third_example, size, PFB_CPI_CPU_LIMIT, &t);
        bool is_whole = third_example[size - 1] == '\n';
        size_t line = size;
        while (third_example[line - 1] != '\n')
            line--;
        expect_error(t.error, is_whole ? PFB_OK : PFB_BAD_CPI_LINE, is_whole ? 0 : line, t.text);
        size_t count = 0;
        for (const char *c = t.text; *c != '\0'; c++)
            count += *c == ';';
        cr_expect(count <= 2 && count + 1 >= steps, "truncated at %zu: %s", size, t.text);
        steps = count;
    }
    cr_expect_eq(steps, 2);
}

Test(cpi_text, null_data_is_not_a_text)
{
    pfb_cpi_text text;
    pfb_cpi_step step;
    cr_expect_not(pfb_cpi_text_open(&text, NULL, 100));
    expect_error(text.error, PFB_UNKNOWN_FORMAT, 0, "null data");
    cr_expect_not(pfb_cpi_text_next(&text, cpus, 1, &step));
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static void expect_written(size_t size, const char *out, const char *expected)
{
    cr_expect(size == strlen(expected) && memcmp(out, expected, size) == 0, "%.*s\ninstead of\n%s", (int)size, out,
              expected);
}

Test(cpi_text, heads_are_written_with_valid_widths)
{
    char out[64];
    pfb_cpi_widths widths = {40, 64};
    size_t size = pfb_cpi_text_write_head(&widths, out, sizeof out);
    expect_written(size, out, "cpi-snapshots 1\nwidths 40 64\n");
    static const pfb_cpi_widths wrong[] = {{0, 64}, {64, 0}, {65, 1}, {1, 65}, {UINT32_MAX, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        cr_expect_eq(pfb_cpi_text_write_head(&wrong[i], out, sizeof out), 0, "widths %u and %u", wrong[i].instr,
                     wrong[i].cycles);
}

Test(cpi_text, steps_are_written)
{
    static const pfb_cpi_cpu two[] = {{7, UINT64_MAX, 0, 10, 100}, {UINT32_MAX, 1, 2, 0, UINT64_MAX}};
    pfb_cpi_step step = {.snapshot = {.clock = UINT64_MAX, .cpus = two, .cpu_count = 2}, .has_busy = true};
    char out[256];
    expect_written(pfb_cpi_text_write_step(&step, "not asked", out, sizeof out), out,
                   "snapshot 18446744073709551615\ncpu 7 18446744073709551615 0 10 100\n"
                   "cpu 4294967295 1 2 0 18446744073709551615\n");
    step = (pfb_cpi_step){.snapshot = {.cpus = two, .cpu_count = 1, .has_thread = true, .thread = {9, 8, 7}}};
    expect_written(pfb_cpi_text_write_step(&step, NULL, out, sizeof out), out,
                   "snapshot 0\ncpu 7 18446744073709551615 0\nthread 9 8 7\n");
    step.is_user_only = true;
    step.snapshot.cpu_count = 0;
    expect_written(pfb_cpi_text_write_step(&step, NULL, out, sizeof out), out, "snapshot 0\nthread 9 8 7 user\n");
}

Test(cpi_text, a_refusal_is_written_as_one_line)
{
    static const struct {
        int32_t code;
        const char *sentence, *line;
    } rows[] = {
        {-234, "instructions, ENOENT", "refuse -234 instructions, ENOENT\n"},
        {INT32_MIN, "x", "refuse -2147483648 x\n"},
        {INT32_MAX, NULL, "refuse 2147483647\n"},
        {-1, "", "refuse -1\n"},
        {-1, " \t ", "refuse -1\n"},
        {-1, "  a\tb  \nsnapshot 1", "refuse -1 a\tb\n"},
        {-1, "a \r\nb", "refuse -1 a\n"},
        {-1, "\nb", "refuse -1\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[128];
        pfb_cpi_step step = {.is_refusal = true, .code = rows[i].code};
        expect_written(pfb_cpi_text_write_step(&step, rows[i].sentence, out, sizeof out), out, rows[i].line);
    }
}

Test(cpi_text, steps_that_cannot_be_read_back_are_not_written)
{
    static const pfb_cpi_cpu wrong[] = {{5, 1, 2, 0, 0}, {5, 1, 2, 0, 0}, {4, 1, 2, 0, 0}};
    char out[64] = "untouched";
    pfb_cpi_step step = {.is_refusal = true};
    cr_expect_eq(pfb_cpi_text_write_step(&step, "x", out, sizeof out), 0);
    step = (pfb_cpi_step){.snapshot = {.cpus = wrong, .cpu_count = 2}};
    cr_expect_eq(pfb_cpi_text_write_step(&step, NULL, out, sizeof out), 0);
    step.snapshot.cpus++;
    cr_expect_eq(pfb_cpi_text_write_step(&step, NULL, out, sizeof out), 0);
    cr_expect_str_eq(out, "untouched");
}

Test(cpi_text, the_largest_number_of_cpus_is_written)
{
    static char out[40 * (PFB_CPI_CPU_LIMIT + 2)];
    for (uint32_t i = 0; i <= PFB_CPI_CPU_LIMIT; i++)
        cpus[i] = (pfb_cpi_cpu){.cpu = i, .instr = 1, .cycles = 2};
    const pfb_cpi_step step = {.snapshot = {.clock = 5, .cpus = cpus, .cpu_count = PFB_CPI_CPU_LIMIT}};
    size_t size = pfb_cpi_text_write_step(&step, NULL, out, sizeof out);
    cr_assert(size > 0 && size < sizeof out);
    char last[40];
    int count = snprintf(last, sizeof last, "cpu %d 1 2\n", (int)PFB_CPI_CPU_LIMIT - 1);
    cr_expect_eq(memcmp(out + size - count, last, (size_t)count), 0, "the last line");
    const pfb_cpi_step more = {.snapshot = {.clock = 5, .cpus = cpus, .cpu_count = PFB_CPI_CPU_LIMIT + 1}};
    cr_expect_eq(pfb_cpi_text_write_step(&more, NULL, out, sizeof out), 0, "one CPU more");
}

Test(cpi_text, nothing_is_written_if_the_capacity_is_too_small)
{
    static const pfb_cpi_widths widths = {1, 1};
    static const pfb_cpi_step step = {.is_refusal = true, .code = -5};
    static const char line[] = "refuse -5 why\n";
    for (size_t capacity = 0; capacity <= 27; capacity++) {
        char out[40];
        memset(out, 'U', sizeof out);
        cr_expect_eq(pfb_cpi_text_write_head(&widths, out, capacity), 27);
        cr_expect_eq(out[0], capacity < 27 ? 'U' : 'c');
        memset(out, 'U', sizeof out);
        cr_expect_eq(pfb_cpi_text_write_step(&step, "why", out, capacity), sizeof line - 1);
        cr_expect_eq(out[0], capacity < sizeof line - 1 ? 'U' : 'r');
        cr_expect_eq(out[sizeof line - 1], 'U');
    }
    cr_expect_eq(pfb_cpi_text_write_step(&step, "why", NULL, 0), sizeof line - 1);
}

/* A text that is read and written again is the same, except for its first lines. */
Test(cpi_text, texts_are_written_as_they_were_read)
{
    static const char *const texts[] = {first_example, second_example, third_example,
                                        HEAD "refuse -5 why, \xC3\xA4\nsnapshot 1\nthread 1 2 3 user\nrefuse 6\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[1024];
        pfb_cpi_text text;
        pfb_cpi_step step;
        cr_assert(pfb_cpi_text_open(&text, texts[i], strlen(texts[i])));
        size_t size = pfb_cpi_text_write_head(&text.widths, out, sizeof out);
        while (pfb_cpi_text_next(&text, cpus, 8, &step)) {
            char sentence[64] = "";
            memcpy(sentence, texts[i] + step.sentence_offset, step.sentence_size_bytes);
            size += pfb_cpi_text_write_step(&step, sentence, out + size, sizeof out - size);
        }
        cr_assert_eq(text.error.code, PFB_OK);
        out[size] = '\0';
        const char *steps = strchr(strchr(out, '\n') + 1, '\n') + 1; /* after head and widths */
        const char *expected = strchr(texts[i], '\n') + 1;
        if (strncmp(expected, "widths", 6) == 0)
            expected = strchr(expected, '\n') + 1;
        cr_expect_str_eq(steps, expected);
    }
}
