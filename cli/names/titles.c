/* SPDX-License-Identifier: MIT */
#include "names/titles.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/capture.h"
#include "perfblock/v1.h"

#include <stdlib.h>

/* ---- Tables ---------------------------------------------------------------------------------------------- */

pfb_error titles_add(titles *t, const uint8_t *data, size_t size, uint32_t options)
{
    pfb_name_table table;
    pfb_name_entry entry;
    size_t position = 0;
    pfb_name_table_open(&table, data, size, options);
    while (pfb_name_table_next(&table, &entry)) {
        t->rows = memory_grow(t->rows, &t->capacity, t->count + 1, sizeof *t->rows);
        t->rows[t->count++] =
            (title_row){.index = entry.index, .name = entry.name, .table = t->table_count, .position = position};
        position++;
    }
    t->table_count++;
    t->is_sorted = false;
    return table.error;
}

void titles_add_capture(titles *t, const uint8_t *data, size_t size, uint32_t options)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, data, size);
    while (pfb_capture_next(&capture, &chunk)) {
        if (chunk.is_known && chunk.tag == PFB_TAG_NAMES)
            titles_add(t, data + chunk.body_offset, chunk.body_size_bytes, options);
    }
}

void titles_add_file(titles *t, const char *path, uint32_t options)
{
    if (!path || !input_read(&t->file, path, INPUT_NAMES))
        return;
    pfb_error error = titles_add(t, t->file.data, t->file.size, options);
    if (error.code != PFB_OK)
        diagnostics_malformed(path, error);
}

void titles_free(titles *t)
{
    free(t->rows);
    input_free(&t->file);
    *t = (titles){0};
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* The row that counts stands first among those of its index. */
static int compare_titles(const void *left, const void *right)
{
    const title_row *a = left;
    const title_row *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    if (a->table != b->table)
        return a->table > b->table ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static const title_row *find_title(titles *t, uint32_t index)
{
    if (!t->is_sorted && t->count > 0)
        qsort(t->rows, t->count, sizeof *t->rows, compare_titles);
    t->is_sorted = true;
    size_t low = 0;
    size_t high = t->count;
    while (low < high) { /* the first row not below */
        size_t middle = low + (high - low) / 2;
        if (t->rows[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && t->rows[low].index == index ? &t->rows[low] : NULL;
}

pfb_name titles_find(titles *t, uint32_t index)
{
    const title_row *found = t && t->preferred ? find_title(t->preferred, index) : NULL;
    if (t && !found)
        found = find_title(t, index);
    return found ? found->name : (pfb_name){0};
}
