/* SPDX-License-Identifier: MIT */
/* Tables of counter names, and the search in them. */
#include "support_v1.h"

#include <criterion/criterion.h>

#include "perfblock/v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Forms and deviations ---------------------------------------------------------------------------- */

/* A table, with '|' for NUL, and the expected pairs in order: "index=text;". */
typedef struct table_row {
    const char *what, *table, *pairs;
    uint32_t notes;
    pfb_code strict; /* the error in strict mode */
    size_t offset;   /* of this error, in characters */
} table_row;

/* Writes the characters in UTF-8 or UTF-16LE, with or without a byte order mark; returns the size of the mark. */
static size_t put_table(bytes *b, const char *table, bool is_utf16, bool has_mark)
{
    if (has_mark)
        put_raw(b, is_utf16 ? "\xFF\xFE" : "\xEF\xBB\xBF", is_utf16 ? 2 : 3);
    size_t mark = b->size;
    for (size_t i = 0; table[i] != '\0'; i++) {
        put_fill(b, table[i] == '|' ? 0 : (uint8_t)table[i], 1);
        if (is_utf16)
            put_fill(b, 0, 1);
    }
    return mark;
}

static void describe_pairs(pfb_name_table *table, char *out, size_t capacity)
{
    pfb_name_entry entry;
    size_t at = 0;
    size_t unit = table->encoding == PFB_ENCODING_UTF16LE ? 2 : 1;
    out[0] = '\0';
    while (pfb_name_table_next_entry(table, &entry) && at + 64 < capacity) {
        at += (size_t)snprintf(out + at, capacity - at, "%u=", entry.index);
        for (size_t i = 0; i < entry.name.size_bytes; i += unit)
            out[at++] = (char)entry.name.bytes[i];
        out[at++] = ';';
        out[at] = '\0';
    }
}

static void check_table(const table_row *row, bool is_utf16, bool has_mark)
{
    bytes b = {.size = 0};
    size_t mark = put_table(&b, row->table, is_utf16, has_mark);
    uint8_t *data = exact_copy(&b);
    char pairs[512];
    pfb_name_table table;
    cr_expect(pfb_name_table_open(&table, data, b.size, NULL), "%s", row->what);
    cr_expect_eq(table.encoding, is_utf16 ? PFB_ENCODING_UTF16LE : PFB_ENCODING_UTF8, "%s", row->what);
    pfb_name_table copy = table;
    describe_pairs(&table, pairs, sizeof pairs);
    cr_expect_str_eq(pairs, row->pairs, "%s (%d, %d): %s", row->what, is_utf16, has_mark, pairs);
    cr_expect_eq(table.notes, row->notes, "%s: notes %x", row->what, table.notes);
    size_t count = 0;
    for (size_t i = 0; row->pairs[i] != '\0'; i++)
        count += row->pairs[i] == ';';
    cr_expect_eq(pfb_name_table_count(&copy), count, "%s", row->what);
    pfb_name_table_open(&table, data, b.size, STRICT);
    pfb_name_table_count(&table);
    expect_error(table.error, row->strict, row->strict ? mark + row->offset * (is_utf16 ? 2 : 1) : 0, row->what);
    free(data);
}

/* Multi-strings exist in UTF-16 only: in UTF-8 a digit and a NUL would be read as one unit. */
static void check_tables(const table_row *rows, size_t count, bool is_multi)
{
    for (size_t i = 0; i < count; i++) {
        for (int encoding = 0; encoding < 4; encoding++) {
            if (encoding % 2 == 1 || !is_multi)
                check_table(&rows[i], encoding % 2, encoding / 2);
        }
    }
}

enum { BAD = PFB_NOTE_BAD_PAIR, OPEN = PFB_NOTE_UNTERMINATED };

