/* SPDX-License-Identifier: MIT */
/* Identifier blocks of V2 queries, and the matching of names with patterns. */
#include <criterion/criterion.h>

#include "perfblock/query.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* ---- Writing identifiers -------------------------------------------------------------------------------------- */

Test(query, a_query_is_written_in_the_documented_layout)
{
    static const uint8_t expected[56] = {
        1,    2,    3,   4, 5,   6, 7,    8,    9,  10, 11, 12, 13,   14,   15,   16,   /* 0: GUID */
        0x6A, 0x10, 0,   0, 56,  0, 0,    0,    26, 0,  0,  0,  0xFF, 0xFF, 0xFF, 0xFF, /* 16 */
        3,    0,    0,   0, 0,   0, 0,    0,                                            /* 32 */
        '0',  0,    ',', 0, '*', 0, 0x3D, 0xD8, 0,  0,  0,  0,  0,    0,    0,    0};   /* 40: name */
    static const uint8_t name[9] = {0xAA, '0', 0, ',', 0, '*', 0, 0x3D, 0xD8};          /* at an odd address */
    pfb_query query = {.counter_id = 26, .instance_id = PFB_NO_ID, .name = pfb_utf16_name(name + 1, 4)};
    query.status = 0x106A;
    query.index = 3;
    for (uint8_t i = 0; i < 16; i++)
        query.counterset.bytes[i] = (uint8_t)(i + 1);
    uint8_t out[60];
    memset(out, '#', sizeof out);
    cr_expect_eq(pfb_query_size(&query), 56);
    cr_expect_eq(pfb_query_write(&query, out + 1, 56), 56);
    cr_expect_arr_eq(out + 1, expected, 56);
    cr_expect(out[0] == '#' && out[57] == '#', "nothing is written outside the block");
}

Test(query, sizes_are_rounded_up_to_8)
{
    uint8_t name[2 * PFB_QUERY_NAME_UNITS];
    memset(name, 'x', sizeof name);
    pfb_query query = {.index = 0};
    cr_expect_eq(pfb_query_size(&query), 40, "a query without name");
    query.name = pfb_utf16_name(name, 0);
    static const size_t sizes[][2] = {{0, 48}, {1, 48}, {3, 48}, {4, 56}, {7, 56}, {8, 64}, {1023, 2088}, {1024, 2096}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        query.name.size_bytes = 2 * sizes[i][0];
        cr_expect_eq(pfb_query_size(&query), sizes[i][1], "%zu units: %zu bytes", sizes[i][0], pfb_query_size(&query));
    }
}

static void expect_refused(const pfb_query *query, const char *what)
{
    uint8_t out[4096];
    memset(out, '#', sizeof out);
    cr_expect_eq(pfb_query_size(query), 0, "%s", what);
    cr_expect_eq(pfb_query_write(query, out, sizeof out), 0, "%s", what);
    cr_expect_eq(out[0], '#', "%s: nothing is written", what);
}

Test(query, invalid_names_are_refused)
{
    static uint8_t name[2 * PFB_QUERY_NAME_UNITS + 2];
    memset(name, 'x', sizeof name);
    pfb_query query = {.name = pfb_utf16_name(name, PFB_QUERY_NAME_UNITS + 1)};
    expect_refused(&query, "a name that is too long");
    query.name.size_bytes = SIZE_MAX - 1;
    expect_refused(&query, "a name of almost SIZE_MAX bytes");
    query.name.size_bytes = SIZE_MAX;
    expect_refused(&query, "a name of SIZE_MAX bytes");
    query.name = (pfb_name){name, PFB_QUERY_NAME_UNITS + 1, PFB_ENCODING_UTF8};
    expect_refused(&query, "a name of one character too many, in few bytes");
    query.name = pfb_utf16_name(name, 3);
    for (size_t at = 0; at < 3; at++) {
        name[2 * at] = name[2 * at + 1] = 0;
        expect_refused(&query, "a NUL in the name");
        name[2 * at] = 'x';
        cr_expect_eq(pfb_query_size(&query), 48, "a single zero byte is not a NUL");
    }
}

/* A name of an odd number of bytes ends with half a UTF-16 unit. All functions that convert names replace it. */
Test(query, half_a_unit_at_the_end_becomes_u_fffd)
{
    static const uint8_t name[] = {'a', 0, 'b'};
    static const uint8_t expected[] = {'a', 0, 0xFD, 0xFF, 0, 0, 0, 0};
    const pfb_query query = {.name = {name, sizeof name, PFB_ENCODING_UTF16LE}};
    uint8_t out[48];
    cr_assert_eq(pfb_query_write(&query, out, sizeof out), 48);
    cr_expect_eq(memcmp(out + 40, expected, sizeof expected), 0);
}

