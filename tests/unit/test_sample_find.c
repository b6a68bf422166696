/* SPDX-License-Identifier: MIT */
/* Look-up of columns and rows in samples, compared with linear searches in blocks of every source: worked ones, seeds,
 * fixtures and blocks of a real machine. */
#include "support.h"
#include "support_real.h"
#include "support_samples.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include "perfblock/capture.h"

#include <stdlib.h>
#include <string.h>

enum { SET = 1, MAX_NAME_BYTES = 4096, MAX_UNITS = 1024 };

static const pfb_name no_name = {NULL, 0, 0};

/* ---- Linear searches ----------------------------------------------------------------------------------- */

/* Returns true if the bytes of `name` are those of `text`, which is converted if the names of the result are UTF-16,
 * and then has at most MAX_UNITS units. */
static bool is_called(const pfb_name *name, const pfb_name *text, uint32_t code_page)
{
    uint8_t units[2 * MAX_NAME_BYTES];
    pfb_name same = *text;
    bool is_big = code_page == PFB_ENCODING_UTF16BE;
    if (text->encoding != code_page && (is_big || code_page == PFB_ENCODING_UTF16LE)) {
        cr_assert_lt(text->size_bytes, MAX_NAME_BYTES);
        same = (pfb_name){units, 2 * pfb_name_to_utf16(text, units, MAX_NAME_BYTES), code_page};
        for (size_t i = 0; is_big && i < same.size_bytes; i += 2) {
            uint8_t first = units[i];
            units[i] = units[i + 1];
            units[i + 1] = first;
        }
    }
    if (name->size_bytes != same.size_bytes || (same.bytes == units && same.size_bytes > 2 * MAX_UNITS))
        return false;
    return same.size_bytes == 0 ||
           (name->encoding == same.encoding && memcmp(name->bytes, same.bytes, same.size_bytes) == 0);
}

static bool is_row_called(const pfb_sample *s, uint32_t row, const pfb_name *name, const pfb_name *parent)
{
    const pfb_sample_row *r = &s->rows[row];
    uint32_t code_page = s->results[r->result].code_page;
    if (r->has_name != (name->bytes != NULL) || (r->has_name && !is_called(&r->name, name, code_page)))
        return false;
    return !parent || is_called(&r->parent, parent, code_page);
}

static uint32_t search_row(const pfb_sample *s, uint32_t result, const pfb_name *name, const pfb_name *parent,
                           uint32_t occurrence)
{
    const pfb_sample_result *r = &s->results[result];
    for (uint32_t row = r->first_row; row < r->first_row + r->row_count; row++) {
        if (is_row_called(s, row, name, parent) && occurrence-- == 0)
            return row;
    }
    return PFB_NONE;
}

static uint32_t search_column(const pfb_sample *s, const pfb_guid *counterset, uint32_t counter_id, uint32_t result)
{
    for (uint32_t c = 0; c < s->counts.columns; c++) {
        const pfb_sample_column *column = &s->columns[c];
        if (column->result >= result && column->counter_id == counter_id &&
            pfb_guid_equal(&s->results[column->result].counterset, counterset))
            return c;
    }
    return PFB_NONE;
}

/* ---- The comparison ------------------------------------------------------------------------------------ */

static unsigned found_rows, found_duplicates; /* by check_table */

static void expect_row(const pfb_sample *s, uint32_t result, const pfb_name *name, const pfb_name *parent,
                       uint32_t occurrence, const char *what)
{
    uint32_t expected = search_row(s, result, name, parent, occurrence);
    uint32_t found = pfb_sample_find_row(s, result, name, parent, occurrence);
    cr_assert_eq(found, expected, "%s, result %u, occurrence %u: row %u instead of %u", what, result, occurrence, found,
                 expected);
    found_rows += found != PFB_NONE;
    found_duplicates += found != PFB_NONE && occurrence > 0;
}

/* Checks that the rows of a name and any parent are found, each once; those of one parent follow each other in the
 * order of the block. */
