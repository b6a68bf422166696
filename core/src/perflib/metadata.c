/* SPDX-License-Identifier: MIT */
#include "perfblock/metadata.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "perflib/v2_fields.h"

/* Sizes of a GUID, PERF_COUNTERSET_REG_INFO, PERF_COUNTER_REG_INFO, PERF_STRING_BUFFER_HEADER and
 * PERF_STRING_COUNTER_HEADER. */
enum {
    GUID_BYTES = 16,
    COUNTERSET_BYTES = 32,
    REGISTERED_COUNTER_BYTES = 48,
    STRINGS_HEADER_BYTES = 8,
    STRING_ENTRY_BYTES = 8
};

/* ---- GUIDs ----------------------------------------------------------------------------------------- */

/* Position in the GUID of each byte of the text form. The first three groups are little-endian numbers, so their bytes
 * are reversed. */
static const uint8_t guid_order[GUID_BYTES] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

static bool hyphen_follows(int byte)
{
    return byte == 3 || byte == 5 || byte == 7 || byte == 9;
}

bool pfb_guid_equal(const pfb_guid *left, const pfb_guid *right)
{
    /* Not memcmp: a hosted compiler may turn a comparison with 0 into bcmp, which core must not import. */
    return load_le64(left->bytes) == load_le64(right->bytes) &&
           load_le64(left->bytes + 8) == load_le64(right->bytes + 8);
}

void pfb_guid_format(const pfb_guid *guid, char text[PFB_GUID_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < GUID_BYTES; i++) {
        uint8_t byte = guid->bytes[guid_order[i]];
        *text++ = digits[byte >> 4];
        *text++ = digits[byte & 15];
        if (hyphen_follows(i))
            *text++ = '-';
    }
    *text = '\0';
}

/* Returns 0 to 15, or -1 for any other character. */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool pfb_guid_parse(const char *text, size_t size, pfb_guid *guid)
{
    if (size == PFB_GUID_TEXT_BYTES + 1 && text[0] == '{' && text[size - 1] == '}') {
        text++;
        size -= 2;
    }
    if (size != PFB_GUID_TEXT_BYTES - 1)
        return false;
    pfb_guid read;
    for (int i = 0; i < GUID_BYTES; i++) { /* reads exactly the 36 characters */
        int high = hex_digit(text[0]);
        int low = hex_digit(text[1]);
        if (high < 0 || low < 0)
            return false;
        read.bytes[guid_order[i]] = (uint8_t)(high << 4 | low);
        text += 2;
        if (hyphen_follows(i) && *text++ != '-')
            return false;
    }
    *guid = read;
    return true;
}

static pfb_guid load_guid(const uint8_t *p)
{
    pfb_guid guid;
    memcpy(guid.bytes, p, GUID_BYTES);
    return guid;
}

pfb_error pfb_registration_guid(const void *data, size_t size, pfb_guid *guid)
{
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, GUID_BYTES, PFB_TRUNCATED_HEADER);
    if (p)
        *guid = load_guid(p);
    return cursor.error;
}

/* ---- Countersets and counters ----------------------------------------------------------------------- */

static pfb_counter load_counter(const uint8_t *p, size_t offset)
{
    return (pfb_counter){.offset = offset,
                         .id = load_le32(p),
                         .type = load_le32(p + 4),
                         .attributes = load_le64(p + 8),
                         .detail_level = load_le32(p + 16),
                         .default_scale = signed_32(load_le32(p + 20)),
                         .base_id = load_le32(p + 24),
                         .perf_time_id = load_le32(p + 28),
                         .perf_freq_id = load_le32(p + 32),
                         .multi_id = load_le32(p + 36),
                         .aggregate = load_le32(p + 40)};
}

/* Returns the PERF_COUNTER_REG_INFO at `position`. Requires position < counter_count, which open checked against the
 * size. */
static const uint8_t *counter_bytes(const pfb_registration *registration, uint32_t position)
{
    pfb_view counters = {registration->data,
                         COUNTERSET_BYTES + (size_t)REGISTERED_COUNTER_BYTES * registration->counter_count};
    return pfb_checked(counters, COUNTERSET_BYTES + (size_t)REGISTERED_COUNTER_BYTES * position,
                       REGISTERED_COUNTER_BYTES);
}

