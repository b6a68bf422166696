/* SPDX-License-Identifier: MIT */
/* Reading of CPUID dumps, which are texts of several layouts. */
#include "support.h"

#include <criterion/criterion.h>

#include "perfblock/lwp/cpuid_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a dump and writes "cpu leaf/subleaf=eax,ebx,ecx,edx;" for each row, in hexadecimal. */
static void describe(const char *dump, size_t size, char *out, size_t capacity, pfb_cpuid_text *text)
{
    pfb_cpuid_row row;
    char *data = malloc(size > 0 ? size : 1); /* exactly this size, so that a sanitizer detects reads past the end */
    size_t at = 0;
    cr_assert_not_null(data);
    memcpy(data, dump, size);
    out[0] = '\0';
    pfb_cpuid_text_open(text, data, size);
    while (pfb_cpuid_text_next(text, &row) && at + 96 < capacity) {
        uint32_t line = 1;
        for (size_t i = 0; i < row.offset; i++)
            line += data[i] == '\n';
        cr_expect_eq(row.line, line);
        at += (size_t)snprintf(out + at, capacity - at, "%x %x/%x=%x,%x,%x,%x;", row.cpu, row.leaf.leaf,
                               row.leaf.subleaf, row.leaf.eax, row.leaf.ebx, row.leaf.ecx, row.leaf.edx);
    }
    cr_expect_not(pfb_cpuid_text_next(text, &row), "no row is returned after the end");
    free(data);
}

static void expect_rows(const char *dump, const char *rows)
{
    char actual[1024];
    pfb_cpuid_text text;
    describe(dump, strlen(dump), actual, sizeof actual, &text);
    cr_expect_str_eq(actual, rows, "%s\nwas read as %s", dump, actual);
    cr_expect_eq(text.error.code, PFB_OK, "%s", dump);
}

/* ---- Layouts ---------------------------------------------------------------------------------------------------- */

#define BULLDOZER "8000001c/0=0,80032013,10200,8000000f;"

Test(cpuid_text, all_layouts_of_a_row_are_read)
{
    static const char *const dumps[] = {
        "CPUID 8000001C: 00000000-80032013-00010200-8000000F",
        "CPUID 8000001C: 00000000-80032013-00010200-8000000F [SL 00]",
        "cpuid 8000001c: 00000000-80032013-00010200-8000000f [AuthenticAMD]",
        "CPUID 0x8000001C: 0x00000000 0x80032013 0x00010200 0x8000000F",
        "   0x8000001c 0x00: eax=0x00000000 ebx=0x80032013 ecx=0x00010200 edx=0x8000000f",
        "0x8000001c: EAX=0x00000000, EBX=0x80032013, ECX=0x00010200, EDX=0x8000000f",
        "0x8000001c 0x00: edx=0x8000000f ecx=0x00010200 ebx=0x80032013 eax=0x00000000",
        "8000001C 00000000 80032013 00010200 8000000F",
        "8000001C 00000000 00000000 80032013 00010200 8000000F",
        "8000001C: 00000000 80032013 00010200 8000000F\r",
        "\t8000001C\t00000000\t80032013\t00010200\t8000000F",
        "ext_cpuid[28]=00000000 80032013 00010200 8000000f",
        "amd_fn8000001ch[0]=00000000 80032013 00010200 8000000f",
        "0x8000001c: edx=0x8000000f ecx=0x00010200 ebx=0x80032013 eax=0x00000000",
        "8000001C EBX=80032013 EAX=0 ECX=10200 EDX=8000000F",
        "8000001C EAX0 EBX80032013 ECX10200 EDX8000000F",
        "8000001C: 00000000 00000000 80032013 00010200 8000000F",
        "8000001C 00000000: 00000000 80032013 00010200 8000000F",
        "\357\273\2778000001C 00000000 80032013 00010200 8000000F",
    };
    for (size_t i = 0; i < sizeof dumps / sizeof dumps[0]; i++) {
        char line[200];
        expect_rows(dumps[i], "0 " BULLDOZER);
        snprintf(line, sizeof line, "%s\n", dumps[i]);
        expect_rows(line, "0 " BULLDOZER);
    }
}