static void expect_any_parent(const pfb_sample *s, uint32_t result, const pfb_name *name, const char *what)
{
    const pfb_sample_result *r = &s->results[result];
    bool *is_found = calloc(r->row_count + 1, sizeof *is_found);
    cr_assert_not_null(is_found);
    uint32_t count = 0;
    for (uint32_t row = r->first_row; row < r->first_row + r->row_count; row++)
        count += is_row_called(s, row, name, NULL);
    uint32_t before = PFB_NONE;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t row = pfb_sample_find_row(s, result, name, NULL, n);
        cr_assert(row >= r->first_row && row - r->first_row < r->row_count && is_row_called(s, row, name, NULL), "%s",
                  what);
        cr_assert_not(is_found[row - r->first_row], "%s: row %u is found again", what, row);
        is_found[row - r->first_row] = true;
        bool is_next = before != PFB_NONE && s->rows[before].occurrence + 1 == s->rows[row].occurrence && before < row;
        cr_assert(s->rows[row].occurrence == 0 || is_next, "%s: row %u follows %u", what, row, before);
        before = row;
    }
    cr_assert_eq(pfb_sample_find_row(s, result, name, NULL, count), PFB_NONE, "%s", what);
    cr_assert_eq(pfb_sample_find_row(s, result, name, NULL, PFB_NONE), PFB_NONE, "%s", what);
    free(is_found);
}

/* Looks for names that are longer or shorter than that of a row, or differ in the last byte. */
static void check_other_names(const pfb_sample *s, uint32_t result, const pfb_name *name, const pfb_name *parent,
                              const char *what)
{
    uint8_t text[MAX_NAME_BYTES];
    cr_assert_lt(name->size_bytes + 2, sizeof text);
    memset(text, 'x', sizeof text);
    if (name->size_bytes > 0)
        memcpy(text, name->bytes, name->size_bytes);
    for (size_t size = name->size_bytes > 2 ? name->size_bytes - 2 : 0; size <= name->size_bytes + 2; size++)
        expect_row(s, result, &(pfb_name){text, size, name->encoding}, parent, 0, what);
    if (name->size_bytes == 0)
        return;
    for (int difference = -1; difference <= 1; difference += 2) {
        text[name->size_bytes - 1] = (uint8_t)(name->bytes[name->size_bytes - 1] + difference);
        expect_row(s, result, &(pfb_name){text, name->size_bytes, name->encoding}, parent, 0, what);
    }
}

static void check_row(const pfb_sample *s, uint32_t row, const char *what)
{
    const pfb_sample_row *r = &s->rows[row];
    pfb_name name = r->has_name ? r->name : no_name;
    char text[MAX_NAME_BYTES];
    char parent_text[MAX_NAME_BYTES];
    pfb_name utf8 = pfb_utf8_name(text, pfb_name_to_utf8(&name, text, sizeof text));
    pfb_name utf8_parent = pfb_utf8_name(parent_text, pfb_name_to_utf8(&r->parent, parent_text, sizeof parent_text));
    cr_assert(utf8.size_bytes < sizeof text && utf8_parent.size_bytes < sizeof parent_text);
    if (!r->has_name)
        utf8 = no_name;
    const pfb_name *const names[] = {&name, &utf8};
    const pfb_name *const parents[] = {&r->parent, &utf8_parent, &no_name, &name};
    for (size_t n = 0; n < 2; n++) {
        for (size_t p = 0; p < 4; p++) {
            for (uint32_t occurrence = r->occurrence; occurrence < r->occurrence + 2; occurrence++)
                expect_row(s, r->result, names[n], parents[p], occurrence, what);
        }
        expect_any_parent(s, r->result, names[n], what);
        check_other_names(s, r->result, names[n], &r->parent, what);
    }
    /* Its own name and parent, in their own encoding, find the row itself. */
    bool is_comparable = r->parent.size_bytes == 0 || r->parent.encoding == s->results[r->result].code_page;
    if (is_comparable)
        cr_assert_eq(pfb_sample_find_row(s, r->result, &name, &r->parent, r->occurrence), row, "%s: row %u", what, row);
}

static void check_column(const pfb_sample *s, uint32_t column, const char *what)
{
    const pfb_sample_column *c = &s->columns[column];
    const pfb_guid *counterset = &s->results[c->result].counterset;
    const uint32_t from[] = {0, c->result, c->result + 1};
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t id = c->counter_id - 1; id != c->counter_id + 2; id++)
            cr_assert_eq(pfb_sample_find_column(s, counterset, id, from[i]), search_column(s, counterset, id, from[i]),
                         "%s: column %u", what, column);
    }
}

/* Compares all look-ups in a sample with linear searches. Numbers its rows. */
static void check_table(pfb_sample *s, const char *what)
{
    pfb_sample_number_rows(s);
    for (uint32_t row = 0; row < s->counts.rows; row++)
        check_row(s, row, what);
    for (uint32_t column = 0; column < s->counts.columns; column++)
        check_column(s, column, what);
    cr_expect_eq(pfb_sample_find_row(s, s->counts.results, &no_name, NULL, 0), PFB_NONE, "%s", what);
}