static uint32_t counter_id_at(const pfb_registration *registration, uint32_t position)
{
    return load_le32(counter_bytes(registration, position));
}

static bool has_ascending_ids(const pfb_registration *registration)
{
    for (uint32_t i = 1; i < registration->counter_count; i++) {
        if (counter_id_at(registration, i) < counter_id_at(registration, i - 1))
            return false;
    }
    return true;
}

bool pfb_registration_open(pfb_registration *registration, const void *data, size_t size,
                           const pfb_read_options *options)
{
    *registration = (pfb_registration){.data = data};
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, COUNTERSET_BYTES, PFB_TRUNCATED_HEADER);
    if (p) {
        registration->guid = load_guid(p);
        registration->detail_level = load_le32(p + 20);
        uint32_t count = load_le32(p + 24);
        registration->instance_type = load_le32(p + 28);
        if (count > pfb_cursor_left(&cursor) / REGISTERED_COUNTER_BYTES)
            pfb_cursor_fail(&cursor, PFB_BAD_COUNTER_COUNT, 24);
        else if (pfb_cursor_left(&cursor) > (size_t)REGISTERED_COUNTER_BYTES * count)
            pfb_cursor_tolerate(&cursor, pfb_is_strict(options), &registration->notes, PFB_NOTE_TRAILING_BYTES,
                                PFB_TRAILING_BYTES, COUNTERSET_BYTES + (size_t)REGISTERED_COUNTER_BYTES * count);
        registration->counter_count = cursor.error.code == PFB_OK ? count : 0;
        registration->is_ascending = has_ascending_ids(registration);
    }
    registration->error = cursor.error;
    return cursor.error.code == PFB_OK;
}

/* Requires position < counter_count. */
static pfb_counter registered_counter(const pfb_registration *registration, uint32_t position)
{
    return load_counter(counter_bytes(registration, position),
                        COUNTERSET_BYTES + (size_t)REGISTERED_COUNTER_BYTES * position);
}

bool pfb_registration_counter_at(const pfb_registration *registration, uint32_t position, pfb_counter *counter)
{
    if (position >= registration->counter_count)
        return false;
    *counter = registered_counter(registration, position);
    return true;
}

/* Returns the position of the n-th counter in the order of pfb_registration_sort; n if that was not called. */
static uint32_t position_by_id(const pfb_registration *registration, uint32_t n)
{
    return registration->order ? registration->order[n] : n;
}

bool pfb_registration_find(const pfb_registration *registration, uint32_t id, pfb_counter *counter)
{
    bool is_sorted = registration->is_ascending || registration->order;
    uint32_t low = 0;
    uint32_t high = registration->counter_count;
    /* Sorted: finds the first counter whose id is `id` or above. Unsorted: finds the first whose id is `id`. */
    while (low < high) {
        uint32_t middle = is_sorted ? low + (high - low) / 2 : low;
        uint32_t candidate_id = counter_id_at(registration, position_by_id(registration, middle));
        if (is_sorted ? candidate_id < id : candidate_id != id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == registration->counter_count)
        return false;
    pfb_counter candidate = registered_counter(registration, position_by_id(registration, low));
    if (candidate.id != id)
        return false;
    *counter = candidate;
    return true;
}

/* Compares the counters at two positions by id, then by position. */
static int compare_registered(const pfb_registration *registration, uint32_t left, uint32_t right)
{
    uint32_t a = counter_id_at(registration, left);
    uint32_t b = counter_id_at(registration, right);
    return a != b ? (a < b ? -1 : 1) : (left > right) - (left < right);
}

#define SORT_CONTEXT pfb_registration
#define SORT_COMPARE compare_registered
#define SORT_PREFIX(name) registration_##name
#include "bytes/sort.h"

void pfb_registration_sort(pfb_registration *registration, uint32_t *order)
{
    for (uint32_t i = 0; i < registration->counter_count; i++)
        order[i] = i;
    registration_sort(registration, order, registration->counter_count);
    registration->order = order;
}

pfb_error pfb_registration_single_counter(const void *data, size_t size, const pfb_read_options *options,
                                          pfb_counter *counter)
{
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, REGISTERED_COUNTER_BYTES, PFB_TRUNCATED_HEADER);
    if (!p)
        return cursor.error;
    if (pfb_is_strict(options) && pfb_cursor_left(&cursor) > 0)
        pfb_cursor_fail(&cursor, PFB_TRAILING_BYTES, REGISTERED_COUNTER_BYTES);
    if (cursor.error.code == PFB_OK)
        *counter = load_counter(p, 0);
    return cursor.error;
}

