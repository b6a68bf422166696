/* SPDX-License-Identifier: MIT */
#include "sample_text/definitions.h"

#include "memory/chunk.h"
#include "memory/memory.h"
#include "os/system.h"
#include "perfblock/formula.h"

#include <stdlib.h>

enum { NOVICE = 100, ENGLISH = 9 }; /* PERF_DETAIL_NOVICE; the language of name tables */

/* ---- Chunks ---------------------------------------------------------------------------------------------- */

void definitions_put_chunk(definitions *d, const pfb_chunk *chunk, const void *body, size_t size)
{
    chunk_append(d->capture, chunk, body, size);
}

pfb_error definitions_put_written(definitions *d, const pfb_chunk *chunk, definitions_write *write, const void *context)
{
    pfb_writer writer;
    pfb_write_init(&writer, NULL, 0);
    write(&writer, context);
    size_t size = writer.size_bytes;
    uint8_t *body = memory_get(size + 1, 1);
    pfb_write_init(&writer, body, size);
    write(&writer, context);
    if (writer.error.code == PFB_OK)
        definitions_put_chunk(d, chunk, body, size);
    free(body);
    return writer.error;
}

/* ---- Words ----------------------------------------------------------------------------------------------- */

bool definitions_word(definitions *d, const char *expected, word *next)
{
    if (words_next(d->words, next))
        return true;
    buffer sentence = {0};
    buffer_format(&sentence, "expected %s", expected);
    words_fail_here(d->words, sentence.data);
    buffer_free(&sentence);
    return false;
}

bool definitions_name(definitions *d, const word *w, pfb_name *name)
{
    *name = (pfb_name){.bytes = NULL};
    if (word_is(w, "-"))
        return true;
    uint8_t *bytes = memory_get(2 * w->size + 2, 1);
    d->allocations =
        memory_grow(d->allocations, &d->allocation_capacity, d->allocation_count + 1, sizeof *d->allocations);
    d->allocations[d->allocation_count++] = bytes;
    size_t size = 0;
    if (!word_to_utf16(w, bytes, &size))
        return words_fail(d->words, w, "the text is not UTF-8, or has a backslash that is not \\\\, \\\" or \\uXXXX");
    *name = pfb_utf16_name(bytes, size / 2);
    return true;
}

static bool read_number(definitions *d, const char *expected, uint64_t max, uint64_t *number)
{
    word w;
    if (!definitions_word(d, expected, &w))
        return false;
    return word_unsigned(&w, max, number) || words_fail(d->words, &w, "expected %s", expected);
}

static bool read_u32(definitions *d, const char *expected, uint32_t max, uint32_t *number)
{
    uint64_t read = 0;
    bool is_read = read_number(d, expected, max, &read);
    *number = (uint32_t)read;
    return is_read;
}

/* Reads the size of the values of a V2 counter. */
static bool read_width(definitions *d, uint32_t *width)
{
    static const char expected[] = "the size of its values, 4 or 8";
    word w;
    uint64_t read = 0;
    if (!definitions_word(d, expected, &w))
        return false;
    bool is_width = word_unsigned(&w, 8, &read) && (read == 4 || read == 8);
    *width = (uint32_t)read;
    return is_width || words_fail(d->words, &w, "expected %s", expected);
}

/* Reads an id, or - for none. */
static bool read_id(definitions *d, const char *expected, uint32_t *id)
{
    word w;
    uint64_t read = PFB_NO_ID;
    if (!definitions_word(d, expected, &w))
        return false;
    bool is_id = word_is(&w, "-") || word_unsigned(&w, UINT32_MAX, &read);
    *id = (uint32_t)read;
    return is_id || words_fail(d->words, &w, "expected %s", expected);
}

static bool read_signed(definitions *d, int64_t min, int64_t max, int64_t *number)
{
    word w;
    if (!definitions_word(d, "a number", &w))
        return false;
    return word_signed(&w, min, max, number) || words_fail(d->words, &w, "expected a number");
}

static bool read_name(definitions *d, const char *expected, pfb_name *name)
{
    word w;
    return definitions_word(d, expected, &w) && definitions_name(d, &w, name);
}

static bool read_guid(definitions *d, pfb_guid *guid)
{
    word w;
    return definitions_word(d, "a GUID", &w) &&
           ((!w.is_quoted && pfb_guid_parse(w.text, w.size, guid)) || words_fail(d->words, &w, "expected a GUID"));
}

