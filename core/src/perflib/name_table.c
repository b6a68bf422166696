/* SPDX-License-Identifier: MIT */
#include "perfblock/v1.h"

#include "bytes/code_points.h"
#include "bytes/never.h"

/* ---- Units ------------------------------------------------------------------------------------------- */

/* The unread part of a table during one call. The functions that use it are inline, so that it stays in registers; the
 * caller's struct would be loaded and stored for each unit. */
typedef struct table_units {
    const uint8_t *data;
    size_t at, end; /* a whole number of units */
    size_t width;   /* bytes per unit: 1 or 2 */
} table_units;

static inline table_units units_left(const pfb_name_table *table)
{
    return (table_units){table->data, table->at, table->size, table->encoding == PFB_ENCODING_UTF16LE ? 2 : 1};
}

/* Returns the unit at `at`, which must be below the end. */
static inline unsigned unit_at(const table_units *u, size_t at)
{
    const uint8_t *p = pfb_checked((pfb_view){u->data, u->end}, at, u->width);
    return u->width == 2 ? load_le16(p) : *p;
}

/* ---- Strings ----------------------------------------------------------------------------------------- */

/* A field of the table and its terminator: a NUL, a line feed, a tab, or the end of the input. */
typedef struct piece {
    size_t begin, end;
    unsigned ended_by; /* the terminator, or PIECE_END for the end of the input */
} piece;

enum { PIECE_END = 0x10000 };

/* Sets of terminators, as bits. No terminator is above a line feed, so one comparison suffices for most units. */
enum { AT_NUL = 1, AT_TAB = 1 << '\t', AT_LINE = 1 << '\n' };

static inline piece next_piece(table_units *u, unsigned ends)
{
    piece p = {u->at, u->end, PIECE_END};
    for (; u->at < u->end; u->at += u->width) {
        unsigned unit = unit_at(u, u->at);
        if (unit <= '\n' && (ends >> unit & 1)) {
            p.end = u->at;
            p.ended_by = unit;
            u->at += u->width;
            break;
        }
    }
    if ((ends & AT_LINE) && p.end > p.begin && unit_at(u, p.end - u->width) == '\r')
        p.end -= u->width;
    return p;
}