Test(query, nothing_is_written_unless_the_whole_identifier_fits)
{
    static const uint8_t name[] = {'a', 0};
    pfb_query query = {.name = pfb_utf16_name(name, 1)};
    uint8_t out[64];
    memset(out, '#', sizeof out);
    for (size_t capacity = 0; capacity < 48; capacity++)
        cr_expect_eq(pfb_query_write(&query, capacity ? out : NULL, capacity), 0, "capacity %zu", capacity);
    for (size_t i = 0; i < sizeof out; i++)
        cr_expect_eq(out[i], '#');
    cr_expect_eq(pfb_query_write(&query, out, 48), 48);
    cr_expect_eq(out[48], '#');
}

Test(query, written_identifiers_are_read_back)
{
    static const uint8_t name[] = {'_', 0, 'T', 0};
    uint8_t out[96];
    pfb_query query = {
        .counterset = {{9, 8, 7}}, .counter_id = PFB_NO_ID, .instance_id = 4, .name = pfb_utf16_name(name, 2)};
    size_t first = pfb_query_write(&query, out, sizeof out);
    query.name = (pfb_name){0};
    size_t second = pfb_query_write(&query, out + first, sizeof out - first);
    cr_assert(first == 48 && second == 40);
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, out, first + second, STRICT);
    cr_assert(pfb_list_next_identifier(&list, &identifier));
    cr_expect(identifier.name.bytes && identifier.counter_id == PFB_NO_ID && identifier.instance_id == 4);
    expect_name(&identifier.name, "_T", "the name of the first identifier");
    cr_assert(pfb_list_next_identifier(&list, &identifier));
    cr_expect(!identifier.name.bytes && pfb_guid_equal(&identifier.counterset, &query.counterset));
    cr_expect_not(pfb_list_next_identifier(&list, &identifier));
    expect_error(list.error, PFB_OK, 0, "written identifiers");
}

/* ---- Wildcards -------------------------------------------------------------------------------------------------- */

typedef struct match_case {
    const char *pattern;
    const char *name;
    bool exact;  /* matches case-sensitively */
    bool folded; /* matches ignoring case */
} match_case;