Test(cpuid_text, subleaves_are_read)
{
    static const struct {
        const char *dump, *rows;
    } cases[] = {
        {"CPUID 0000000D: 00000080-00000340-00000000-00000000 [SL 3E]", "0 d/3e=80,340,0,0;"},
        {"0x0000000d 0x3e: eax=0x00000080 ebx=0x00000340 ecx=0x00000000 edx=0x00000000", "0 d/3e=80,340,0,0;"},
        {"0000000D 0000003E 00000080 00000340 00000000 00000000", "0 d/3e=80,340,0,0;"},
        {"0000000D,0000003E,00000080,00000340,00000000,00000000", "0 d/3e=80,340,0,0;"},
        {"intel_fn4[1]=00000001 00000002 00000003 00000004", "0 4/1=1,2,3,4;"},
        {"intel_fn11[1]=00000001 00000002 00000003 00000004", "0 b/1=1,2,3,4;"},
        {"intel_fn12h[2]=00000001 00000002 00000003 00000004", "0 12/2=1,2,3,4;"},
        {"amd_fn8000001dh[3]=00000001 00000002 00000003 00000004", "0 8000001d/3=1,2,3,4;"},
        {"basic_cpuid[1]=00600f12 00080800 1e98220b 178bfbff", "0 1/0=600f12,80800,1e98220b,178bfbff;"},
        {"ext_cpuid[0]=8000001e 00000000 00000000 00000000", "0 80000000/0=8000001e,0,0,0;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_rows(cases[i].dump, cases[i].rows);
}

Test(cpuid_text, cpus_are_numbered)
{
#define LEAF_0 "00000000 0000000D 68747541 444D4163 69746E65\n"
#define LEAF_1 "00000001 00600F20 00000000 00000000 00000000\n"
    static const char first[] = "0 0/0=d,68747541,444d4163,69746e65;0 1/0=600f20,0,0,0;";
    static const char both[] = "0 0/0=d,68747541,444d4163,69746e65;0 1/0=600f20,0,0,0;"
                               "1 0/0=d,68747541,444d4163,69746e65;1 1/0=600f20,0,0,0;";
    expect_rows("CPU 0:\n" LEAF_0 LEAF_1 "CPU 1:\n" LEAF_0 LEAF_1, both);
    expect_rows("CPU:\n" LEAF_0 LEAF_1, first);
    expect_rows("------[ Logical CPU #0 ]------\n\n" LEAF_0 LEAF_1 "\n------[ Logical CPU #7 ]------\n" LEAF_0 LEAF_1,
                both);
    expect_rows("------[ CPUID Registers / Logical CPU #1 ]------\n" LEAF_0 LEAF_1
                "------[ CPUID Registers / Logical CPU #2 ]------\n" LEAF_0 LEAF_1,
                both);
    expect_rows("_____ Logical CPU #0 _____\n" LEAF_0 LEAF_1 "_____ Logical CPU #1 _____\n" LEAF_0 LEAF_1, both);
    expect_rows(LEAF_0 LEAF_1 LEAF_0 LEAF_1, both);
    /* In columns without a sub-leaf, ECX and EDX may have fewer than 8 digits. */
    expect_rows("8000001C 00000000 80032013 10200 F\n" LEAF_1, "0 8000001c/0=0,80032013,10200,f;0 1/0=600f20,0,0,0;");
    /* Text after four registers may look like a number. */
    expect_rows("80000002 20444D41 6E657A79 20372065 30303732 F00\n",
                "0 80000002/0=20444d41,6e657a79,20372065,30303732;");
    /* In a dump with headings, a repeated leaf does not begin a CPU. */
    expect_rows("CPU 0:\n" LEAF_0 LEAF_1 LEAF_0,
                "0 0/0=d,68747541,444d4163,69746e65;0 1/0=600f20,0,0,0;0 0/0=d,68747541,444d4163,69746e65;");
    /* Headings without leaves between them count once. */
    expect_rows("CPU 0:\nCPU 1:\n" LEAF_0 LEAF_1, first);
    expect_rows(LEAF_1 "CPU 1:\nCPU 2:\n" LEAF_1, "0 1/0=600f20,0,0,0;1 1/0=600f20,0,0,0;");
    /* Sub-leaf 1 of leaf 0 does not begin a CPU. */
    expect_rows("CPUID 00000001: 1-2-3-4\nCPUID 00000000: 5-6-7-8 [SL 01]\nCPUID 00000000: 9-a-b-c\n",
                "0 1/0=1,2,3,4;0 0/1=5,6,7,8;1 0/0=9,a,b,c;");
}

/* A heading begins a CPU even if no leaf 0 follows. */
Test(cpuid_text, headings_begin_cpus)
{
    static const char *const headings[] = {
        "CPU 1:",
        "CPU:",
        "cpu #1",
        "CPU 1",
        "------[ Logical CPU #7 ]------",
        "------[ CPUID Registers / Logical CPU #2 ]------",
        "_____ Logical CPU #1 _____",
        "  [CPU 4294967295]",
    };
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++) {
        char dump[256];
        snprintf(dump, sizeof dump, LEAF_1 "%s\n" LEAF_1, headings[i]);
        expect_rows(dump, "0 1/0=600f20,0,0,0;1 1/0=600f20,0,0,0;");
    }
}

Test(cpuid_text, only_hexadecimal_digits_are_digits)
{
    for (unsigned c = 1; c < 256; c++) {
        char dump[64];
        char actual[256];
        pfb_cpuid_text text;
        snprintf(dump, sizeof dump, "8000001C EBX=0%c032013 EAX=0 ECX=10200 EDX=8000000F", (int)c);
        describe(dump, strlen(dump), actual, sizeof actual, &text);
        bool is_allowed = strchr("0123456789abcdefABCDEFxX", (int)c) != NULL; /* 0x begins a number */
        cr_expect_eq(text.error.code, is_allowed ? PFB_OK : PFB_BAD_CPUID_LINE, "character %u", c);
    }
}

Test(cpuid_text, other_lines_are_skipped)
{
    static const char *const lines[] = {
        "# a dump",
        "",
        "version=0.5.1",
        "CPU Type: AMD FX-8150",
        "AMD FX CPU 8150 @ 3.60 GHz",
        "CPU 0 is busy",
        "CPU :",
        "CPUID Registers",
        "MSR 0000001B: 0000-0000-FEE0-0900 [S200]",
        "cafebabe",
        "12345678 is a number",
        "deadbeefs 1 2 3 4",
        "00000000  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF............|",
        "00000010: 4142 4344 4546 4748",
        "20261121 101112 1 2 3 4",
        "00000000 00000001 00000002 00000003 00000004 00000005 00000006",
        "basic_cpuids[1]=1",
        "0xZZ",
        "TSC 0x12 done",
        "\xFF\xFE\x00\x01",
        "eax=00000001",
        "amd_fn18000001dh[0]=1 2 3 4",
        "20261121 10:11:12 cafebabe",
        "00000000: 6465 6164 6265 6566  deadbeef",
        "00000000-0000-0000-0000-000000000000",
        "CPU 4294967296",
        "CPU",
        "8000001C 0 80032013",
    };
    char dump[900] = "";
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char around[256];
        expect_rows(lines[i], "");
        snprintf(around, sizeof around, LEAF_1 "%s\n" LEAF_1, lines[i]);
        expect_rows(around, "0 1/0=600f20,0,0,0;0 1/0=600f20,0,0,0;");
        strncat(dump, lines[i], sizeof dump - strlen(dump) - 2);
        strncat(dump, "\n", sizeof dump - strlen(dump) - 1);
    }
    strncat(dump, "8000001C 00000000 80032013 00010200 8000000F", sizeof dump - strlen(dump) - 1);
    expect_rows(dump, "0 " BULLDOZER);
}