/* Parses at least one decimal digit to a number below 2^32. */
static inline bool parse_index(const table_units *u, const piece *p, uint32_t *index)
{
    uint64_t number = 0;
    for (size_t at = p->begin; at < p->end; at += u->width) {
        unsigned digit = unit_at(u, at) - (unsigned)'0';
        if (digit > 9)
            return false;
        number = 10 * number + digit;
        if (number > UINT32_MAX)
            return false;
    }
    *index = (uint32_t)number;
    return p->end > p->begin;
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* Records a deviation as a note, or as an error in strict mode. Returns true if reading may continue. Must not be
 * called after an error. */
static bool table_tolerate(pfb_name_table *table, uint32_t note, pfb_code code, size_t offset)
{
    if (table->is_strict)
        table->error = (pfb_error){code, offset};
    else
        table->notes |= note;
    return table->error.code == PFB_OK;
}

/* Detects the encoding by the byte order mark, or else by the first character, which is a digit or a NUL. With a stated
 * code page, a digit and a NUL are UTF-16 only if the second character is in UTF-16, too: a NUL, a digit, or a line
 * end. */
static void detect_encoding(pfb_name_table *table, uint32_t code_page)
{
    const pfb_view bytes = {table->data, table->size};
    const uint8_t *two = pfb_at(bytes, 0, 2);
    const uint8_t *three = pfb_at(bytes, 0, 3);
    const uint8_t *four = pfb_at(bytes, 0, 4);
    bool is_utf16 = false;
    if (three && three[0] == 0xEF && three[1] == 0xBB && three[2] == 0xBF) {
        table->at = 3;
        code_page = 0;
    } else if (two && two[0] == 0xFF && two[1] == 0xFE) {
        is_utf16 = true;
        table->at = 2;
    } else {
        is_utf16 = two && two[1] == 0 && !(code_page != 0 && four && four[3] != 0);
    }
    table->encoding = is_utf16 ? PFB_ENCODING_UTF16LE : code_page != 0 ? code_page : PFB_ENCODING_UTF8;
    table->size -= is_utf16 ? table->size % 2 : 0; /* ignore half a unit at the end */
}

/* Detects the form by the terminator of the first number: a NUL in multi-strings, a tab or a line end in text. */
static void detect_form(pfb_name_table *table)
{
    table_units u = units_left(table);
    piece first = next_piece(&u, AT_NUL | AT_TAB | AT_LINE);
    uint32_t index;
    table->is_lines = first.ended_by != 0;
    table->has_tabs = first.ended_by == '\t';
    if (first.end > first.begin && !parse_index(&u, &first, &index))
        table->error = (pfb_error){PFB_UNKNOWN_FORMAT, first.begin};
}

bool pfb_name_table_open(pfb_name_table *table, const void *data, size_t size, const pfb_read_options *options)
{
    *table = (pfb_name_table){.data = data, .size = data ? size : 0, .is_strict = pfb_is_strict(options)};
    detect_encoding(table, options ? options->code_page : 0);
    detect_form(table);
    return table->error.code == PFB_OK;
}

/* The outcome of reading a pair: one was read, some bytes were skipped, or nothing more is read: the table ended or has
 * an error. */
typedef enum table_step { PAIR, SKIPPED, ENDED } table_step;

/* Skips empty fields where an index should be. An empty string ends a multi-string; bytes after it are a deviation.
 * Empty lines are allowed. */
static inline table_step skip_empty(pfb_name_table *table, table_units *u, const piece *p)
{
    /* Skips all consecutive empty fields at once. In a multi-string they are allowed only if nothing else follows;
     * testing this after each field would take quadratic time. */
    for (; u->at < u->end; u->at += u->width) {
        unsigned unit = unit_at(u, u->at);
        if (unit != 0 && !(table->is_lines && unit == '\n'))
            return table->is_lines || table_tolerate(table, PFB_NOTE_BAD_PAIR, PFB_BAD_PAIR, p->begin) ? SKIPPED
                                                                                                       : ENDED;
    }
    return ENDED;
}

/* Reads the text after the field where an index should be. If that field is not a number, only this field is skipped,
 * and the next string may be an index; a line with a tab is skipped whole. Returns false if there is no text to return.
 * A NUL at the end of a multi-string ends the table. It is not an empty text, so an index before it has no text. */
static inline bool read_text(const pfb_name_table *table, table_units *u, const piece *number, bool is_number,
                             piece *text)
{
    bool has_tab = number->ended_by == '\t';
    if (!has_tab && (!is_number || number->ended_by == PIECE_END || table->has_tabs || u->at == u->end))
        return false;
    *text = next_piece(u, table->is_lines ? AT_NUL | AT_LINE : AT_NUL);
    return is_number && (table->is_lines || text->end > text->begin || u->at < u->end);
}

static inline table_step next_pair(pfb_name_table *table, table_units *u, pfb_name_entry *entry)
{
    uint32_t index;
    piece text;
    piece number = next_piece(u, table->is_lines ? AT_NUL | AT_LINE | AT_TAB : AT_NUL);
    if (number.end == number.begin && number.ended_by != '\t')
        return skip_empty(table, u, &number);
    bool is_number = parse_index(u, &number, &index);
    if (!read_text(table, u, &number, is_number, &text))
        return table_tolerate(table, PFB_NOTE_BAD_PAIR, PFB_BAD_PAIR, number.begin) ? SKIPPED : ENDED;
    if (text.ended_by == PIECE_END && !table->is_lines &&
        !table_tolerate(table, PFB_NOTE_UNTERMINATED, PFB_TRUNCATED_STRING, text.begin))
        return ENDED;
    size_t size = text.end - text.begin;
    *entry =
        (pfb_name_entry){index, {pfb_checked((pfb_view){u->data, u->end}, text.begin, size), size, table->encoding}};
    return PAIR;
}

bool pfb_name_table_next_entry(pfb_name_table *table, pfb_name_entry *entry)
{
    table_units u = units_left(table);
    table_step step = table->error.code == PFB_OK ? SKIPPED : ENDED;
    while (step == SKIPPED && u.at < u.end)
        step = next_pair(table, &u, entry);
    table->at = u.at;
    return step == PAIR;
}

uint32_t pfb_name_table_count(pfb_name_table *table)
{
    pfb_name_entry entry;
    uint32_t count = 0;
    /* A pair has at least 3 bytes: more than UINT32_MAX pairs would need a table of 12 GiB. */
    while (PFB_ALWAYS(count < UINT32_MAX) && pfb_name_table_next_entry(table, &entry))
        count++;
    return count;
}

/* ---- Orders ------------------------------------------------------------------------------------------ */

static int compare_u32(uint32_t left, uint32_t right)
{
    return (left > right) - (left < right);
}

/* Compares by code points. */
static int table_compare_names(const pfb_name *left, const pfb_name *right)
{
    size_t i = 0;
    size_t k = 0;
    while (i < left->size_bytes && k < right->size_bytes) {
        int difference = compare_u32(pfb_decode_name(left, &i), pfb_decode_name(right, &k));
        if (difference != 0)
            return difference;
    }
    return (i < left->size_bytes) - (k < right->size_bytes);
}

/* The index to sort, and the key. */
typedef struct table_order {
    const pfb_name_index *index;
    bool by_name;
} table_order;

static int table_compare(const table_order *o, uint32_t left, uint32_t right)
{
    int difference = 0;
    if (o->by_name)
        difference = table_compare_names(&o->index->entries[left].name, &o->index->entries[right].name);
    if (difference == 0)
        difference = compare_u32(o->index->entries[left].index, o->index->entries[right].index);
    return difference != 0 ? difference : compare_u32(left, right);
}

#define SORT_CONTEXT table_order
#define SORT_COMPARE table_compare
#define SORT_PREFIX(name) table_##name
#include "bytes/sort.h"

pfb_error pfb_name_index_build(pfb_name_index *index, const pfb_name_table *table, pfb_name_entry *entries,
                               uint32_t *by_index, uint32_t *by_name, uint32_t capacity)
{
    pfb_name_table reader = *table;
    pfb_name_entry entry;
    *index = (pfb_name_index){.entries = entries, .by_index = by_index, .by_name = by_name};
    while (index->count < capacity && pfb_name_table_next_entry(&reader, &entry))
        entries[index->count++] = entry;
    for (uint32_t i = 0; i < index->count; i++)
        by_index[i] = i;
    table_sort(&(table_order){index, false}, by_index, index->count);
    /* Start from the order by index: entries with equal names, of which there may be many, are then already sorted. */
    for (uint32_t i = 0; i < index->count; i++)
        by_name[i] = by_index[i];
    table_sort(&(table_order){index, true}, by_name, index->count);
    if (index->count == capacity && pfb_name_table_next_entry(&reader, &entry))
        return (pfb_error){PFB_CALLER_TOO_SMALL, 0};
    return reader.error;
}

/* ---- Look-up ----------------------------------------------------------------------------------------- */

const pfb_name_entry *pfb_name_index_find(const pfb_name_index *index, uint32_t title_index)
{
    uint32_t low = 0;
    uint32_t high = index->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->entries[index->by_index[middle]].index < title_index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->count)
        return NULL;
    const pfb_name_entry *entry = &index->entries[index->by_index[low]];
    return entry->index == title_index ? entry : NULL;
}

/* Returns the position in by_name of the first text that is not below `key`; if `is_upper`, of the first above it. */
static uint32_t find_bound(const pfb_name_index *index, const pfb_name *key, bool is_upper)
{
    uint32_t low = 0;
    uint32_t high = index->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int difference = table_compare_names(&index->entries[index->by_name[middle]].name, key);
        if (difference < 0 || (is_upper && difference == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t pfb_name_index_named(const pfb_name_index *index, const pfb_name *name, uint32_t *first)
{
    *first = find_bound(index, name, false);
    uint32_t end = find_bound(index, name, true);
    return end > *first ? end - *first : 0; /* less than *first only if the names have changed in between */
}