/* ---- Worked samples ------------------------------------------------------------------------------------ */

/* Repeated names are found by their occurrence, in each of two results. */
Test(sample_find, rows_are_found_by_name_and_occurrence)
{
    static const struct {
        uint32_t id;
        const char *name;
        uint32_t occurrence;
    } rows[] = {{1, "x", 0}, {2, "x", 1}, {1, "x", 2}, {1, "", 0},   {1, "y", 0},
                {2, "x", 3}, {1, "x", 4}, {1, "", 1},  {1, "xx", 0}, {9, "X", 0}};
    sample *s = sample_new(1);
    for (uint32_t result = 0; result < 2; result++) {
        sample_query(s, SET, 1 + result, PFB_NO_ID, "*", result);
        sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
        for (size_t i = 0; i < 10; i++) {
            sample_row(s, rows[i].id, rows[i].name);
            sample_value(s, i, 4);
        }
    }
    sample_load(s);
    pfb_sample_number_rows(&s->table);
    const pfb_guid set = set_guid(SET);
    for (uint32_t result = 0; result < 2; result++) {
        uint32_t column = pfb_sample_find_column(&s->table, &set, 1 + result, 0);
        cr_expect_eq(column, result);
        for (uint32_t i = 0; i < 10; i++) {
            pfb_name name = pfb_utf8_name(rows[i].name, strlen(rows[i].name));
            uint32_t row = pfb_sample_find_row(&s->table, result, &name, NULL, rows[i].occurrence);
            cr_expect_eq(row, 10 * result + i, "row %u", i);
            cr_expect_eq(pfb_sample_value_at(&s->table, row, column).raw, i);
        }
        pfb_name name = pfb_utf8_name("x", 1);
        cr_expect_eq(pfb_sample_find_row(&s->table, result, &name, NULL, 5), PFB_NONE, "there is no sixth x");
    }
    cr_expect_eq(pfb_sample_find_column(&s->table, &set, 3, 0), PFB_NONE);
    check_table(&s->table, "two results");
    sample_free(s);
}

/* A V1 block and its sample. */
typedef struct v1 {
    uint8_t block[1 << 12];
    pfb_writer b;
    void *memory;
    pfb_sample table;
} v1;

static void load_block(pfb_sample *table, void **memory, const void *data, size_t size)
{
    pfb_sample_input input = {.data = data, .data_size_bytes = size};
    pfb_sample_counts counts;
    pfb_sample_measure(&input, &counts);
    *memory = malloc(pfb_sample_size(&counts) + 1);
    pfb_sample_load(table, &input, &counts, *memory, pfb_sample_size(&counts));
}

static void begin_object(v1 *s, uint32_t title, uint32_t code_page)
{
    pfb_v1_object object = {.title_index = title, .default_counter = -1, .instance_count = 0, .code_page = code_page};
    pfb_write_begin_object(&s->b, &object);
}

static void add_instance(v1 *s, const char *name, size_t size, uint32_t encoding, uint32_t parent_title,
                         uint32_t parent_position)
{
    pfb_v1_instance added = {.name = {(const uint8_t *)name, size, encoding},
                             .unique_id = PFB_V1_NO_UNIQUE_ID,
                             .parent_title = parent_title,
                             .parent_position = parent_position};
    pfb_write_v1_instance(&s->b, &added);
}

/* Rows 4 to 8 are threads "t" with the parents "a", the euro sign in UTF-16, and two characters of Windows-1252 that
 * have the bytes of the latter. Row 9 has the euro sign in Windows-1252 as parent, row 10 none. Rows 11 and 12 have no
 * name. */