/* ---- Malformed lines --------------------------------------------------------------------------------------------- */

Test(cpuid_text, malformed_lines_are_errors)
{
    static const char *const lines[] = {
        "CPUID 8000001C: 00000000-80032013-00010200",
        "CPUID 8000001C:",
        "CPUID 8000001C: 00000000-80032013-00010200-8000000FF",
        "CPUID 8000001C: 00000000-80032013-00010200-8000000G",
        "CPUID 8000001C: 00000000-80032013-00010200-8000000F [SL XX]",
        "CPUID 8000001C: 00000000-80032013-00010200-8000000F [SL 00",
        "0x8000001c 0x00: eax=0x00000000 ebx=0x80032013 ecx=0x00010200",
        "0x8000001c 0x00: eax=0x00000000 eax=0x80032013 ecx=0x00010200 edx=0x8000000f",
        "0x8000001c: eax=0x00000000 ebx=0x80032013",
        "8000001C 00000000 80032013",
        "8000001C 00000000 80032013 00010200",
        "ext_cpuid[28]=00000000 80032013 00010200",
        "ext_cpuid[2",
        "ext_cpuid[99999999999]=1 2 3 4",
        "ext_cpuid[2147483648]=1 2 3 4",
        "amd_fn8000001dh[0]",
        "8000001C 0 80032013 00010200 8000000F",
        "8000001C 00: 00000000 80032013 00010200 8000000F",
        "8000001C: 0: 00000000 80032013 00010200 8000000F",
        "8000001C 00000000 00000000 80032013 00010200 8000000F",
        "8000001C: 00000000 00000000 80032013 00010200 8000000F",
        "8000001C 00000000 00000000 80032013 10200 8000000F",
        "0000000D 00000001 00000007 340, 340 0",
        "8000001C ebx=80032013 ecx=00010200",
        "8000001C: eax",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char dump[200];
        char actual[256];
        pfb_cpuid_text text;
        size_t at = (size_t)snprintf(dump, sizeof dump, "00000001 00000001 00000002 00000003 00000004\n");
        size_t size = at + (size_t)snprintf(dump + at, sizeof dump - at,
                                            "%s\n00000002 00000001 00000002 00000003 00000004\n", lines[i]);
        describe(dump, size, actual, sizeof actual, &text);
        cr_expect_str_eq(actual, "0 1/0=1,2,3,4;", "%s was read as %s", lines[i], actual);
        expect_error(text.error, PFB_BAD_CPUID_LINE, at, lines[i]);
        cr_expect_eq(text.lines, 2, "%s", lines[i]);
    }
}

