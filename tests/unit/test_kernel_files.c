/* SPDX-License-Identifier: MIT */
/* Parsers of files in /proc and /sys. */
#include <criterion/criterion.h>

#include "live/linux/kernel_files.h"
#include "live/linux/kernel_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pfb_kernel_text text_of(const char *text)
{
    return (pfb_kernel_text){.text = text, .size = strlen(text)};
}

/* ---- /proc/stat ------------------------------------------------------------------------------------------ */

/* "number: the seven times;" of each returned line. */
static const char *stat_of(const char *text)
{
    static char out[1024];
    pfb_kernel_text lines = text_of(text);
    pfb_kernel_times t;
    size_t at = 0;
    out[0] = '\0';
    while (pfb_kernel_next_times(&lines, &t))
        at += (size_t)snprintf(out + at, sizeof out - at, "%u: %llu %llu %llu %llu %llu %llu %llu;", (unsigned)t.cpu,
                               (unsigned long long)t.user, (unsigned long long)t.nice, (unsigned long long)t.system,
                               (unsigned long long)t.idle, (unsigned long long)t.iowait, (unsigned long long)t.irq,
                               (unsigned long long)t.softirq);
    return out;
}

Test(kernel_files, times_are_those_of_the_cpu_lines)
{
    cr_expect_str_eq(stat_of("cpu  9 9 9 9 9 9 9 9 9 9\n"
                             "cpu0 1 2 3 4 5 6 7 8 9 10\n"
                             "cpu1 11 12 13 14 15 16 17 18 19 20\n"
                             "intr 5 5 5 5 5 5 5 5\nctxt 1\nprocs_running 2\n"),
                     "0: 1 2 3 4 5 6 7;1: 11 12 13 14 15 16 17;");
    cr_expect_str_eq(stat_of("cpu3 1 2 3 4 5 6 7\ncpu4095 0 0 0 0 0 0 1"), "3: 1 2 3 4 5 6 7;4095: 0 0 0 0 0 0 1;",
                     "sparse numbers, seven fields, no last newline");
}

Test(kernel_files, malformed_cpu_lines_are_skipped)
{
    static const char *const nothing[] = {"",
                                          "\n\n",
                                          "cpu",
                                          "cpu0",
                                          "cpu0 ",
                                          "cpu0 1 2 3 4 5 6\n", /* a time is missing */
                                          "cpu0 1 2 3 4 5 6 \n7\n",
                                          "cpu0 1 2 3 x 5 6 7\n",
                                          "cpu0 -1 2 3 4 5 6 7\n",
                                          "cpux 1 2 3 4 5 6 7\n",
                                          " cpu0 1 2 3 4 5 6 7\n",
                                          "CPU0 1 2 3 4 5 6 7\n",
                                          "cpu0x 1 2 3 4 5 6 7\n",
                                          "cpu2147483648 1 2 3 4 5 6 7\n",
                                          "cpu99999999999999999999 1 2 3 4 5 6 7\n"};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
        cr_expect_str_eq(stat_of(nothing[i]), "", "\"%s\"", nothing[i]);
    cr_expect_str_eq(stat_of("cpu1 1 1 1\ncpu2 1 2 3 4 5 6 7\n"), "2: 1 2 3 4 5 6 7;",
                     "a malformed line does not affect the next one");
    cr_expect_str_eq(stat_of("cpu2 1 2 3 4 5 6 7\ncpu2 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0\n"), "2: 1 2 3 4 5 6 7;",
                     "CPU numbers that do not ascend are skipped");
}

Test(kernel_files, times_above_64_bits_are_saturated)
{
    cr_expect_str_eq(stat_of("cpu0 18446744073709551615 18446744073709551616 99999999999999999999999 0 0 0 00000000000"
                             "00000000000000000007\n"),
                     "0: 18446744073709551615 18446744073709551615 18446744073709551615 0 0 0 7;");
}

/* ---- Lists, single numbers, names --------------------------------------------------------------------------- */