static bool read_value(definitions *d, const text_option *option)
{
    int64_t number = 0;
    switch (option->kind) {
    case OPTION_U32:
        return read_u32(d, "a number", UINT32_MAX, option->value);
    case OPTION_ID:
        return read_id(d, "an id or -", option->value);
    case OPTION_U64:
        return read_number(d, "a number", UINT64_MAX, option->value);
    case OPTION_I64:
        return read_signed(d, INT64_MIN, INT64_MAX, option->value);
    case OPTION_NAME:
        return read_name(d, "a text", option->value);
    case OPTION_GUID:
        return read_guid(d, option->value);
    case OPTION_I32:
        break;
    }
    if (!read_signed(d, INT32_MIN, INT32_MAX, &number))
        return false;
    *(int32_t *)option->value = (int32_t)number;
    return true;
}

bool definitions_option(definitions *d, const word *key, const text_option *options, size_t count)
{
    size_t i = 0;
    while (i < count && !word_is(key, options[i].key))
        i++;
    if (i < count) {
        if (options[i].is_present)
            *options[i].is_present = true;
        return read_value(d, &options[i]);
    }
    buffer names = {0};
    buffer_clear(&names);
    for (i = 0; i < count; i++)
        buffer_format(&names, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", options[i].key);
    words_fail(d->words, key, "expected %s", names.data);
    buffer_free(&names);
    return false;
}

bool definitions_options(definitions *d, const text_option *options, size_t count)
{
    word key;
    bool succeeded = true;
    while (succeeded && words_next(d->words, &key))
        succeeded = definitions_option(d, &key, options, count);
    return succeeded && !d->words->has_failed;
}

/* ---- Parts ----------------------------------------------------------------------------------------------- */

static bool is_equal(const pfb_name *left, const pfb_name *right)
{
    return left->encoding == right->encoding && left->size_bytes == right->size_bytes &&
           (left->size_bytes == 0 || memcmp(left->bytes, right->bytes, left->size_bytes) == 0);
}

static uint64_t hash_key(const definitions *d, const pfb_name *bytes)
{
    return hash_bytes(d->seed, bytes->bytes, bytes->size_bytes);
}

static text_part *find_part(const definitions *d, const pfb_name *bytes)
{
    uint64_t hash = hash_key(d, bytes);
    uint64_t slot = hash;
    size_t at = 0;
    while ((at = hash_index_next(&d->key_index, hash, &slot)) != HASH_INDEX_NONE) {
        if (is_equal(&d->keys[at].bytes, bytes))
            return d->keys[at].part;
    }
    return NULL;
}

/* Adds a key unless a part has it already. */
static void add_key(definitions *d, pfb_name bytes, text_part *part)
{
    if (!bytes.bytes || find_part(d, &bytes))
        return;
    hash_index_add(&d->key_index, hash_key(d, &bytes));
    d->keys = memory_grow(d->keys, &d->key_capacity, d->key_count + 1, sizeof *d->keys);
    d->keys[d->key_count++] = (text_key){bytes, part};
}

static void add_to(text_parts *list, text_part *part)
{
    list->parts = memory_grow(list->parts, &list->capacity, list->count + 1, sizeof(text_part *));
    list->parts[list->count++] = part;
}

/* Adds a part to those from which definitions_put_countersets() or definitions_put_names() makes chunks. */
static void set_new(definitions *d, text_part *part)
{
    if (part->is_new)
        return;
    add_to(part->is_v1 ? &d->new_objects : &d->new_sets, part);
    d->set_changes += !part->is_v1;
    part->is_new = true;
}

/* Keys of GUIDs and title indexes have the encoding 0, which no name has, so no name equals such a key. */
static pfb_name guid_key(const pfb_guid *guid)
{
    return (pfb_name){.bytes = guid->bytes, .size_bytes = sizeof guid->bytes};
}

static pfb_name title_key(const uint32_t *title)
{
    return (pfb_name){.bytes = (const uint8_t *)title, .size_bytes = sizeof *title};
}

static void free_part(text_part *part)
{
    free(part->counters);
    free(part->widths);
    free(part->offsets);
    free(part->previous);
    free(part->numbers);
    *part = (text_part){.count = 0};
}

/* Replaces the part with the same GUID or title index, or adds a new one. */
static void add_part(definitions *d, const text_part *defined)
{
    pfb_name key = defined->is_v1 ? title_key(&defined->title) : guid_key(&defined->guid);
    if (d->seed == 0)
        d->seed = hash_mix(system_now() ^ (uintptr_t)d) | 1;
    text_part *part = find_part(d, &key);
    if (!part) {
        part = memory_get(1, sizeof *part);
        add_to(&d->all, part);
    }
    bool is_new = part->is_new;
    free_part(part);
    *part = *defined;
    part->is_new = is_new;
    set_new(d, part);
    add_key(d, defined->is_v1 ? title_key(&part->title) : guid_key(&part->guid), part);
    add_key(d, part->name, part);
    d->current = part;
}

bool definitions_part(definitions *d, bool is_optional, text_part **part)
{
    word w;
    pfb_guid guid;
    pfb_name key;
    uint64_t number = 0;
    uint32_t title = 0;
    *part = NULL;
    if (!definitions_word(d, "the name of a counterset or object", &w))
        return false;
    if (is_optional && word_is(&w, "-"))
        return true;
    if (!w.is_quoted && pfb_guid_parse(w.text, w.size, &guid)) {
        key = guid_key(&guid);
    } else if (word_unsigned(&w, UINT32_MAX, &number)) {
        title = (uint32_t)number;
        key = title_key(&title);
    } else if (!definitions_name(d, &w, &key)) {
        return false;
    }
    *part = find_part(d, &key);
    return *part || words_fail(d->words, &w, "no counterset or object of this name is defined above");
}

void definitions_free(definitions *d)
{
    for (size_t i = 0; i < d->all.count; i++) {
        free_part(d->all.parts[i]);
        free(d->all.parts[i]);
    }
    for (size_t i = 0; i < d->allocation_count; i++)
        free(d->allocations[i]);
    free(d->all.parts);
    free(d->new_sets.parts);
    free(d->new_objects.parts);
    free(d->allocations);
    free(d->keys);
    hash_index_free(&d->key_index);
}

/* ---- Lines of countersets -------------------------------------------------------------------------------- */

static bool read_instances(definitions *d, uint32_t *instances)
{
    static const struct {
        const char *word;
        uint32_t bits;
    } rows[] = {{"single", 0},
                {"multiple", PFB_INSTANCES_MULTIPLE},
                {"aggregate", PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE}};
    static const char expected[] = "single, multiple, aggregate or a number";
    word w;
    uint64_t number = 0;
    if (!definitions_word(d, expected, &w))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (word_is(&w, rows[i].word)) {
            *instances = rows[i].bits;
            return true;
        }
    }
    bool is_number = word_unsigned(&w, UINT32_MAX, &number);
    *instances = (uint32_t)number;
    return is_number || words_fail(d->words, &w, "expected %s", expected);
}