/* Lines of columns have a sub-leaf or not. A line with a sub-leaf that lost its last column must not be read as a line
 * without a sub-leaf. */
Test(cpuid_text, all_lines_have_the_same_number_of_columns)
{
    static const char six[] = "0000000D 0000003E 00000080 00000340 00000000 00000000\n";
    static const char five[] = "8000001C 00000000 00000000 80032013 00010200\n";
    char dump[300];
    char actual[256];
    pfb_cpuid_text text;
    int size = snprintf(dump, sizeof dump, "%s%s", six, five);
    describe(dump, (size_t)size, actual, sizeof actual, &text);
    cr_expect_str_eq(actual, "0 d/3e=80,340,0,0;");
    expect_error(text.error, PFB_BAD_CPUID_LINE, sizeof six - 1, "five columns after six");
    size = snprintf(dump, sizeof dump, "%s%s", five, six);
    describe(dump, (size_t)size, actual, sizeof actual, &text);
    cr_expect_str_eq(actual, "0 8000001c/0=0,0,80032013,10200;", "the first line defines the number of columns");
    expect_error(text.error, PFB_BAD_CPUID_LINE, sizeof five - 1, "six columns after five");
    static const char *const short_registers[] = {"00000000 00000000 32013 10200", "00000000 00000000 80032013 10200",
                                                  "00000000,0-80032013,00010200"};
    for (size_t i = 0; i < sizeof short_registers / sizeof short_registers[0]; i++) {
        size = snprintf(dump, sizeof dump, "%s8000001C %s\n", six, short_registers[i]);
        describe(dump, (size_t)size, actual, sizeof actual, &text);
        expect_error(text.error, PFB_BAD_CPUID_LINE, sizeof six - 1, short_registers[i]);
    }
    snprintf(dump, sizeof dump, "%sCPUID 8000001C: 1-2-3-4\n0x1 0x0: eax=1 ebx=2 ecx=3 edx=4\nbasic_cpuid[2]=1 2 3 4\n",
             six);
    expect_rows(dump, "0 d/3e=80,340,0,0;0 8000001c/0=1,2,3,4;0 1/0=1,2,3,4;0 2/0=1,2,3,4;");
}

Test(cpuid_text, truncated_dumps_have_no_other_error_than_a_malformed_line)
{
    static const char dump[] = "CPU 0:\nCPUID 00000000: 0000000D-68747541-444D4163-69746E65 [SL 00]\n"
                               "0x8000001c 0x00: eax=0x00000000 ebx=0x80032013 ecx=0x00010200 edx=0x8000000f\n"
                               "CPU 1:\next_cpuid[28]=00000000 80032013 00010200 8000000f\n";
    for (size_t size = 0; size < sizeof dump; size++) {
        char actual[512];
        pfb_cpuid_text text;
        describe(dump, size, actual, sizeof actual, &text);
        cr_expect(text.error.code == PFB_OK || text.error.code == PFB_BAD_CPUID_LINE, "%zu bytes", size);
        cr_expect_leq(text.error.offset, size, "%zu bytes", size);
    }
}

Test(cpuid_text, null_and_empty_dumps_have_no_rows)
{
    pfb_cpuid_text text;
    pfb_cpuid_row row;
    pfb_cpuid_text_open(&text, NULL, 10);
    cr_expect_not(pfb_cpuid_text_next(&text, &row));
    cr_expect_eq(text.error.code, PFB_OK);
    expect_rows("", "");
    expect_rows("\n\n\n", "");
}
