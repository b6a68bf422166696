/* SPDX-License-Identifier: MIT */
#include "select/titles.h"

#include "select/memory.h"

#include <stdlib.h>
#include <string.h>

bool pfb_titles_add(titles *t, bool is_given, const void *data, size_t size, const pfb_read_options *options,
                    pfb_error *error)
{
    pfb_name_table table;
    pfb_name_entry entry;
    bool has_number = t->table_count < GIVEN_TITLES;
    title_table *copy = has_number && size < SIZE_MAX - sizeof *copy ? malloc(sizeof *copy + size) : NULL;
    if (!copy)
        return false;
    if (size > 0)
        memcpy(copy->bytes, data, size);
    copy->next = t->tables;
    t->tables = copy;
    uint32_t number = t->table_count++ | (is_given ? GIVEN_TITLES : 0);
    t->has_given = t->has_given || is_given;
    uint32_t position = 0;
    pfb_name_table_open(&table, copy->bytes, size, options);
    while (pfb_name_table_next_entry(&table, &entry)) {
        if (!PFB_COLLECT_GROW(t->rows, t->capacity, t->count + 1))
            return false;
        t->rows[t->count++] =
            (title_row){.index = entry.index, .table = number, .position = position, .name = entry.name};
        position++;
    }
    *error = table.error;
    return true;
}

void pfb_titles_free(titles *t)
{
    while (t->tables) {
        title_table *next = t->tables->next;
        free(t->tables);
        t->tables = next;
    }
    free(t->rows);
    *t = (titles){.rows = NULL};
}

static int compare_rows(const void *left, const void *right)
{
    const title_row *a = left;
    const title_row *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
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

/* Returns the first row of this index in the run from `low` to `high`, or null. */
static const title_row *find_in_run(const titles *t, size_t low, size_t high, uint32_t index)
{
    size_t end = high;
    while (low < high) { /* finds the first row with this index or a larger one */
        size_t middle = low + (high - low) / 2;
        if (t->rows[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && t->rows[low].index == index ? &t->rows[low] : NULL;
}

pfb_name pfb_titles_find(titles *t, uint32_t index)
{
    const title_row *row = NULL;
    sort_new_rows(t);
    for (size_t i = t->run_count; i > 0 && (!row || t->has_given); i--) {
        const title_row *found = find_in_run(t, i > 1 ? t->run_ends[i - 2] : 0, t->run_ends[i - 1], index);
        row = found && (!row || found->table > row->table) ? found : row;
    }
    return row ? row->name : (pfb_name){.bytes = NULL};
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