static v1 *make_threads(bool is_big)
{
    static const uint32_t parents[] = {1, 0, 2, 0, 2};
    uint32_t utf16 = is_big ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE;
    v1 *s = calloc(1, sizeof *s);
    cr_assert_not_null(s);
    v1_begin(&s->b, s->block, sizeof s->block, is_big);
    begin_object(s, 10, 0);
    add_instance(s, is_big ? "\0a" : "a\0", 2, utf16, 0, 0);
    add_instance(s, is_big ? "\x20\xAC" : "\xAC\x20", 2, utf16, 0, 0);
    pfb_write_end_object(&s->b);
    begin_object(s, 20, 1252);
    add_instance(s, is_big ? "\x20\xAC" : "\xAC\x20", 2, 1252, 0, 0);
    add_instance(s, "\x80", 1, 1252, 0, 0);
    pfb_write_end_object(&s->b);
    begin_object(s, 30, 0);
    for (uint32_t i = 0; i < 5; i++)
        add_instance(s, is_big ? "\0t" : "t\0", 2, utf16, parents[i] == 2 ? 20 : 10, parents[i] % 2);
    add_instance(s, is_big ? "\0t" : "t\0", 2, utf16, 20, 1);
    add_instance(s, is_big ? "\0t" : "t\0", 2, utf16, 0, 0);
    add_instance(s, NULL, 0, 0, 10, 0);
    add_instance(s, NULL, 0, 0, 10, 1);
    v1_end(&s->b);
    load_block(&s->table, &s->memory, s->block, s->b.size_bytes);
    return s;
}

Test(sample_find, parents_are_part_of_the_name)
{
    static const struct {
        const char *name, *parent;
        uint32_t occurrence, row;
    } rows[] = {{"t", "a", 0, 5},
                {"t", "a", 1, 7},
                {"t", "a", 2, PFB_NONE},
                {"t", "\xE2\x82\xAC", 0, 4},
                {"t", "", 0, 10},
                {NULL, "a", 0, 11},
                {NULL, "\xE2\x82\xAC", 0, 12},
                {"t", "\xE2\x82\xAC", 1, PFB_NONE},
                {"t", "b", 0, PFB_NONE},
                {"", "a", 0, PFB_NONE},
                {"u", "a", 0, PFB_NONE},
                {NULL, "", 0, PFB_NONE},
                {"ta", "", 0, PFB_NONE}};
    for (int big = 0; big < 2; big++) {
        v1 *s = make_threads(big);
        cr_assert_eq(s->table.counts.rows, 13);
        pfb_sample_number_rows(&s->table);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            pfb_name name = pfb_utf8_name(rows[i].name, rows[i].name ? strlen(rows[i].name) : 0);
            pfb_name parent = pfb_utf8_name(rows[i].parent, strlen(rows[i].parent));
            uint32_t row = pfb_sample_find_row(&s->table, 2, &name, &parent, rows[i].occurrence);
            cr_expect_eq(row, rows[i].row, "case %zu: row %u", i, row);
        }
        /* The names of object 20 are in Windows-1252: only that encoding finds them. */
        pfb_name euro = pfb_utf8_name("\xE2\x82\xAC", 3);
        pfb_name byte = {(const uint8_t *)"\x80", 1, 1252};
        cr_expect_eq(pfb_sample_find_row(&s->table, 1, &euro, NULL, 0), PFB_NONE);
        cr_expect_eq(pfb_sample_find_row(&s->table, 1, &byte, NULL, 0), 3);
        cr_expect_eq(pfb_sample_find_row(&s->table, 0, &byte, NULL, 0), 1, "the euro sign in UTF-16");
        check_table(&s->table, big ? "big-endian" : "little-endian");
        free(s->memory);
        free(s);
    }
}

/* A name that is converted may have 1024 units. */
Test(sample_find, long_names_are_found_in_their_own_encoding)
{
    static char text[MAX_UNITS + 2];
    uint8_t utf16[2 * MAX_UNITS + 2];
    memset(text, 'n', MAX_UNITS + 1);
    for (size_t size = MAX_UNITS; size <= MAX_UNITS + 1; size++) {
        sample *s = sample_new(1);
        pfb_name name = pfb_utf8_name(text, size);
        sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
        pfb_write_instance(&s->data, 1, &name);
        sample_value(s, 5, 4);
        sample_load(s);
        cr_assert_eq(s->table.counts.rows, 1);
        pfb_sample_number_rows(&s->table);
        pfb_name own = pfb_utf16_name(utf16, pfb_name_to_utf16(&name, utf16, MAX_UNITS + 1));
        cr_expect_eq(pfb_sample_find_row(&s->table, 0, &own, NULL, 0), 0, "%zu units", size);
        cr_expect_eq(pfb_sample_find_row(&s->table, 0, &name, NULL, 0), size == MAX_UNITS ? 0 : PFB_NONE);
        cr_expect_eq(pfb_sample_find_row(&s->table, 0, &own, &name, 0), PFB_NONE,
                     "a parent that the row does not have");
        sample_free(s);
    }
}