Test(kernel_files, lists_are_read_as_ranges)
{
    static const struct {
        const char *text;
        const char *ranges;
    } cases[] = {{"0-3,8\n", "0-3 8-8 "},
                 {"5", "5-5 "},
                 {"0,2,4-4094\n", "0-0 2-2 4-4094 "},
                 {"", ""},
                 {"\n", ""},
                 {"x", ""},
                 {"1-", ""},
                 {"1-x,3", ""},
                 {"1,,3", "1-1 "},
                 {"7-5", "7-5 "}, /* an empty range */
                 {"0-2147483647", "0-2147483647 "},
                 {"0-2147483648", ""},
                 {"99999999999999999999", ""},
                 {"1 2", "1-1 2-2 "}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[128] = "";
        uint32_t first;
        uint32_t last;
        pfb_kernel_text list = text_of(cases[i].text);
        while (pfb_kernel_next_range(&list, &first, &last))
            snprintf(out + strlen(out), sizeof out - strlen(out), "%u-%u ", (unsigned)first, (unsigned)last);
        cr_expect_str_eq(out, cases[i].ranges, "\"%s\"", cases[i].text);
    }
}

Test(kernel_files, a_number_must_be_the_whole_line)
{
    static const struct {
        const char *text;
        bool is_number;
        uint64_t number;
    } cases[] = {{"0\n", true, 0},
                 {"2600000\n", true, 2600000},
                 {"42", true, 42},
                 {"7 \n", true, 7},
                 {"18446744073709551616\n", true, UINT64_MAX},
                 {"", false, 0},
                 {"\n", false, 0},
                 {"<unknown>\n", false, 0},
                 {"-1\n", false, 0},
                 {" 1\n", false, 0},
                 {"1.5\n", false, 0},
                 {"12 34\n", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t number = 0;
        bool is_number = pfb_kernel_number(cases[i].text, strlen(cases[i].text), &number);
        cr_expect_eq(is_number, cases[i].is_number, "\"%s\"", cases[i].text);
        cr_expect(!is_number || number == cases[i].number, "\"%s\"", cases[i].text);
    }
}

Test(kernel_files, numbers_follow_their_keys)
{
    static const char *const keys[] = {"ctxt", "Cached:", "MemFree:"};
    static const struct {
        const char *text;
        uint32_t found;
        uint64_t numbers[3];
    } cases[] = {{"ctxt 12\nMemFree:\t 7 kB\nCached: 0", 7, {12, 0, 7}},
                 {"cpu 1\nctxt 12 13\nctxt 14\n", 1, {12, 1, 1}},
                 {"SwapCached: 5 kB\nCached 5\nCached:5\nCached: \nCached: kB\nCached: 5kB\n", 0, {1, 1, 1}},
                 {" ctxt 5\nctxts 5\nctxt\n5\nctxt", 0, {1, 1, 1}},
                 {"ctxt 5x\nctxt 6\nMemFree: 18446744073709551616 kB", 5, {6, 1, UINT64_MAX}},
                 {"", 0, {1, 1, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t numbers[3] = {1, 1, 1};
        const pfb_kernel_text text = {.text = cases[i].text, .size = strlen(cases[i].text)};
        cr_expect_eq(pfb_kernel_take_keys(text, keys, 3, numbers), cases[i].found, "case %zu", i);
        for (size_t n = 0; n < 3; n++)
            cr_expect_eq(numbers[n], cases[i].numbers[n], "case %zu, number %zu", i, n);
    }
}

Test(kernel_files, arithmetic_saturates_at_64_bits)
{
    cr_expect_eq(pfb_kernel_add(UINT64_MAX - 1, 1), UINT64_MAX);
    cr_expect_eq(pfb_kernel_add(UINT64_MAX - 1, 2), UINT64_MAX);
    cr_expect_eq(pfb_kernel_scale(7, 10000000, 3), 23333333);
    cr_expect_eq(pfb_kernel_scale(UINT64_MAX, 3, 3), UINT64_MAX);
    cr_expect_eq(pfb_kernel_scale(UINT64_MAX / 10 + 1, 10, 1), UINT64_MAX);
    cr_expect_eq(pfb_kernel_scale(UINT64_MAX / 10, 10, 1), UINT64_C(18446744073709551610));
}

Test(kernel_files, only_names_of_c1_to_c3_are_c_states)
{
    static const struct {
        const char *name;
        unsigned state;
    } cases[] = {
        {"C1\n", 1},       {"C2\n", 2},     {"C3\n", 3},           {"C1_ACPI\n", 1}, {"C3_ACPI\n", 3}, {"C2", 2},
        {"C1E\n", 0},      {"C1-HSW\n", 0}, {"C0\n", 0},           {"C4\n", 0},      {"C6\n", 0},      {"C10\n", 0},
        {"C1_ACPI2\n", 0}, {"C1 \n", 0},    {"c1\n", 0},           {"POLL\n", 0},    {"WFI\n", 0},     {"C\n", 0},
        {"C", 0},          {"", 0},         {"haltpoll idle\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(pfb_kernel_c_state(cases[i].name, strlen(cases[i].name)), cases[i].state, "\"%s\"", cases[i].name);
}

Test(kernel_files, clocks_belong_to_the_preceding_processor)
{
    pfb_kernel_text text = text_of("cpu MHz\t\t: 1.0\n"
                                   "processor\t: 0\nmodel name\t: cpu MHz : 77\ncpu MHz\t\t: 2599.996\n\n"
                                   "processor\t: 7\ncpu MHz\t\t: 0.000\n\n" /* an unknown clock */
                                   "processor\t: 8\ncpu MHz dynamic\t: 5200\n\n"
                                   "processor\t: 9\ncpu MHz\t\t: 800\ncpu MHz\t\t: 900\n\n"
                                   "processor\t: x\ncpu MHz\t\t: 700\n\n"
                                   "processor : 10\ncpu MHz : 99999999999\n"
                                   "processor : 11\ncpu MHz : 1\n"
                                   "processor : 12\ncpu MHz : 3500.000");
    static const uint32_t expected[][2] = {{0, 2599}, {9, 800}, {11, 1}, {12, 3500}};
    uint32_t cpu;
    uint32_t mhz;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        cr_assert(pfb_kernel_next_clock(&text, &cpu, &mhz), "clock %zu", i);
        cr_expect(cpu == expected[i][0] && mhz == expected[i][1], "clock %zu: %u %u", i, (unsigned)cpu, (unsigned)mhz);
    }
    cr_expect_not(pfb_kernel_next_clock(&text, &cpu, &mhz));
}

/* ---- /proc/interrupts -------------------------------------------------------------------------------------- */

/* The number of columns, " with clock" if there is a row of the clock, and "CPU:all/clock" of each column. */
static const char *interrupts_of(const char *text)
{
    static char out[512];
    pfb_kernel_column columns[8];
    bool has_clock;
    size_t count = pfb_kernel_interrupts(text, strlen(text), columns, 8, &has_clock);
    snprintf(out, sizeof out, "%zu%s", count, has_clock ? " with clock" : "");
    for (size_t i = 0; i < count && i < 8; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), " %u:%u/%u", (unsigned)columns[i].cpu,
                 (unsigned)columns[i].all, (unsigned)columns[i].clock);
    return out;
}

Test(kernel_files, interrupts_are_summed_by_column)
{
    cr_expect_str_eq(interrupts_of("           CPU0       CPU2       \n"
                                   "  0:         10          1  IO-APIC   2-edge      timer\n"
                                   " 24:          5          7  PCI-MSIX-0000:00:01.0   0-edge      a: 1 2\n"
                                   "NMI:          1          2   Non-maskable interrupts\n"
                                   "LOC:        100        200   Local timer interrupts\n"
                                   "ERR:          9\n"
                                   "MIS:          9\n"),
                     "2 with clock 0:116/100 2:210/200");
    cr_expect_str_eq(interrupts_of("  CPU0\n  1:  4  x\nERR:  9\nMIS:  9\nErr:  9\n"), "1 0:4/0",
                     "with one CPU, ERR and MIS are not counted either");
    cr_expect_str_eq(interrupts_of("  CPU0 CPU1\nIPI0:  4  5 Rescheduling interrupts\nErr:  9\n"), "2 0:4/0 1:5/0");
    cr_expect_str_eq(interrupts_of("CPU0\nEXT: 9 \nI/O: 1 \nAIO: 2 \nCLK: 5   [EXT] Clock\nDAS: 1  [I/O] DASD\n"
                                   "ADM: 2 [AIO] Adapter\nRST: 3  [CPU] Restart\n"),
                     "1 0:15/0", "rows that are part of another row are not added");
    cr_expect_str_eq(interrupts_of("CPU0\n1: 4294967295 a\n2: 3 b\n3: 4294967299 c"), "1 0:5/0",
                     "sums are modulo 2^32");
}

Test(kernel_files, malformed_interrupt_lines_are_skipped)
{
    cr_expect_str_eq(interrupts_of(""), "0");
    cr_expect_str_eq(interrupts_of("1: 2 3\n"), "0");
    cr_expect_str_eq(interrupts_of("\nCPU0\n1: 2\n"), "0");
    cr_expect_str_eq(interrupts_of("CPU0 CPUx CPU2\n1: 2\n"), "1 0:2/0",
                     "columns end at the first word that is not a CPU");
    cr_expect_str_eq(interrupts_of("CPU0 CPU1\n1: 2\n2: 3 x\n3 4 5\n:6 7\n\n8:\n9: 1 1"), "2 0:7/0 1:8/0");
    cr_expect_str_eq(interrupts_of("CPU1 CPU1\nXLOC: 1 2\nLOC : 1 2\n"), "2 1:2/0 1:4/0");
}

Test(kernel_files, too_many_columns_are_only_counted)
{
    static const char text[] = "CPU0 CPU1 CPU2\nLOC: 1 2 3\n";
    pfb_kernel_column columns[3] = {{0}};
    bool has_clock = true;
    cr_expect_eq(pfb_kernel_interrupts(text, strlen(text), NULL, 0, &has_clock), 3);
    cr_expect_not(has_clock);
    cr_expect_eq(pfb_kernel_interrupts(text, strlen(text), columns, 2, &has_clock), 3);
    cr_expect(columns[0].all == 0 && columns[2].cpu == 0,
              "with too many columns nothing is summed or written past the capacity");
    cr_expect_eq(pfb_kernel_interrupts(text, strlen(text), columns, 3, &has_clock), 3);
    cr_expect(has_clock && columns[2].cpu == 2 && columns[2].all == 3 && columns[2].clock == 3);
}

/* ---- Truncated and changed texts -------------------------------------------------------------------- */

/* Calls every function that takes a text and its size, with a copy of exactly this size, so that a sanitizer detects
 * reads past the end. */
static void read_any(const char *text, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    cr_assert(copy, "out of memory");
    memcpy(copy, text, size);
    pfb_kernel_times times;
    pfb_kernel_column columns[4];
    uint32_t a;
    uint32_t b;
    uint64_t number;
    bool has_clock;
    size_t items = 0;
    for (pfb_kernel_text t = {.text = copy, .size = size}; pfb_kernel_next_times(&t, &times);)
        items++;
    for (pfb_kernel_text t = {.text = copy, .size = size}; pfb_kernel_next_range(&t, &a, &b);)
        items++;
    for (pfb_kernel_text t = {.text = copy, .size = size}; pfb_kernel_next_clock(&t, &a, &b);)
        items++;
    cr_expect(items <= size, "there cannot be more items than bytes");
    pfb_kernel_number(copy, size, &number);
    cr_expect(pfb_kernel_c_state(copy, size) <= PFB_KERNEL_C_STATES);
    pfb_kernel_interrupts(copy, size, columns, 4, &has_clock);
    pfb_kernel_take_keys((pfb_kernel_text){.text = copy, .size = size}, (const char *const[]){"ctxt"}, 1, &number);
    free(copy);
}

Test(kernel_files, texts_may_be_truncated_or_changed_at_every_byte)
{
    static const char *const texts[] = {"cpu  9 9\ncpu0 1 2 3 4 5 6 7 8\ncpu10 1 2 3 4 5 6 7\nintr 1 2\n",
                                        "  CPU0 CPU1\n 0: 1 2 timer\nLOC: 3 4 Local\nERR: 0\nEXT: 1 2 [EXT] x\n",
                                        "processor\t: 0\ncpu MHz\t\t: 2599.996\n\nprocessor\t: 1\ncpu MHz : 1\n",
                                        "0-3,8,10-4095\n",
                                        "123456789012345678901\n",
                                        "C1_ACPI\n",
                                        "intr 5\nctxt 12 13\n"};
    static const char replacements[] = {'\0', '\n', ' ', '0', '9', '-', ',', ':', 'C', '[', '\x80', '\xff'};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char changed[256];
        size_t size = strlen(texts[i]);
        for (size_t at = 0; at < size; at++) {
            read_any(texts[i], at);
            for (size_t k = 0; k < sizeof replacements; k++) {
                memcpy(changed, texts[i], size);
                changed[at] = replacements[k];
                read_any(changed, size);
            }
        }
    }
}

/* ---- Folders ------------------------------------------------------------------------------------------------- */

Test(kernel_files, folders_are_numbered)
{
    static const struct {
        const char *name, *prefix;
        int64_t number; /* -1: none */
    } cases[] = {{"0", "", 0},
                 {"7", "", 7},
                 {"4294967294", "", 4294967294},
                 {"node0", "node", 0},
                 {"node12", "node", 12},
                 {"", "", -1},
                 {"007", "", -1},
                 {"00", "", -1},
                 {"7x", "", -1},
                 {"x7", "", -1},
                 {" 7", "", -1},
                 {"7 ", "", -1},
                 {"-7", "", -1},
                 {"+7", "", -1},
                 {"4294967295", "", -1},
                 {"99999999999", "", -1},
                 {"18446744073709551617", "", -1},
                 {"node", "node", -1},
                 {"nod1", "node", -1},
                 {"node01", "node", -1},
                 {"1node", "node", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t number = 77;
        bool is_number = pfb_kernel_folder_number(cases[i].name, cases[i].prefix, UINT32_MAX - 1, &number);
        cr_expect_eq(is_number, cases[i].number >= 0, "\"%s\"", cases[i].name);
        cr_expect_eq(number, is_number ? cases[i].number : 77, "\"%s\"", cases[i].name);
    }
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* Writes the letters a to z repeatedly. */
static void write_letters(const char *path, size_t size)
{
    FILE *file = fopen(path, "w");
    cr_assert(file, "%s", path);
    for (size_t i = 0; i < size; i++)
        fputc('a' + (int)(i % 26), file);
    cr_assert_eq(fclose(file), 0);
}

Test(kernel_files, files_of_any_size_are_read_completely)
{
    static const size_t sizes[] = {300000, 0, 1, 16384, 16385};
    char path[] = "/tmp/perfblock_kernel_files_XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0, "no temporary file");
    close(file);
    pfb_bytes text = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        write_letters(path, sizes[i]);
        cr_assert_eq(pfb_kernel_read(path, &text), 0);
        cr_expect_eq(text.size_bytes, sizes[i], "%zu bytes", sizes[i]);
        bool is_same = true;
        for (size_t at = 0; at < text.size_bytes; at++)
            is_same = is_same && text.data[at] == 'a' + at % 26;
        cr_expect(is_same, "%zu bytes", sizes[i]);
    }
    const uint8_t *memory = text.data;
    cr_expect(pfb_kernel_read(path, &text) == 0 && text.data == memory, "the buffer is reused");
    remove(path);
    cr_expect_eq(pfb_kernel_read(path, &text), ENOENT);
    cr_expect_eq(pfb_kernel_read("/", &text), EISDIR);
    cr_expect_eq(text.size_bytes, 0);
    pfb_bytes_free(&text);
}