Test(name_table, multi_strings_are_read)
{
    static const table_row rows[] = {
        {"the form of the registry", "1|8|2|System|4|Memory||", "1=8;2=System;4=Memory;", 0, PFB_OK, 0},
        {"several NULs at the end", "2|System||||", "2=System;", 0, PFB_OK, 0},
        {"without the last NUL", "2|System|", "2=System;", 0, PFB_OK, 0},
        {"without the text's NUL", "2|System", "2=System;", OPEN, PFB_TRUNCATED_STRING, 2},
        {"out of order", "4|a|2|b||", "4=a;2=b;", 0, PFB_OK, 0},
        {"repeated", "2|a|2|b|2|a||", "2=a;2=b;2=a;", 0, PFB_OK, 0},
        {"an empty text", "2||4|a||", "2=;4=a;", 0, PFB_OK, 0},
        {"blanks and signs", "2| a b |4|%:x||", "2= a b ;4=%:x;", 0, PFB_OK, 0},
        {"index 0", "0|a||", "0=a;", 0, PFB_OK, 0},
        {"leading zeros", "0002|a||", "2=a;", 0, PFB_OK, 0},
        {"the largest index", "4294967295|a||", "4294967295=a;", 0, PFB_OK, 0},
        {"an index too large", "2|a|4294967296|b|6|c||", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"an index far too large", "2|a|99999999999999999999999|b|6|c||", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"an index of letters", "2|a|x|b|6|c||", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"an index with a sign", "2|a|-4|b|6|c||", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"an index with a blank", "2|a| 4|b|6|c||", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"one text too many", "2|a|b|4|c||", "2=a;4=c;", BAD, PFB_BAD_PAIR, 4},
        {"a number where a text should be", "2|4|b|6|c||", "2=4;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"an odd number of strings", "2|a|4|", "2=a;", BAD, PFB_BAD_PAIR, 4},
        {"ends inside an index", "2|a|4", "2=a;", BAD, PFB_BAD_PAIR, 4},
        {"an empty index", "2|a||4|b||", "2=a;4=b;", BAD, PFB_BAD_PAIR, 4},
        {"several empty strings", "2|a||||4|b||", "2=a;4=b;", BAD, PFB_BAD_PAIR, 4},
        {"tabs and ends of lines are text", "2|a\tb\nc\r|4|d||", "2=a\tb\nc\r;4=d;", 0, PFB_OK, 0},
    };
    check_tables(rows, sizeof rows / sizeof rows[0], true);
}

Test(name_table, lines_are_read)
{
    static const table_row rows[] = {
        {"a line each", "1\t8\n2\tSystem\n4\tMemory\n", "1=8;2=System;4=Memory;", 0, PFB_OK, 0},
        {"lines that end with CR LF", "2\tSystem\r\n4\tMemory\r\n", "2=System;4=Memory;", 0, PFB_OK, 0},
        {"the last line has no end", "2\tSystem\n4\tMemory", "2=System;4=Memory;", 0, PFB_OK, 0},
        {"index and text on separate lines", "1\n8\n2\nSystem\n", "1=8;2=System;", 0, PFB_OK, 0},
        {"index and text on separate lines that end with CR LF", "2\r\nSystem\r\n4\r\nMemory", "2=System;4=Memory;", 0,
         PFB_OK, 0},
        {"an index without tab and text", "2\tSystem\n4\n6\tProcessor\n", "2=System;6=Processor;", BAD, PFB_BAD_PAIR,
         9},
        {"empty lines", "2\tSystem\n\n\r\n4\tMemory\n\n", "2=System;4=Memory;", 0, PFB_OK, 0},
        {"an empty text", "2\t\n4\tMemory\n", "2=;4=Memory;", 0, PFB_OK, 0},
        {"an empty text at the end", "2\t", "2=;", 0, PFB_OK, 0},
        {"a tab in the text", "2\ta\tb\n", "2=a\tb;", 0, PFB_OK, 0},
        {"no number, with a tab", "2\ta\nx\t5\n6\tc\n", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"no index", "2\ta\n\tb\n6\tc\n", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"no number, without a tab", "2\ta\nabc\n6\tc\n", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
        {"no text at the end", "2\ta\n4\n", "2=a;", BAD, PFB_BAD_PAIR, 4},
        {"an index too large", "2\ta\n4294967296\tb\n6\tc\n", "2=a;6=c;", BAD, PFB_BAD_PAIR, 4},
    };
    check_tables(rows, sizeof rows / sizeof rows[0], false);
}

Test(name_table, input_that_is_not_a_table_is_refused)
{
    static const char *const tables[] = {"x", "PERF", "Counter|1||", "a\t1\n", " 1|a||", "-1|a||", "4294967296|a||"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (int encoding = 0; encoding < 4; encoding++) {
            bytes b = {.size = 0};
            size_t mark = put_table(&b, tables[i], encoding % 2, encoding / 2);
            pfb_name_table table;
            pfb_name_entry entry;
            cr_expect_not(pfb_name_table_open(&table, b.data, b.size, NULL), "%s", tables[i]);
            expect_error(table.error, PFB_UNKNOWN_FORMAT, mark, tables[i]);
            cr_expect_not(pfb_name_table_next_entry(&table, &entry), "%s", tables[i]);
        }
    }
    pfb_name_table table;
    cr_expect_not(pfb_name_table_open(&table, "\xFE\xFF\0001\0\0", 6, NULL), "UTF-16BE is not supported");
}

Test(name_table, empty_tables_have_no_entries)
{
    static const char *const tables[] = {"", "|", "||", "\n\n"};
    for (size_t i = 0; i < 4; i++) {
        for (int encoding = 0; encoding < 4; encoding++) {
            bytes b = {.size = 0};
            put_table(&b, tables[i], encoding % 2, encoding / 2);
            pfb_name_table table;
            cr_expect(pfb_name_table_open(&table, b.data, b.size, STRICT), "table %zu", i);
            cr_expect_eq(pfb_name_table_count(&table), 0, "table %zu", i);
            expect_error(table.error, PFB_OK, 0, "an empty table");
        }
    }
    pfb_name_table table;
    cr_expect(pfb_name_table_open(&table, NULL, 100, STRICT));
    cr_expect_eq(pfb_name_table_count(&table), 0);
}

/* With a stated code page, tables of bytes are in it, also multi-strings; UTF-16 and byte order marks take precedence.
 */
Test(name_table, stated_code_page)
{
    enum { CYRILLIC = 1251 };
    const pfb_read_options options = {.code_page = CYRILLIC};
    static const struct {
        const char *what, *table, *pairs;
        bool is_utf16, has_mark;
        uint32_t encoding;
    } rows[] = {
        {"as RegQueryValueExA returns it", "1|1847|2|\xD1\xE8||", "1=1847;2=\xD1\xE8;", false, false, CYRILLIC},
        {"a first index of two digits", "10|\xD1||", "10=\xD1;", false, false, CYRILLIC},
        {"an empty first text", "1||2|a||", "1=;2=a;", false, false, CYRILLIC},
        {"lines", "2\t\xD1\xE8\n", "2=\xD1\xE8;", false, false, CYRILLIC},
        {"UTF-8 with a mark", "2\t\xD0\xA1\n", "2=\xD0\xA1;", false, true, PFB_ENCODING_UTF8},
        {"UTF-16 with a mark", "2|a||", "2=a;", true, true, PFB_ENCODING_UTF16LE},
        {"UTF-16 strings", "2|a||", "2=a;", true, false, PFB_ENCODING_UTF16LE},
        {"UTF-16 lines", "2\ta\n", "2=a;", true, false, PFB_ENCODING_UTF16LE},
        {"an empty table in UTF-16", "|", "", true, false, PFB_ENCODING_UTF16LE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes b = {.size = 0};
        char pairs[512];
        pfb_name_table table;
        put_table(&b, rows[i].table, rows[i].is_utf16, rows[i].has_mark);
        uint8_t *data = exact_copy(&b);
        cr_expect(pfb_name_table_open(&table, data, b.size, &options), "%s", rows[i].what);
        cr_expect_eq(table.encoding, rows[i].encoding, "%s: %u", rows[i].what, table.encoding);
        describe_pairs(&table, pairs, sizeof pairs);
        cr_expect_str_eq(pairs, rows[i].pairs, "%s: %s", rows[i].what, pairs);
        expect_error(table.error, PFB_OK, 0, rows[i].what);
        cr_expect_eq(table.notes, 0, "%s: %x", rows[i].what, table.notes);
        free(data);
    }
}

/* Every length of the table can be read; half a unit at the end is ignored. */
Test(name_table, truncated_tables_are_read)
{
    bytes b = {.size = 0};
    put_table(&b, "1|8|2|System|4|Memory||", true, false);
    for (size_t size = 0; size <= b.size; size++) {
        bytes cut = {.size = size};
        memcpy(cut.data, b.data, size);
        uint8_t *data = exact_copy(&cut);
        pfb_name_table table;
        pfb_name_entry entry;
        uint32_t count = 0;
        if (pfb_name_table_open(&table, data, size, NULL)) {
            for (; pfb_name_table_next_entry(&table, &entry); count++)
                cr_expect(entry.name.bytes >= data && entry.name.bytes + entry.name.size_bytes <= data + size,
                          "%zu bytes", size);
        }
        /* A pair is read if its index, the NUL and at least one unit of its text are present. */
        uint32_t expected = (uint32_t)((size / 2 >= 3) + (size / 2 >= 7) + (size / 2 >= 16));
        cr_expect_eq(count, expected, "%zu bytes: %u pairs", size, count);
        pfb_error error = table.error;
        pfb_name_table_open(&table, data, size, NULL);
        cr_expect_eq(pfb_name_table_count(&table), count, "%zu bytes", size);
        cr_expect(table.error.code == error.code && table.error.offset == error.offset,
                  "%zu bytes: counting gives another error", size);
        free(data);
    }
}

/* A run of n empty strings is skipped in time proportional to n. */
Test(name_table, many_empty_strings_are_skipped_in_linear_time)
{
    enum { SIZE = 1 << 21 };
    uint8_t *data = calloc(1, SIZE);
    cr_assert_not_null(data);
    memcpy(data, "1\0\0\0a\0\0\0", 8);
    memcpy(data + SIZE - 8, "2\0\0\0b\0\0\0", 8);
    pfb_name_table table;
    pfb_name_table_open(&table, data, SIZE, NULL);
    cr_expect_eq(pfb_name_table_count(&table), 2);
    cr_expect_eq(table.notes, BAD);
    free(data);
}

/* ---- Look-up ----------------------------------------------------------------------------------------- */

typedef struct indexed {
    uint8_t *data;
    pfb_name_entry *entries;
    uint32_t *by_index, *by_name;
    pfb_name_table table;
    pfb_name_index index;
} indexed;

/* Makes an index; takes ownership of the data. */
static indexed make_index(uint8_t *data, size_t size)
{
    indexed x = {.data = data};
    pfb_name_table_open(&x.table, data, size, NULL);
    pfb_name_table copy = x.table;
    uint32_t count = pfb_name_table_count(&copy);
    x.entries = calloc(count + 1, sizeof *x.entries);
    x.by_index = calloc(count + 1, sizeof *x.by_index);
    x.by_name = calloc(count + 1, sizeof *x.by_name);
    cr_assert(data && x.entries && x.by_index && x.by_name);
    expect_error(pfb_name_index_build(&x.index, &x.table, x.entries, x.by_index, x.by_name, count), PFB_OK, 0,
                 "building the index");
    cr_expect_eq(x.index.count, count);
    return x;
}

static void free_index(indexed *x)
{
    free(x->data);
    free(x->entries);
    free(x->by_index);
    free(x->by_name);
}

/* A random table with few indexes and few texts, so that both repeat; the same words in either encoding. */
static const char *const words[] = {
    "", "a", "b", "ab", "aa", "% b", "\xC3\xA4", "\xEE\x80\x80", "\xF0\x90\x80\x80", "A", "a\xC3\xA4", "\xEF\xBF\xBD"};

enum { WORDS = sizeof words / sizeof words[0] };

static uint8_t *random_table(uint64_t *random, uint32_t count, bool is_utf16, uint32_t *indexes, uint32_t *chosen,
                             size_t *size)
{
    uint8_t *data = malloc(64 * (size_t)count + 8);
    cr_assert_not_null(data);
    pfb_writer b;
    pfb_write_init(&b, data, 64 * (size_t)count + 8);
    *size = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t utf16[64];
        indexes[i] = random_below(random, 40);
        chosen[i] = random_below(random, WORDS);
        const char *word = words[chosen[i]];
        if (is_utf16)
            pfb_write_name(&b, indexes[i],
                           UTF16_NAME(utf16, pfb_name_to_utf16(UTF8_NAME(word, strlen(word)), utf16, 32)));
        else
            *size += (size_t)sprintf((char *)data + *size, "%u\t%s\n", indexes[i], word);
    }
    if (is_utf16)
        pfb_write_end_names(&b);
    *size = is_utf16 ? b.size_bytes : *size;
    return data;
}

/* Compares look-ups by index and by name with linear searches. The index sorts names by code point, which is the order
 * of strcmp for UTF-8. */
static void check_lookups(const indexed *x, const uint32_t *indexes, const uint32_t *chosen, uint32_t count)
{
    for (uint32_t index_number = 0; index_number < 42; index_number++) {
        uint32_t first = 0;
        while (first < count && indexes[first] != index_number)
            first++;
        const pfb_name_entry *found = pfb_name_index_find(&x->index, index_number);
        cr_expect_eq(found, first < count ? &x->entries[first] : NULL, "index %u", index_number);
    }
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t expected = 0;
        uint32_t first;
        for (uint32_t i = 0; i < count; i++)
            expected += chosen[i] == w;
        cr_expect_eq(pfb_name_index_named(&x->index, UTF8_NAME(words[w], strlen(words[w])), &first), expected,
                     "word %u", w);
        for (uint32_t i = 0; i < expected; i++)
            cr_expect_eq(chosen[x->by_name[first + i]], w, "word %u", w);
        for (uint32_t i = 1; i < expected; i++)
            cr_expect_leq(indexes[x->by_name[first + i - 1]], indexes[x->by_name[first + i]], "word %u", w);
    }
    for (uint32_t i = 1; i < count; i++) {
        cr_expect_leq(indexes[x->by_index[i - 1]], indexes[x->by_index[i]], "position %u", i);
        cr_expect_leq(strcmp(words[chosen[x->by_name[i - 1]]], words[chosen[x->by_name[i]]]), 0, "position %u", i);
    }
}

Test(name_table, look_ups_agree_with_linear_searches)
{
    uint64_t random = 7;
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t indexes[100];
        uint32_t chosen[100];
        uint32_t count = round % 100;
        size_t size;
        bool is_utf16 = random_below(&random, 2);
        uint8_t *data = random_table(&random, count, is_utf16, indexes, chosen, &size);
        indexed x = make_index(data, size);
        cr_assert_eq(x.index.count, count, "round %u: %u pairs", round, x.index.count);
        check_lookups(&x, indexes, chosen, count);
        free_index(&x);
    }
}