/* ---- Strings ---------------------------------------------------------------------------------------- */

pfb_error pfb_registration_string(const void *data, size_t size, pfb_name *text)
{
    pfb_cursor cursor = pfb_cursor_make(data, size);
    pfb_cursor_text(&cursor, text);
    return cursor.error;
}

bool pfb_registration_strings_open(pfb_registration_strings *strings, const void *data, size_t size,
                                   const pfb_read_options *options)
{
    *strings = (pfb_registration_strings){.data = data};
    pfb_cursor cursor = pfb_cursor_make(data, size);
    const uint8_t *p = pfb_cursor_take(&cursor, STRINGS_HEADER_BYTES, PFB_TRUNCATED_HEADER);
    if (p) {
        uint32_t block_size = load_le32(p);
        uint32_t count = load_le32(p + 4);
        if (block_size < STRINGS_HEADER_BYTES)
            pfb_cursor_fail(&cursor, PFB_BAD_STRING_SIZE, 0);
        else if (block_size > size)
            pfb_cursor_fail(&cursor, PFB_TRUNCATED_BLOCK, 0);
        else if (count > (block_size - STRINGS_HEADER_BYTES) / STRING_ENTRY_BYTES)
            pfb_cursor_fail(&cursor, PFB_BAD_STRING_COUNT, 4);
        pfb_cursor_aligned(&cursor, pfb_is_strict(options), &strings->notes, block_size, 0);
        if (cursor.error.code == PFB_OK) {
            strings->size_bytes = block_size;
            strings->count = count;
        }
    }
    strings->error = cursor.error;
    return cursor.error.code == PFB_OK;
}

/* Reads the string at `start` of the block: it must begin after the entries and have its NUL before the block's end.
 * `error_offset` is the offset of the field that holds `start`. */
static bool read_entry_text(pfb_registration_strings *strings, uint32_t start, size_t error_offset, pfb_name *text)
{
    enum { SHARING_FACTOR = 16 }; /* strings may overlap; the bytes read are limited to 16 times the block's size */
    size_t first = STRINGS_HEADER_BYTES + (size_t)STRING_ENTRY_BYTES * strings->count;
    if (start < first || start >= strings->size_bytes) {
        strings->error = (pfb_error){PFB_BAD_STRING_OFFSET, error_offset};
        return false;
    }
    if (strings->last.bytes && strings->last_start == start) { /* consecutive entries often share a string */
        *text = strings->last;
        return true;
    }
    pfb_cursor cursor = pfb_cursor_between(strings->data, start, strings->size_bytes);
    if (!pfb_cursor_text(&cursor, text)) {
        strings->error = cursor.error;
        return false;
    }
    strings->scanned_bytes += cursor.at - start; /* cannot wrap: at most 16 * size_bytes before, and size_bytes more */
    if (strings->scanned_bytes > SHARING_FACTOR * (uint64_t)strings->size_bytes) {
        strings->error = (pfb_error){PFB_OVERLAPPING_STRINGS, error_offset};
        return false;
    }
    strings->last = *text;
    strings->last_start = start;
    return true;
}

bool pfb_registration_strings_next_string(pfb_registration_strings *strings, pfb_registration_string_entry *entry)
{
    if (strings->error.code != PFB_OK || strings->strings_read >= strings->count)
        return false;
    size_t offset = STRINGS_HEADER_BYTES + (size_t)STRING_ENTRY_BYTES * strings->strings_read; /* checked by open */
    const uint8_t *p = pfb_checked((pfb_view){strings->data, strings->size_bytes}, offset, STRING_ENTRY_BYTES);
    pfb_registration_string_entry read = {.offset = offset, .counter_id = load_le32(p)};
    uint32_t start = load_le32(p + 4);
    if (start != PFB_NO_ID && !read_entry_text(strings, start, offset + 4, &read.text))
        return false;
    strings->strings_read++;
    *entry = read;
    return true;
}