bool definitions_read_counterset(definitions *d)
{
    text_part part = {.detail = NOVICE};
    const text_option options[] = {{"english", OPTION_NAME, &part.english, NULL},
                                   {"help", OPTION_NAME, &part.help, NULL},
                                   {"detail", OPTION_U32, &part.detail, NULL},
                                   {"provider", OPTION_NAME, &part.provider, NULL},
                                   {"provider-guid", OPTION_GUID, &part.provider_guid, &part.has_provider_guid}};
    if (!read_guid(d, &part.guid) || !read_instances(d, &part.instances) || !read_name(d, "a name or -", &part.name) ||
        !definitions_options(d, options, sizeof options / sizeof options[0]))
        return false;
    add_part(d, &part);
    return true;
}

/* Reads a counter type by its name or number, or the word unknown if `is_optional`. */
static bool read_type(definitions *d, bool is_optional, uint32_t *type, bool *has_type)
{
    word w;
    uint64_t number = 0;
    if (!definitions_word(d, "a counter type", &w))
        return false;
    const pfb_counter_type *known = w.is_quoted ? NULL : pfb_counter_type_named(w.text, w.size);
    *has_type = known || word_unsigned(&w, UINT32_MAX, &number);
    *type = known ? known->value : (uint32_t)number;
    return *has_type || (is_optional && word_is(&w, "unknown")) ||
           words_fail(d->words, &w, "expected the name or number of a counter type%s",
                      is_optional ? ", or unknown" : "");
}

