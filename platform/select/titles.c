/* SPDX-License-Identifier: MIT */
#include "select/titles.h"

#include "perfblock/query.h"
#include "select/code_page.h"
#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

unsigned pfb_title_language(uint32_t language)
{
    const uint32_t primary = 0x3FF; /* mask: without the dialect */
    return (language & primary) == 9 ? TITLE_ENGLISH : TITLE_LOCAL;
}

/* Copies a table, in UTF-16 or UTF-8. Returns null when memory is exhausted. */
static title_table *copy_table(const void *data, size_t size, const pfb_read_options *options)
{
    pfb_name text = {data, size, PFB_ENCODING_UTF8};
    pfb_name_table table;
    pfb_name_table_open(&table, data, size, options);
    const bool may_convert = options && options->code_page != 0 && table.encoding == options->code_page;
    const bool is_converted =
        may_convert && pfb_name_to_utf8(&text, NULL, 0) != size; /* malformed bytes become longer */
    if (is_converted)
        text.encoding = options->code_page;
    size_t copied_size = is_converted ? pfb_code_page_to_utf8(&text, NULL, 0) : size;
    title_table *copy = copied_size < SIZE_MAX - sizeof *copy ? malloc(sizeof *copy + copied_size + 1) : NULL;
    if (!copy)
        return NULL;
    *copy = (title_table){.size = copied_size, .code_page = may_convert ? PFB_ENCODING_UTF8 : 0};
    if (is_converted)
        pfb_code_page_to_utf8(&text, (char *)copy->bytes, copied_size + 1);
    else if (size > 0)
        memcpy(copy->bytes, data, size);
    return copy;
}

static void open_copy(pfb_name_table *table, const title_table *copy, bool is_strict)
{
    const pfb_read_options options = {.is_strict = is_strict, .code_page = copy->code_page};
    pfb_name_table_open(table, copy->bytes, copy->size, &options);
}

bool pfb_titles_add(titles *t, bool is_given, unsigned language, const void *data, size_t size,
                    const pfb_read_options *options, pfb_error *error)
{
    pfb_name_table table;
    pfb_name_entry entry;
    bool has_number = t->table_count < GIVEN_TITLES;
    title_table *copy = has_number ? copy_table(data, size, options) : NULL;
    if (!copy)
        return false;
    copy->language = language;
    copy->next = t->tables;
    t->tables = copy;
    uint32_t number = t->table_count++ | (is_given ? GIVEN_TITLES : 0);
    t->has_given = t->has_given || is_given;
    t->has_language[language] = true;
    uint32_t position = 0;
    open_copy(&table, copy, options && options->is_strict);
    while (pfb_name_table_next_entry(&table, &entry)) {
        if (!PFB_COLLECT_GROW(t->rows, t->capacity, t->count + 1))
            return false;
        t->rows[t->count++] = (title_row){
            .index = entry.index, .table = number, .position = position, .language = language, .name = entry.name};
        position++;
    }
    *error = table.error;
    return true;
}

void pfb_titles_free(titles *t)
{
    while (t->tables) {
        title_table *next = t->tables->next;
        free(t->tables->index.entries);
        free(t->tables->index.by_index);
        free(t->tables->folded);
        free(t->tables);
        t->tables = next;
    }
    free(t->rows);
    *t = (titles){.rows = NULL};
}

/* Compares a row with an index and a language. */
static int compare_with(const title_row *row, uint32_t index, unsigned language)
{
    if (row->index != index)
        return row->index < index ? -1 : 1;
    return (row->language > language) - (row->language < language);
}