/* ---- Lists ------------------------------------------------------------------------------------------ */

bool pfb_list_open(pfb_list *list, const void *data, size_t size, const pfb_read_options *options)
{
    *list = (pfb_list){.data = data, .size = data ? size : 0, .is_strict = pfb_is_strict(options)};
    return true;
}

/* Makes a cursor over the rest of the list; false at the end and after an error. */
static bool continue_list(const pfb_list *list, pfb_cursor *cursor)
{
    if (list->error.code != PFB_OK || list->at == list->size)
        return false;
    *cursor = pfb_cursor_between(list->data, list->at, list->size);
    return true;
}

/* Stores the cursor's position, or its error. */
static bool advance_list(pfb_list *list, const pfb_cursor *cursor)
{
    list->error = cursor->error;
    if (list->error.code == PFB_OK)
        list->at = cursor->at;
    return list->error.code == PFB_OK;
}

bool pfb_list_next_guid(pfb_list *list, pfb_guid *guid)
{
    pfb_cursor cursor;
    if (!continue_list(list, &cursor))
        return false;
    const uint8_t *p = pfb_cursor_take(&cursor, GUID_BYTES, PFB_TRUNCATED_LIST);
    if (p)
        *guid = load_guid(p);
    return advance_list(list, &cursor);
}

bool pfb_list_next_identifier(pfb_list *list, pfb_identifier *identifier)
{
    pfb_cursor cursor;
    if (!continue_list(list, &cursor))
        return false;
    size_t offset = cursor.at;
    pfb_cursor peek = cursor;
    const uint8_t *p = pfb_cursor_take(&peek, V2_IDENTIFIER_BYTES, PFB_TRUNCATED_IDENTIFIER);
    if (!p)
        return advance_list(list, &peek);
    pfb_identifier read = {.offset = offset,
                           .counterset = load_guid(p),
                           .status = load_le32(p + 16),
                           .size_bytes = load_le32(p + 20),
                           .counter_id = load_le32(p + 24),
                           .instance_id = load_le32(p + 28),
                           .index = load_le32(p + 32)};
    pfb_cursor block =
        pfb_cursor_window(&cursor, read.size_bytes, V2_IDENTIFIER_BYTES, PFB_BAD_IDENTIFIER_SIZE, offset + 20);
    pfb_cursor_take(&block, V2_IDENTIFIER_BYTES, PFB_TRUNCATED_IDENTIFIER);
    if (read.size_bytes > V2_IDENTIFIER_BYTES)
        pfb_cursor_text(&block, &read.name);
    pfb_cursor_aligned(&block, list->is_strict, &list->notes, read.size_bytes, offset + 20);
    cursor.error = block.error;
    if (!advance_list(list, &cursor))
        return false;
    *identifier = read;
    return true;
}

bool pfb_list_next_instance(pfb_list *list, pfb_listed_instance *instance)
{
    enum { HEADER_BYTES = 8 };
    pfb_cursor cursor;
    if (!continue_list(list, &cursor))
        return false;
    if (pfb_cursor_left(&cursor) < HEADER_BYTES) { /* too short for an instance: skipped, in strict mode an error */
        pfb_cursor_tolerate(&cursor, list->is_strict, &list->notes, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES,
                            cursor.at);
        cursor.at = cursor.end;
        advance_list(list, &cursor);
        return false;
    }
    pfb_instance_header header;
    if (pfb_cursor_instance(&cursor, &header))
        pfb_cursor_aligned(&cursor, list->is_strict, &list->notes, header.size_bytes, header.offset);
    if (!advance_list(list, &cursor))
        return false;
    *instance = (pfb_listed_instance){.offset = header.offset, .id = header.id, .name = header.name};
    return true;
}