static void add_counter(definitions *d, const text_counter *counter)
{
    text_part *part = d->current;
    part->counters = memory_grow(part->counters, &part->capacity, part->count + 1, sizeof *part->counters);
    part->counters[part->count++] = *counter;
    set_new(d, part);
}

bool definitions_read_counter(definitions *d)
{
    text_counter counter = {
        .registered = {
            .detail_level = NOVICE, .perf_time_id = PFB_NO_ID, .perf_freq_id = PFB_NO_ID, .multi_id = PFB_NO_ID}};
    pfb_counter *c = &counter.registered;
    const text_option options[] = {
        {"english", OPTION_NAME, &counter.english, NULL}, {"help", OPTION_NAME, &counter.help, NULL},
        {"scale", OPTION_I32, &c->default_scale, NULL},   {"detail", OPTION_U32, &c->detail_level, NULL},
        {"attributes", OPTION_U64, &c->attributes, NULL}, {"multi", OPTION_ID, &c->multi_id, NULL},
        {"time", OPTION_ID, &c->perf_time_id, NULL},      {"frequency", OPTION_ID, &c->perf_freq_id, NULL},
        {"aggregate", OPTION_U32, &c->aggregate, NULL}};
    if (!d->current || d->current->is_v1)
        return words_fail_here(d->words, "a counter belongs to a counterset, which must precede it");
    if (!read_u32(d, "a counter id", UINT32_MAX, &counter.id) ||
        !read_type(d, true, &counter.type, &counter.has_type) || !read_width(d, &counter.width) ||
        !read_id(d, "the id of its base or -", &c->base_id) || !read_name(d, "a name or -", &counter.name) ||
        !definitions_options(d, options, sizeof options / sizeof options[0]))
        return false;
    c->id = counter.id;
    c->type = counter.type;
    add_counter(d, &counter);
    return true;
}

/* ---- Lines of V1 objects --------------------------------------------------------------------------------- */

static bool read_object_instances(definitions *d, int32_t *count)
{
    static const struct {
        const char *word;
        int32_t count;
    } rows[] = {{"multiple", 0},
                {"single", PFB_V1_NO_INSTANCES},
                {"metadata", PFB_V1_METADATA_INSTANCES},
                {"metadata-single", PFB_V1_METADATA_NO_INSTANCES}};
    static const char expected[] = "single, multiple, metadata or metadata-single";
    word w;
    if (!definitions_word(d, expected, &w))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (word_is(&w, rows[i].word)) {
            *count = rows[i].count;
            return true;
        }
    }
    return words_fail(d->words, &w, "expected %s", expected);
}

bool definitions_read_object(definitions *d)
{
    text_part part = {.is_v1 = true, .detail = NOVICE, .values_end = 4};
    bool has_help = false;
    const text_option options[] = {{"help", OPTION_U32, &part.help_title, &has_help},
                                   {"detail", OPTION_U32, &part.detail, NULL}};
    word clock;
    if (!read_u32(d, "a title index", UINT32_MAX, &part.title) || !read_object_instances(d, &part.instance_count) ||
        !definitions_word(d, "object or none: its clock", &clock))
        return false;
    part.has_clock = word_is(&clock, "object");
    if (!part.has_clock && !word_is(&clock, "none"))
        return words_fail(d->words, &clock, "expected object or none: its clock");
    if (!read_name(d, "a name or -", &part.name) ||
        !definitions_options(d, options, sizeof options / sizeof options[0]))
        return false;
    if (!has_help)
        part.help_title = part.title + 1;
    add_part(d, &part);
    return true;
}

/* Adds a value to the values of a row. If the row has a value at this offset, that value gets the larger width. */
static void add_offset(text_part *part, uint32_t offset, uint32_t width)
{
    if (width == 0)
        return;
    if (offset + width > part->values_end)
        part->values_end = offset + width;
    for (size_t i = 0; i < part->width_count; i++) {
        if (part->offsets[i] == offset) {
            if (part->widths[i] < width)
                part->widths[i] = width;
            return;
        }
    }
    part->widths = memory_grow(part->widths, &part->width_capacity, part->width_count + 1, sizeof *part->widths);
    part->offsets = memory_grow(part->offsets, &part->offset_capacity, part->width_count + 1, sizeof *part->offsets);
    part->widths[part->width_count] = width;
    part->offsets[part->width_count++] = offset;
}