static const match_case match_cases[] = {
    {"", "", true, true},
    {"", "a", false, false},
    {"a", "", false, false},
    {"_Total", "_Total", true, true},
    {"_Total", "_total", false, true},
    {"_TOTAL", "_total", false, true},
    {"_Total", "_Totals", false, false},
    {"_Total", "_Tota", false, false},
    {"*", "", true, true},
    {"*", "0,_Total", true, true},
    {"***", "x", true, true},
    {"ab*bc", "abc", false, false},
    {"ab*bc", "abbc", true, true},
    {"?", "", false, false},
    {"?", "x", true, true},
    {"?", "xy", false, false},
    {"??", "xy", true, true},
    {"?*", "", false, false},
    {"?*", "x", true, true},
    {"*?", "x", true, true},
    {"*?", "", false, false},
    {"0,*", "0,11", true, true},
    {"0,*", "0,", true, true},
    {"0,*", "1,0", false, false},
    {"*_Total", "0,_Total", true, true},
    {"*_Total", "_Total_Total", true, true},
    {"*_Total", "_Total#1", false, false},
    {"a*b*c", "axxbxxbc", true, true},
    {"a*b*c", "abc", true, true},
    {"a*b*c", "acb", false, false},
    {"a*b*c", "AxBxC", false, true},
    {"*ab", "aab", true, true},
    {"*aab", "aaab", true, true},
    {"a*a", "a", false, false},
    {"a*a", "aa", true, true},
    {"*a?c*", "xxabcabdabc", true, true},
    {"*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false, false},
    {"?,_Total", "0,_Total", true, true},
    {"?,_Total", "10,_Total", false, false},
    {"a", "*", false, false}, /* a star in a name is an ordinary character */
    {"?", "*", true, true},
    {"*b", "*b", true, true},
    {"[a]", "{A}", false, false}, /* next to the letters in ASCII, but not letters */
    {"@", "`", false, false},
    {"Z", "z", false, true},
    {"a-c", "b", false, false},
    {"\\*", "*", false, false}, /* there is no escape character */
};

static bool match(const char *pattern, const char *name, uint32_t options)
{
    bytes p = {.size = 0};
    bytes n = {.size = 0};
    put_units(&p, pattern);
    put_units(&n, name);
    uint8_t *pattern_copy = exact_copy(&p);
    uint8_t *name_copy = exact_copy(&n);
    bool is_match = pfb_query_match(UTF16_NAME(pattern_copy, p.size / 2), UTF16_NAME(name_copy, n.size / 2), options);
    free(pattern_copy);
    free(name_copy);
    return is_match;
}

Test(query, patterns_match_whole_names)
{
    for (size_t i = 0; i < COUNT(match_cases); i++) {
        const match_case *t = &match_cases[i];
        cr_expect_eq(match(t->pattern, t->name, 0), t->exact, "%s and %s", t->pattern, t->name);
        cr_expect_eq(match(t->pattern, t->name, PFB_MATCH_IGNORE_CASE), t->folded, "%s and %s without case", t->pattern,
                     t->name);
        cr_expect_eq(match(t->pattern, t->name, ~(PFB_MATCH_IGNORE_CASE | PFB_MATCH_EXACT)), t->exact,
                     "%s and %s with unknown options, which are ignored", t->pattern, t->name);
        cr_expect_eq(match(t->pattern, t->name, PFB_MATCH_EXACT), strcmp(t->pattern, t->name) == 0,
                     "%s and %s without wildcards", t->pattern, t->name);
    }
}

Test(query, units_outside_ascii_match_only_themselves)
{
    static const uint16_t units[] = {0x0000, 0x0100, 0x012A, 0x013F, 0x2A00, 0x4141, 0x6161, 0x0141, 0x0161,
                                     0x00C4, 0x00E4, 0xD800, 0xDC00, 0xFFFF, 0xFF0A, 0x00AA, 0x212A, 0x0130};
    for (size_t i = 0; i < COUNT(units) * COUNT(units); i++) {
        bytes p = {.size = 0};
        bytes n = {.size = 0};
        put_u16(&p, units[i / COUNT(units)]);
        put_u16(&n, units[i % COUNT(units)]);
        bool is_same = i / COUNT(units) == i % COUNT(units);
        cr_expect_eq(pfb_query_match(UTF16_NAME(p.data, 1), UTF16_NAME(n.data, 1), PFB_MATCH_IGNORE_CASE), is_same,
                     "%04X and %04X", units[i / COUNT(units)], units[i % COUNT(units)]);
        cr_expect_not(pfb_query_is_pattern(UTF16_NAME(p.data, 1)), "%04X", units[i / COUNT(units)]);
    }
}

Test(query, a_question_mark_matches_one_unit)
{
    static const uint8_t smile[] = {0x3D, 0xD8, 0x00, 0xDE};
    static const uint8_t two[] = {'?', 0, '?', 0};
    cr_expect_not(pfb_query_match(UTF16_NAME(two, 1), UTF16_NAME(smile, 2), 0));
    cr_expect(pfb_query_match(UTF16_NAME(two, 2), UTF16_NAME(smile, 2), 0));
}

/* The same characters match in any encoding: "\u00C4b*\U0001F600?" and two names. */
Test(query, names_match_in_any_encoding)
{
    static const uint8_t pattern_le[] = {0xC4, 0, 'b', 0, '*', 0, 0x3D, 0xD8, 0x00, 0xDE, '?', 0};
    static const uint8_t pattern_be[] = {0, 0xC4, 0, 'b', 0, '*', 0xD8, 0x3D, 0xDE, 0x00, 0, '?'};
    static const uint8_t name_be[] = {0, 0xC4, 0, 'b', 0, 'c', 0xD8, 0x3D, 0xDE, 0x00, 0, 'd'};
    const pfb_name patterns[] = {{pattern_le, sizeof pattern_le, PFB_ENCODING_UTF16LE},
                                 {pattern_be, sizeof pattern_be, PFB_ENCODING_UTF16BE},
                                 pfb_utf8_name("\xC3\x84"
                                               "b*\xF0\x9F\x98\x80?",
                                               9)};
    const pfb_name names[] = {{name_be, sizeof name_be, PFB_ENCODING_UTF16BE},
                              pfb_utf8_name("\xC3\x84"
                                            "bc\xF0\x9F\x98\x80"
                                            "d",
                                            9)};
    const pfb_name other = pfb_utf8_name("\xC3\x84"
                                         "bc\xF0\x9F\x98\x80",
                                         8);
    for (size_t i = 0; i < COUNT(patterns); i++) {
        for (size_t k = 0; k < COUNT(names); k++)
            cr_expect(pfb_query_match(&patterns[i], &names[k], 0), "pattern %zu, name %zu", i, k);
        cr_expect_not(pfb_query_match(&patterns[i], &other, 0), "pattern %zu", i);
        cr_expect(pfb_query_is_pattern(&patterns[i]), "pattern %zu", i);
    }
}

/* A name in any encoding is written as UTF-16LE; its length counts in units. */
Test(query, names_are_written_as_utf16)
{
    static const uint8_t expected[] = {0xC4, 0, 0x3D, 0xD8, 0x00, 0xDE, 0, 0};
    const pfb_query query = {.name = pfb_utf8_name("\xC3\x84\xF0\x9F\x98\x80", 6)};
    uint8_t out[48];
    cr_assert_eq(pfb_query_write(&query, out, sizeof out), sizeof out);
    cr_expect_eq(memcmp(out + 40, expected, sizeof expected), 0);
    static char text[3 * PFB_QUERY_NAME_UNITS + 3];
    for (size_t i = 0; i + 3 <= sizeof text; i += 3)
        memcpy(text + i, "\xE2\x82\xAC", 3); /* the euro sign: one unit */
    pfb_query longest = {.name = pfb_utf8_name(text, 3 * PFB_QUERY_NAME_UNITS)};
    cr_expect_eq(pfb_query_size(&longest), 2096);
    longest.name.size_bytes += 3;
    cr_expect_eq(pfb_query_size(&longest), 0);
    cr_expect_not(pfb_query_match(&longest.name, &longest.name, 0), "a pattern of 1025 units matches nothing");
}

Test(query, patterns_are_limited_and_names_are_not)
{
    enum { LONG = 5000 };
    static uint8_t pattern[2 * LONG];
    static uint8_t name[2 * LONG];
    for (size_t i = 0; i < LONG; i++)
        pattern[2 * i] = name[2 * i] = 'x';
    cr_expect(pfb_query_match(UTF16_NAME(pattern, 1024), UTF16_NAME(name, 1024), 0));
    cr_expect_not(pfb_query_match(UTF16_NAME(pattern, 1025), UTF16_NAME(name, 1025), 0),
                  "a pattern of 1025 units matches nothing");
    cr_expect_not(pfb_query_match(UTF16_NAME(pattern, LONG), UTF16_NAME(name, LONG), 0));
    cr_expect_not(pfb_query_match(&(pfb_name){pattern, SIZE_MAX - 1, PFB_ENCODING_UTF16LE}, UTF16_NAME(name, 1), 0));
    pattern[2 * 1023] = '*';
    cr_expect(pfb_query_match(UTF16_NAME(pattern, 1024), UTF16_NAME(name, LONG), 0));
    pattern[2 * 1024] = '*';
    cr_expect_not(pfb_query_match(UTF16_NAME(pattern, 1025), UTF16_NAME(name, LONG), 0));
}

Test(query, a_pattern_is_a_name_with_wildcards)
{
    static const struct {
        const char *text;
        bool is_pattern;
    } cases[] = {{"", false}, {"_Total", false}, {"*", true}, {"a?", true}, {"0,*", true}, {"[a-z]", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        bytes b = {.size = 0};
        put_units(&b, cases[i].text);
        cr_expect_eq(pfb_query_is_pattern(UTF16_NAME(b.data, b.size / 2)), cases[i].is_pattern, "%s", cases[i].text);
    }
    cr_expect_not(pfb_query_is_pattern(UTF16_NAME(NULL, 0)));
}

/* The name may begin before or after its place in the block. */
Test(query, a_name_inside_the_block_is_moved)
{
    static const uint8_t text[] = {'a', 0, 'b', 0, 'c', 0, 'd', 0, 'e', 0, 'f', 0};
    for (size_t at = 30; at <= 50; at++) {
        uint8_t block[64] = {0};
        memcpy(block + at, text, sizeof text);
        const pfb_query query = {.name = pfb_utf16_name(block + at, sizeof text / 2)};
        cr_expect_eq(pfb_query_write(&query, block, sizeof block), 56, "a name at %zu", at);
        cr_expect_eq(memcmp(block + 40, text, sizeof text), 0, "a name at %zu", at);
    }
}

/* A query may be written over the block that contains its name. */
Test(query, a_block_is_rewritten_in_place)
{
    static const uint8_t name[] = {'0', 0, ',', 0, '1', 0};
    pfb_query query = {.counter_id = 5, .instance_id = PFB_NO_ID, .name = pfb_utf16_name(name, 3)};
    uint8_t block[48];
    cr_assert_eq(pfb_query_write(&query, block, sizeof block), sizeof block);
    query.name.bytes = block + 40;
    query.status = 0x1068;
    cr_assert_eq(pfb_query_write(&query, block, sizeof block), sizeof block);
    cr_expect_eq(memcmp(block + 40, name, sizeof name), 0, "the name is unchanged");
    cr_expect(block[16] == 0x68 && block[17] == 0x10, "the status is replaced");
    cr_expect(block[46] == 0 && block[47] == 0, "the name ends with a NUL");
}