/* Malformed text counts as U+FFFD in the table and in the searched name. */
Test(name_table, malformed_texts_count_as_u_fffd)
{
    bytes b = {.size = 0};
    put_units(&b, "2");
    put_u16(&b, 0);
    put_u16(&b, 0xD800);
    put_u16(&b, 0);
    put_fill(&b, 0, 2);
    uint32_t first;
    indexed x = make_index(exact_copy(&b), b.size);
    cr_expect_eq(pfb_name_index_named(&x.index, UTF8_NAME("\xEF\xBF\xBD", 3), &first), 1);
    cr_expect_eq(pfb_name_index_named(&x.index, UTF8_NAME("\xFF", 1), &first), 1);
    cr_expect_eq(pfb_name_index_named(&x.index, UTF8_NAME("\xFF\xFF", 2), &first), 0);
    cr_expect_eq(pfb_name_index_named(&x.index, UTF8_NAME(NULL, 0), &first), 0);
    free_index(&x);
}

Test(name_table, a_capacity_that_is_too_small_is_an_error)
{
    static const char table[] = "6\tc\n2\ta\n4\tb\n";
    pfb_name_table reader;
    pfb_name_index index;
    pfb_name_entry entries[3];
    uint32_t by_index[3];
    uint32_t by_name[3];
    cr_assert(pfb_name_table_open(&reader, table, sizeof table - 1, NULL));
    for (uint32_t capacity = 0; capacity <= 3; capacity++) {
        pfb_error error = pfb_name_index_build(&index, &reader, entries, by_index, by_name, capacity);
        cr_expect_eq(error.code, capacity < 3 ? PFB_CALLER_TOO_SMALL : PFB_OK, "capacity %u", capacity);
        cr_expect_eq(index.count, capacity, "capacity %u", capacity);
        cr_expect_eq(pfb_name_index_find(&index, 6) != NULL, capacity > 0, "capacity %u", capacity);
        cr_expect_eq(pfb_name_index_find(&index, 4) != NULL, capacity > 2, "capacity %u", capacity);
    }
}

/* The indexes descend. The names differ only at their ends, which makes comparisons slow. */
Test(name_table, a_hundred_thousand_entries_are_sorted_and_found)
{
    enum { COUNT = 100000 };
    uint8_t *data = malloc(40 * (size_t)COUNT);
    cr_assert_not_null(data);
    size_t size = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        size += (size_t)sprintf((char *)data + size, "%u\tCounter number %06u\n", COUNT - i, (i * 7919) % COUNT);
    indexed x = make_index(data, size);
    for (uint32_t i = 0; i < COUNT; i += 997) {
        char name[32];
        uint32_t first;
        cr_expect_eq(pfb_name_index_find(&x.index, COUNT - i), &x.entries[i], "entry %u", i);
        int length = sprintf(name, "Counter number %06u", i);
        cr_expect_eq(pfb_name_index_named(&x.index, UTF8_NAME(name, (size_t)length), &first), 1, "%s", name);
        cr_expect_eq((COUNT - x.entries[x.by_name[first]].index) * UINT64_C(7919) % COUNT, i, "%s", name);
    }
    free_index(&x);
}