bool definitions_read_define(definitions *d)
{
    enum { COUNTER_BLOCK_BYTES = 4, MAX_OFFSET = 65535, MAX_DEFINITIONS = 8192 };
    text_counter counter = {.definition = {.detail_level = NOVICE}};
    pfb_v1_counter *c = &counter.definition;
    bool has_help = false;
    const text_option options[] = {{"help", OPTION_U32, &c->help_index, &has_help},
                                   {"detail", OPTION_U32, &c->detail_level, NULL}};
    text_part *part = d->current;
    int64_t scale = 0;
    word offset;
    uint64_t number = 0;
    if (!part || !part->is_v1)
        return words_fail_here(d->words, "a definition belongs to an object, which must precede it");
    if (part->count == MAX_DEFINITIONS)
        return words_fail_here(d->words, "the object has 8192 definitions, which is the limit");
    if (!read_u32(d, "a title index", UINT32_MAX, &counter.id) ||
        !read_type(d, false, &counter.type, &counter.has_type) ||
        !read_u32(d, "the size of its values, at most 65535", MAX_OFFSET, &counter.width) ||
        !definitions_word(d, "the offset of its values or -", &offset))
        return false;
    if (word_is(&offset, "-")) {
        uint32_t alignment = counter.width >= 8 ? 8 : 4;
        number = part->values_end + (alignment - part->values_end % alignment) % alignment;
        if (counter.width > 0 && number > MAX_OFFSET)
            return words_fail(d->words, &offset, "the values before this one leave no offset up to 65535");
    } else if (!word_unsigned(&offset, MAX_OFFSET, &number)) {
        return words_fail(d->words, &offset, "expected an offset from 4 to 65535 or -");
    }
    if (counter.width > 0 && (number < COUNTER_BLOCK_BYTES || number > MAX_OFFSET))
        return words_fail(d->words, &offset, "expected an offset from 4 to 65535 or -");
    if (!read_signed(d, INT32_MIN, INT32_MAX, &scale) || !read_name(d, "a name or -", &counter.name) ||
        !definitions_options(d, options, sizeof options / sizeof options[0]))
        return false;
    c->title_index = counter.id;
    c->type = counter.type;
    c->size_bytes = counter.width;
    c->value_offset = (uint32_t)number;
    c->default_scale = (int32_t)scale;
    if (!has_help)
        c->help_index = counter.id + 1;
    add_offset(part, c->value_offset, counter.width);
    add_counter(d, &counter);
    return true;
}

/* ---- Chunks of countersets ------------------------------------------------------------------------------- */

static void write_counterset(pfb_writer *writer, const void *context)
{
    const text_part *part = context;
    uint32_t count = 0;
    for (size_t i = 0; i < part->count; i++)
        count += part->counters[i].has_type;
    pfb_write_counterset(writer, &part->guid, part->detail, part->instances, count);
    for (size_t i = 0; i < part->count; i++) {
        if (part->counters[i].has_type)
            pfb_write_counter(writer, &part->counters[i].registered);
    }
}

static void write_text(pfb_writer *writer, const void *context)
{
    pfb_write_string(writer, context);
}

static void write_guid(pfb_writer *writer, const void *context)
{
    pfb_write_guid(writer, context);
}

/* The texts of one kind (name, English name or help) of a counterset's counters. */
typedef struct text_list {
    const text_part *part;
    const pfb_name *(*find)(const text_counter *counter);
} text_list;

static const pfb_name *find_name(const text_counter *counter)
{
    return &counter->name;
}

static const pfb_name *find_english(const text_counter *counter)
{
    return &counter->english;
}

static const pfb_name *find_help(const text_counter *counter)
{
    return &counter->help;
}

static uint32_t count_texts(const text_list *list)
{
    uint32_t count = 0;
    for (size_t i = 0; i < list->part->count; i++)
        count += list->find(&list->part->counters[i])->bytes != NULL;
    return count;
}