/* Look-up needs the rows sorted by name, matching sorts them by identity: neither changes what the other finds. */
Test(sample_find, matching_does_not_change_what_is_found)
{
    static const instance older_list[] = {{4, "d"}, {3, "c"}, {2, "b"}, {1, "a"}, {0, NULL}};
    static const instance newer_list[] = {{1, "a"}, {7, "b"}, {2, "b"}, {3, "c"}, {0, NULL}};
    sample *older = sample_of_instances(SET, 1, COUNTER, older_list);
    sample *newer = sample_of_instances(SET, 2, COUNTER, newer_list);
    pfb_sample_number_rows(&newer->table);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    check_table(&newer->table, "numbered, then matched");
    check_table(&older->table, "matched, then numbered");
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    for (uint32_t row = 0; row < 4; row++)
        cr_expect_eq(newer->table.rows[row].older_row, matching_row(older_list, newer_list, row), "row %u", row);
    sample_free_both(older, newer);
}

/* ---- Blocks of other sources --------------------------------------------------------------------------- */

/* Compares the fields of objects and counters with those that the reader of V1 blocks returns. */
static void check_fields(const pfb_sample *s, const char *what, const uint8_t *data, size_t size)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_open(&block, data, size, NULL);
    for (uint32_t r = 0; pfb_v1_next_object(&block, &object); r++) {
        const pfb_sample_result *result = &s->results[r];
        cr_expect(result->help_index == object.help_index && result->detail_level == object.detail_level, "%s", what);
        uint32_t utf16 = block.is_big_endian ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE;
        cr_expect_eq(result->code_page, object.code_page == 0 ? utf16 : object.code_page, "%s: object %u", what, r);
        uint32_t column = result->first_column;
        uint32_t default_column = PFB_NONE;
        for (; pfb_v1_next_counter(&block, &counter); column++) {
            cr_expect_eq(s->columns[column].help_index, counter.help_index, "%s", what);
            cr_expect_eq(s->columns[column].counter.detail_level, counter.detail_level, "%s", what);
            if ((int64_t)counter.position == object.default_counter)
                default_column = column;
        }
        cr_expect_eq(result->default_column, default_column, "%s: object %u", what, r);
    }
}

static void check_block(const char *name, const uint8_t *data, size_t size)
{
    pfb_sample table;
    void *memory;
    load_block(&table, &memory, data, size);
    if (pfb_v1_recognise(data, size))
        check_fields(&table, name, data, size);
    if (table.counts.rows <= 256)
        check_table(&table, name);
    free(memory);
}

Test(sample_find, seeds)
{
    cr_assert_geq(visit_seeds("v2", check_block), 10);
    cr_assert_geq(visit_seeds("v1", check_block), 10);
    cr_expect(found_rows > 1000 && found_duplicates > 10, "%u rows, %u duplicates", found_rows, found_duplicates);
}

/* Checks the samples of a recording. */
static void check_recording(const char *name)
{
    pfb_capture capture;
    pfb_chunk chunk;
    static uint8_t data[1 << 20];
    char path[512];
    snprintf(path, sizeof path, "%s/fixtures/%s", PERFBLOCK_SOURCE_DIR, name);
    FILE *stream = fopen(path, "rb");
    cr_assert_not_null(stream, "%s", path);
    size_t size = fread(data, 1, sizeof data, stream);
    fclose(stream);
    cr_assert(pfb_capture_open(&capture, data, size, true, NULL));
    unsigned rows = found_rows;
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        if (chunk.tag == PFB_TAG_DATA || chunk.tag == PFB_TAG_V1)
            check_block(name, data + chunk.body_offset, chunk.body_size_bytes);
    }
    cr_expect_gt(found_rows, rows, "%s has rows", name);
}

Test(sample_find, fixtures)
{
    check_recording("machine_v1.pfb");
    check_recording("machine_german_v1.pfb");
    check_recording("machine_names_v1.pfb");
    check_recording("odd_names.pfb");
    check_recording("processor.pfb");
}

Test(sample_find, blocks_of_a_real_machine)
{
    static const unsigned objects[] = {2, 4, 230, 234, 236, 238, 510, 638};
    skip_without_real("v1/pal-s00-obj2.bin", "blocks of a real machine");
    for (size_t i = 0; i < 16; i++) {
        char name[64];
        snprintf(name, sizeof name, "v1/pal-s%02u-obj%u.bin", (unsigned)(i / 8), objects[i % 8]);
        real_file f = read_real(name);
        check_block(name, f.data, f.size);
        free(f.data);
    }
    cr_expect(found_rows > 500 && found_duplicates > 10, "%u rows, %u duplicates", found_rows, found_duplicates);
}