static int compare_rows(const void *left, const void *right)
{
    const title_row *a = left;
    const title_row *b = right;
    int order = compare_with(a, b->index, b->language);
    if (order != 0)
        return order;
    if (a->table != b->table)
        return a->table > b->table ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* Makes a run of the rows that are in none, together with the earlier runs that are less than twice as long
 * as it. */
static void sort_new_rows(titles *t)
{
    size_t begin = t->run_count > 0 ? t->run_ends[t->run_count - 1] : 0;
    if (begin == t->count)
        return;
    while (t->run_count > 0) {
        size_t run_begin = t->run_count > 1 ? t->run_ends[t->run_count - 2] : 0;
        if ((begin - run_begin) / 2 >= t->count - begin)
            break;
        begin = run_begin;
        t->run_count--;
    }
    qsort(t->rows + begin, t->count - begin, sizeof *t->rows, compare_rows);
    t->run_ends[t->run_count++] = t->count;
}

/* Returns the first row of this index and language in the run from `low` to `high`, or null. */
static const title_row *find_in_run(const titles *t, size_t low, size_t high, uint32_t index, unsigned language)
{
    size_t end = high;
    while (low < high) { /* finds the first row that is not before it */
        size_t middle = low + (high - low) / 2;
        if (compare_with(&t->rows[middle], index, language) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && compare_with(&t->rows[low], index, language) == 0 ? &t->rows[low] : NULL;
}

pfb_name pfb_titles_find_in(titles *t, uint32_t index, unsigned language)
{
    const title_row *row = NULL;
    sort_new_rows(t);
    for (size_t i = t->has_language[language] ? t->run_count : 0; i > 0 && (!row || t->has_given); i--) {
        const title_row *found = find_in_run(t, i > 1 ? t->run_ends[i - 2] : 0, t->run_ends[i - 1], index, language);
        row = found && (!row || found->table > row->table) ? found : row;
    }
    return row ? row->name : (pfb_name){.bytes = NULL};
}

pfb_name pfb_titles_find(titles *t, uint32_t index, unsigned language)
{
    pfb_name name = pfb_titles_find_in(t, index, language);
    return name.bytes ? name : pfb_titles_find_in(t, index, language == TITLE_LOCAL ? TITLE_ENGLISH : TITLE_LOCAL);
}

bool pfb_titles_is_named(titles *t, uint32_t index, unsigned language, const pfb_name *name)
{
    enum { MAX_ROWS = 16 }; /* of one index: a hostile table can give one index all names */
    bool is_named = false;
    sort_new_rows(t);
    for (size_t i = t->has_language[language] && name->bytes ? t->run_count : 0; i > 0 && !is_named; i--) {
        const title_row *row = find_in_run(t, i > 1 ? t->run_ends[i - 2] : 0, t->run_ends[i - 1], index, language);
        const title_row *end = t->rows + t->run_ends[i - 1];
        for (int n = 0; row && row < end && n < MAX_ROWS && compare_with(row, index, language) == 0 && !is_named; n++)
            is_named = pfb_query_match(name, &row++->name, PFB_MATCH_EXACT | PFB_MATCH_IGNORE_CASE);
    }
    return is_named;
}

/* Makes A to Z lower case in a text of UTF-16LE or another encoding that has ASCII as single bytes. */
static void fold(uint8_t *bytes, size_t size, uint32_t encoding)
{
    const size_t unit = encoding == PFB_ENCODING_UTF16LE ? 2 : 1;
    for (size_t i = 0; i + unit <= size; i += unit) {
        if (bytes[i] >= 'A' && bytes[i] <= 'Z' && (unit == 1 || bytes[i + 1] == 0))
            bytes[i] = (uint8_t)(bytes[i] - 'A' + 'a');
    }
}

/* Sorts the folded names of a table, unless that was done. Returns false when memory is exhausted. */
static bool index_table(title_table *t)
{
    const pfb_read_options options = {.code_page = t->code_page};
    pfb_name_table table;
    if (t->index.entries)
        return true;
    if (!t->folded)
        t->folded = malloc(t->size + 1);
    if (!t->folded)
        return false;
    memcpy(t->folded, t->bytes, t->size);
    pfb_name_table_open(&table, t->folded, t->size, &options);
    fold(t->folded, t->size, table.encoding);
    pfb_name_table copy = table;
    const uint32_t count = pfb_name_table_count(&copy);
    t->index.entries = calloc((size_t)count + 1, sizeof *t->index.entries);
    t->index.by_index = calloc((size_t)count + 1, 2 * sizeof *t->index.by_index);
    if (!t->index.entries || !t->index.by_index) {
        free(t->index.entries);
        free(t->index.by_index);
        t->index = (pfb_name_index){.count = 0};
        return false;
    }
    pfb_name_index_build(&t->index, &table, t->index.entries, t->index.by_index, t->index.by_index + count, count);
    return true;
}

/* Adds a name unless it is absent or there already. */
static void add_translation(title_translations *translations, const pfb_name *name)
{
    bool is_new = name->bytes != NULL && translations->count < TITLE_MAX_TRANSLATIONS;
    for (size_t i = 0; i < translations->count && is_new; i++)
        is_new = !pfb_name_equal(&translations->names[i], name);
    if (is_new)
        translations->names[translations->count++] = *name;
}

bool pfb_titles_translate(titles *t, const pfb_name *name, unsigned language, title_translations *translations)
{
    enum { MAX_INDEXES = 64 }; /* of one name in a table: a hostile one can give all indexes one name */
    const unsigned other = language == TITLE_LOCAL ? TITLE_ENGLISH : TITLE_LOCAL;
    translations->count = 0;
    if (!t->has_language[TITLE_LOCAL] || !t->has_language[TITLE_ENGLISH] || !name->bytes)
        return true;
    uint8_t *folded = malloc(name->size_bytes + 1);
    bool has_memory = folded != NULL;
    if (has_memory && name->size_bytes > 0)
        memcpy(folded, name->bytes, name->size_bytes);
    if (has_memory)
        fold(folded, name->size_bytes, name->encoding);
    const pfb_name wanted = {folded, name->size_bytes, name->encoding};
    for (title_table *table = t->tables; table && has_memory; table = table->next) {
        uint32_t first;
        uint32_t count = 0;
        if (table->language != other)
            continue;
        has_memory = index_table(table);
        if (has_memory)
            count = pfb_name_index_named(&table->index, &wanted, &first);
        for (uint32_t i = 0; i < count && i < MAX_INDEXES; i++) {
            uint32_t index = table->index.entries[table->index.by_name[first + i]].index;
            pfb_name found = pfb_titles_find_in(t, index, language);
            add_translation(translations, &found);
        }
    }
    free(folded);
    return has_memory;
}

static int compare_indexes(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

size_t pfb_titles_sort(uint32_t *indexes, size_t count)
{
    size_t unique = 0;
    if (count > 0)
        qsort(indexes, count, sizeof *indexes, compare_indexes);
    for (size_t i = 0; i < count; i++) {
        if (unique == 0 || indexes[unique - 1] != indexes[i])
            indexes[unique++] = indexes[i];
    }
    return unique;
}