static void write_texts(pfb_writer *writer, const void *context)
{
    const text_list *list = context;
    pfb_write_begin_strings(writer, count_texts(list));
    for (size_t i = 0; i < list->part->count; i++) {
        const text_counter *counter = &list->part->counters[i];
        if (list->find(counter)->bytes)
            pfb_write_counter_string(writer, counter->id, list->find(counter));
    }
    pfb_write_end_strings(writer);
}

/* The only possible error is a reply of more than 4 GiB. Such a reply is left out without a message. */
static void put_reply(definitions *d, const text_part *part, uint32_t request, definitions_write *write,
                      const void *context)
{
    const pfb_chunk chunk = {.tag = PFB_TAG_REGISTRATION, .guid = part->guid, .request = request};
    definitions_put_written(d, &chunk, write, context);
}

static void put_texts(definitions *d, const text_part *part, uint32_t request,
                      const pfb_name *(*find)(const text_counter *counter))
{
    const text_list list = {part, find};
    if (count_texts(&list) > 0)
        put_reply(d, part, request, write_texts, &list);
}

static void put_counterset(definitions *d, const text_part *part)
{
    bool has_types = false;
    for (size_t i = 0; i < part->count; i++)
        has_types = has_types || part->counters[i].has_type;
    if (has_types)
        put_reply(d, part, PFB_REQUEST_COUNTERSET, write_counterset, part);
    if (part->name.bytes)
        put_reply(d, part, PFB_REQUEST_COUNTERSET_NAME, write_text, &part->name);
    if (part->help.bytes)
        put_reply(d, part, PFB_REQUEST_COUNTERSET_HELP, write_text, &part->help);
    put_texts(d, part, PFB_REQUEST_COUNTER_NAMES, find_name);
    put_texts(d, part, PFB_REQUEST_COUNTER_HELPS, find_help);
    if (part->provider.bytes)
        put_reply(d, part, PFB_REQUEST_PROVIDER_NAME, write_text, &part->provider);
    if (part->has_provider_guid)
        put_reply(d, part, PFB_REQUEST_PROVIDER_GUID, write_guid, &part->provider_guid);
    if (part->english.bytes)
        put_reply(d, part, PFB_REQUEST_COUNTERSET_ENGLISH_NAME, write_text, &part->english);
    put_texts(d, part, PFB_REQUEST_COUNTER_ENGLISH_NAMES, find_english);
}

void definitions_put_countersets(definitions *d)
{
    for (size_t i = 0; i < d->new_sets.count; i++) {
        put_counterset(d, d->new_sets.parts[i]);
        d->new_sets.parts[i]->is_new = false;
    }
    d->new_sets.count = 0;
}

/* ---- Name tables ----------------------------------------------------------------------------------------- */

typedef struct title {
    uint32_t index;
    size_t position; /* if an index has several names, the one with the highest position is written */
    const pfb_name *name;
} title;

typedef struct title_list {
    title *titles;
    size_t count, capacity;
} title_list;

static void add_title(title_list *list, uint32_t index, const pfb_name *name)
{
    if (!name->bytes)
        return;
    list->titles = memory_grow(list->titles, &list->capacity, list->count + 1, sizeof *list->titles);
    list->titles[list->count] = (title){index, list->count, name};
    list->count++;
}

static int compare_titles(const void *left, const void *right)
{
    const title *a = left;
    const title *b = right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static void write_names(pfb_writer *writer, const void *context)
{
    const title_list *list = context;
    for (size_t i = 0; i < list->count; i++) {
        if (i + 1 == list->count || list->titles[i + 1].index != list->titles[i].index)
            pfb_write_name(writer, list->titles[i].index, list->titles[i].name);
    }
    pfb_write_end_names(writer);
}

void definitions_put_names(definitions *d)
{
    title_list list = {0};
    for (size_t i = 0; i < d->new_objects.count; i++) {
        text_part *part = d->new_objects.parts[i];
        part->is_new = false;
        add_title(&list, part->title, &part->name);
        for (size_t j = 0; j < part->count; j++)
            add_title(&list, part->counters[j].id, &part->counters[j].name);
    }
    d->new_objects.count = 0;
    if (list.count > 0) {
        const pfb_chunk chunk = {.tag = PFB_TAG_NAMES, .language = ENGLISH};
        qsort(list.titles, list.count, sizeof *list.titles, compare_titles);
        /* Writing a name table cannot fail. */
        definitions_put_written(d, &chunk, write_names, &list);
    }
    free(list.titles);
}
