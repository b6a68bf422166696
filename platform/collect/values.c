/* SPDX-License-Identifier: MIT */
/* Returns the values of the current sample one by one. */
#include "collect/collector.h"
#include "collect/memory.h"
#include "perfblock/catalog.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------------------- */

static pfb_name row_name(const pfb_sample_row *row)
{
    return row->has_name ? row->name : (pfb_name){.bytes = NULL};
}

static const metadata_set *find_set(const pfb_collector *c, const pfb_sample_result *result)
{
    bool is_known = !c->is_v1 && result->has_query;
    return is_known ? pfb_metadata_find(&c->metadata, &result->counterset) : NULL;
}

static pfb_name counterset_name(pfb_collector *c, const pfb_sample_result *result)
{
    return c->is_v1 ? pfb_titles_find(&c->titles, result->title_index) : pfb_metadata_set_name(find_set(c, result));
}

/* ---- Columns --------------------------------------------------------------------------------------------- */

static size_t larger_size(size_t size, const pfb_name *name)
{
    return name->size_bytes > size ? name->size_bytes : size;
}

/* Reserves memory for the longest name of each sort, so that returning values allocates nothing. */
static bool reserve_names(pfb_collector *c, const kept_sample *sample)
{
    const pfb_sample *table = &sample->table;
    size_t sizes[SCRATCH_COUNT] = {0};
    bool has_memory = true;
    sizes[SCRATCH_MACHINE] = sample->machine_name.size_bytes;
    for (uint32_t i = 0; i < table->counts.results; i++) {
        pfb_name name = counterset_name(c, &table->results[i]);
        sizes[SCRATCH_COUNTERSET] = larger_size(sizes[SCRATCH_COUNTERSET], &name);
    }
    sizes[SCRATCH_RESULT] = sizes[SCRATCH_COUNTERSET];
    for (uint32_t i = 0; i < table->counts.rows; i++) {
        pfb_name name = row_name(&table->rows[i]);
        sizes[SCRATCH_INSTANCE] = larger_size(sizes[SCRATCH_INSTANCE], &name);
        sizes[SCRATCH_PARENT] = larger_size(sizes[SCRATCH_PARENT], &table->rows[i].parent);
    }
    for (uint32_t i = 0; i < table->counts.columns; i++)
        sizes[SCRATCH_COUNTER] = larger_size(sizes[SCRATCH_COUNTER], &c->columns[i].name);
    for (size_t i = 0; i < SCRATCH_COUNT && has_memory; i++)
        has_memory = pfb_text_reserve(&c->scratch[i], sizes[i]);
    return has_memory;
}

/* Returns true if the name matches. Names longer than PDH's limit match only "*": any number of counters may share the
 * bytes of a long name, and it would be compared for each of them. */
static bool matches_name(const char *pattern, const pfb_name *name)
{
    enum { LONGEST_BYTES = 2 * 1024 };
    if (!name->bytes || name->size_bytes > LONGEST_BYTES)
        return name->bytes && strcmp(pattern, "*") == 0;
    pfb_name text = pfb_utf8_name(pattern, strlen(pattern));
    return pfb_query_match(&text, name, PFB_MATCH_IGNORE_CASE);
}

static bool matches_ascii(const char *pattern, const char *text)
{
    pfb_name name = pfb_utf8_name(text, strlen(text));
    return matches_name(pattern, &name);
}

bool pfb_collect_matches_title(pfb_collector *c, const char *pattern, uint32_t title)
{
    char number[16];
    pfb_name name = pfb_titles_find(&c->titles, title);
    snprintf(number, sizeof number, "%" PRIu32, title);
    return matches_name(pattern, &name) || strcmp(pattern, number) == 0 ||
           (!name.bytes && matches_ascii(pattern, number));
}

const char *pfb_collect_catalog_name(const char *called)
{
    pfb_guid guid;
    const pfb_catalog_set *known = pfb_guid_parse(called, strlen(called), &guid) ? pfb_catalog_find(&guid) : NULL;
    return known ? known->name : called;
}

static bool matches_set(pfb_collector *c, const char *pattern, const pfb_sample_result *result)
{
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid guid;
    if (c->is_v1)
        return pfb_collect_matches_title(c, pfb_collect_catalog_name(pattern), result->title_index);
    if (!result->has_query)
        return false;
    const metadata_set *set = find_set(c, result);
    bool is_match = pfb_guid_parse(pattern, strlen(pattern), &guid) && pfb_guid_equal(&guid, &result->counterset);
    for (unsigned place = 0; place < METADATA_PLACES && !is_match; place++) {
        pfb_name name = pfb_metadata_set_name_at(set, place);
        is_match = matches_name(pattern, &name);
    }
    const pfb_catalog_set *known = pfb_catalog_find(&result->counterset);
    pfb_guid_format(&result->counterset, text);
    return is_match || (known && matches_ascii(pattern, known->name)) ||
           (!known && !pfb_metadata_set_name(set).bytes && matches_ascii(pattern, text));
}

static bool matches_counter(pfb_collector *c, const char *pattern, const pfb_sample_result *result, uint32_t counter_id)
{
    char number[16];
    if (c->is_v1)
        return pfb_collect_matches_title(c, pattern, counter_id);
    if (counter_id == PFB_NO_ID)
        return false;
    const metadata_set *set = find_set(c, result);
    snprintf(number, sizeof number, "%" PRIu32, counter_id);
    bool is_match = strcmp(pattern, number) == 0;
    for (unsigned place = 0; place < METADATA_PLACES && !is_match; place++) {
        pfb_name name = pfb_metadata_counter_name_at(set, place, counter_id);
        is_match = matches_name(pattern, &name);
    }
    return is_match || (!pfb_metadata_counter_name(set, counter_id).bytes && matches_ascii(pattern, number));
}

/* Returns true if a choice without a source has the counterset. */
static bool has_set(pfb_collector *c, const named_choice *named, const pfb_sample_result *result)
{
    bool is_match = false;
    for (size_t i = 0; i < named->counterset_count && !is_match; i++)
        is_match = matches_set(c, named->names[i], result);
    return is_match;
}

static bool has_counter(pfb_collector *c, const named_choice *named, const pfb_sample_result *result,
                        uint32_t counter_id)
{
    bool is_match = named->counter_count == 0;
    for (size_t i = 0; i < named->counter_count && !is_match; i++)
        is_match = matches_counter(c, named->names[named->counterset_count + i], result, counter_id);
    return is_match;
}

/* Names of logs may be absent, which * matches as well. */
static bool matches_log_name(const char *pattern, const pfb_name *name)
{
    return strcmp(pattern, "*") == 0 || matches_name(pattern, name);
}

bool pfb_collect_has_log_counter(const named_choice *named, const pfb_name *object, const pfb_name *counter)
{
    bool has_object = false;
    bool has_counter = named->counter_count == 0;
    for (size_t i = 0; i < named->counterset_count && !has_object; i++)
        has_object = matches_log_name(pfb_collect_catalog_name(named->names[i]), object);
    for (size_t i = 0; i < named->counter_count && !has_counter; i++)
        has_counter = matches_log_name(named->names[named->counterset_count + i], counter);
    return has_object && has_counter;
}

static bool is_everything_chosen(const pfb_collector *c)
{
    return c->choice.count == 0 && c->choice.named_count == 0;
}

/* The key of a result's counterset among the chosen counters. */
static pfb_guid choice_key(const pfb_collector *c, const pfb_sample_result *result)
{
    return c->is_v1 ? pfb_collect_title_key(result->title_index) : result->counterset;
}

/* Returns true if something of the result's counterset was asked for. */
static bool is_set_chosen(pfb_collector *c, const pfb_sample_result *result)
{
    const pfb_guid key = choice_key(c, result);
    bool is_chosen = is_everything_chosen(c) || (c->choice.count > 0 && pfb_choice_of_set(&c->choice, &key).count > 0);
    for (size_t i = 0; i < c->choice.named_count && !is_chosen; i++)
        is_chosen = has_set(c, &c->choice.named[i], result);
    return is_chosen;
}

/* Chooses a column for the instances that match a filter; a column may have several filters. `is_itself`: the counter
 * was named, and not chosen with its whole counterset; then it is not hidden. Returns false when memory is exhausted.
 */
static bool choose(pfb_collector *c, shown_column *column, uint32_t filter, bool is_itself)
{
    if (!column->is_chosen)
        column->first_filter = c->column_filter_count;
    column->is_chosen = true;
    column->is_hidden = column->is_hidden && !is_itself;
    if (filter == ALL_INSTANCES) {
        column->has_all_instances = true;
        return true;
    }
    if (!PFB_COLLECT_GROW(c->column_filters, c->column_filter_capacity, c->column_filter_count + 1))
        return false;
    c->column_filters[c->column_filter_count++] = filter;
    column->filter_count++;
    return true;
}

/* Finds out whether a column is chosen, and for which instances. Counters that are registered as not to be displayed
 * are hidden unless they were chosen individually. Returns false when memory is exhausted. */
static bool choose_column(pfb_collector *c, const pfb_sample_result *result, const pfb_sample_column *from,
                          shown_column *column)
{
    bool has_memory = true;
    column->is_hidden = (from->counter.attributes & PFB_ATTRIBUTE_NO_DISPLAY) != 0;
    column->is_chosen = column->has_all_instances = is_everything_chosen(c);
    const uint32_t ids[] = {from->counter_id, PFB_NO_ID};
    const pfb_guid key = choice_key(c, result);
    for (size_t k = from->counter_id == PFB_NO_ID; k < 2 && c->choice.count > 0; k++) {
        chosen_range range = pfb_choice_of_counter(&c->choice, &key, ids[k]);
        for (size_t i = 0; i < range.count && has_memory; i++) {
            if (range.first[i].is_shown)
                has_memory = choose(c, column, range.first[i].filter, ids[k] != PFB_NO_ID);
        }
    }
    for (size_t i = 0; i < c->choice.named_count && has_memory; i++) {
        const named_choice *named = &c->choice.named[i];
        if (has_set(c, named, result) && has_counter(c, named, result, from->counter_id))
            has_memory = choose(c, column, named->filter, named->counter_count > 0);
    }
    return has_memory;
}

/* Evaluates without inputs, because the unit depends on the type only. */
static const char *unit_of_type(uint32_t type)
{
    const pfb_raw_value nothing = {.type = type};
    return pfb_unit_text(pfb_formula_evaluate(NULL, &nothing, NULL).unit);
}

/* Returns false when memory is exhausted. */
static bool describe_columns(pfb_collector *c, const pfb_sample *table)
{
    c->column_filter_count = 0;
    for (uint32_t r = 0; r < table->counts.results; r++) {
        const pfb_sample_result *result = &table->results[r];
        const metadata_set *set = find_set(c, result);
        for (uint32_t i = result->first_column; i < result->first_column + result->column_count; i++) {
            const pfb_sample_column *from = &table->columns[i];
            shown_column *column = &c->columns[i];
            *column = (shown_column){.unit = pfb_unit_text(PFB_UNIT_NONE)};
            if (!choose_column(c, result, from, column))
                return false;
            if (c->is_v1)
                column->name = pfb_titles_find(&c->titles, from->counter_id);
            else if (from->counter_id != PFB_NO_ID)
                column->name = pfb_metadata_counter_name(set, from->counter_id);
            if (from->has_counter)
                column->unit = unit_of_type(from->counter.type);
        }
    }
    return true;
}

bool pfb_collect_show(pfb_collector *c, kept_sample *sample, bool is_v1)
{
    uint32_t count = sample->table.counts.columns;
    c->is_v1 = is_v1;
    if (!PFB_COLLECT_GROW(c->columns, c->column_capacity, count))
        return false;
    if (!describe_columns(c, &sample->table) || !reserve_names(c, sample))
        return false;
    c->current = sample;
    pfb_collector_rewind(c);
    return true;
}

/* ---- Instances ------------------------------------------------------------------------------------------- */

/* Forgets which filters match; called before another row is compared. */
static void begin_matches(pfb_collector *c)
{
    if (c->choice.filter_count > 0)
        memset(c->choice.matches, 0, c->choice.filter_count);
}

static bool matches_filter(pfb_collector *c, const pfb_sample_row *row, uint32_t filter)
{
    enum { UNKNOWN, YES, NO };
    uint8_t *match = &c->choice.matches[filter];
    if (*match == UNKNOWN) {
        const pfb_name name = row_name(row);
        bool is_match = pfb_choice_matches(&c->choice.filters[filter], &name, row->occurrence);
        *match = is_match ? YES : NO;
    }
    return *match == YES;
}

/* Returns true if the value of a chosen column is returned for this row. A row without a name is the only instance of
 * its result. With a source it is always returned, since the query selected it; otherwise a filter must match it. */
static bool shows_row(pfb_collector *c, const pfb_sample_result *result, uint32_t position, const pfb_sample_row *row)
{
    const shown_column *column = &c->columns[result->first_column + position];
    bool is_shown = column->has_all_instances || (c->source && !row->has_name);
    for (size_t i = 0; i < column->filter_count && !is_shown; i++)
        is_shown = matches_filter(c, row, c->column_filters[column->first_filter + i]);
    return is_shown;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* The machine that the sample names, or else that of the options. */
static text_view find_machine(pfb_collector *c, bool *exists)
{
    const pfb_name *name = &c->current->machine_name;
    *exists = name->bytes || c->options.machine;
    if (!name->bytes && c->options.machine)
        return (text_view){c->options.machine, strlen(c->options.machine)};
    return pfb_text_convert(&c->scratch[SCRATCH_MACHINE], name);
}

/* Fills in what all values of a result have in common. */
static void begin_result(pfb_collector *c, const pfb_sample_result *result)
{
    pfb_collected_value *v = &c->value;
    pfb_name name = counterset_name(c, result);
    text_view text = pfb_text_find(&c->texts, &c->scratch[SCRATCH_COUNTERSET], &name);
    *v = (pfb_collected_value){.parent = "", .instance = "", .counter = "", .unit = ""};
    text_view machine = find_machine(c, &v->has_machine);
    v->machine = machine.bytes;
    v->machine_size = machine.size;
    v->has_time = true;
    v->time = c->current->table.perf_time_100ns;
    v->counterset = text.bytes;
    v->counterset_size = text.size;
    v->has_counterset = name.bytes != NULL;
    v->has_guid = result->has_query && !c->is_v1;
    if (v->has_guid)
        v->guid = result->counterset;
    v->has_title = c->is_v1;
    v->title = result->title_index;
    v->sample = c->current->number;
    v->result = c->result;
    c->knows_ended = false;
    c->has_result = true;
}

/* Whether the instance is the sum of others. */
static bool is_total(const pfb_collected_value *v)
{
    static const char total[] = "_Total";
    size_t size = sizeof total - 1;
    return v->instance_size >= size && memcmp(v->instance + v->instance_size - size, total, size) == 0 &&
           (v->instance_size == size || v->instance[v->instance_size - size - 1] == ',');
}

/* Fills in the members that all values of an instance share. The unique ids of V1 are signed. */
static void begin_row(pfb_collector *c, const pfb_sample_row *row)
{
    pfb_collected_value *v = &c->value;
    pfb_name name = row_name(row);
    text_view text = pfb_text_convert(&c->scratch[SCRATCH_INSTANCE], &name);
    v->instance = text.bytes;
    v->instance_size = text.size;
    v->has_instance = name.bytes != NULL;
    text = pfb_text_convert(&c->scratch[SCRATCH_PARENT], &row->parent);
    v->parent = text.bytes;
    v->parent_size = text.size;
    v->has_parent = row->parent.bytes != NULL;
    v->has_instance_id = row->id != PFB_NO_ID;
    v->instance_id = c->is_v1 && row->id > INT32_MAX ? (int64_t)row->id - (INT64_C(1) << 32) : (int64_t)row->id;
    v->occurrence = row->occurrence;
    v->row = c->row;
    c->is_total = is_total(v);
    c->has_row = true;
}

static void set_counter(pfb_collector *c, const pfb_sample_column *from, shown_column *column)
{
    pfb_collected_value *v = &c->value;
    if (!column->text.bytes) {
        text_view text = pfb_text_find(&c->texts, &c->scratch[SCRATCH_COUNTER], &column->name);
        v->counter = text.bytes;
        v->counter_size = text.size;
        if (text.bytes != c->scratch[SCRATCH_COUNTER].bytes)
            column->text = text;
    } else {
        v->counter = column->text.bytes;
        v->counter_size = column->text.size;
    }
    v->has_counter = column->name.bytes != NULL;
    v->has_counter_id = c->is_v1 || from->counter_id != PFB_NO_ID; /* a title index may be any number */
    v->counter_id = from->counter_id;
    v->has_type = from->has_counter;
    v->type = from->counter.type;
    v->attributes = from->counter.attributes;
    v->is_hidden = column->is_hidden;
    v->unit = column->unit;
    v->position = c->position;
}

/* Whether instances of the older sample are missing in a result. */
static bool find_ended(const pfb_sample *older, const pfb_sample *table, const pfb_sample_result *result)
{
    uint32_t from = PFB_NONE; /* the result that this one is compared with */
    uint32_t matched = 0;
    for (uint32_t i = result->first_row; i < result->first_row + result->row_count; i++) {
        uint32_t row = table->rows[i].older_row;
        if (row == PFB_NONE)
            continue;
        from = from == PFB_NONE ? older->rows[row].result : from;
        matched += older->rows[row].result == from;
    }
    return from != PFB_NONE && matched < older->results[from].row_count;
}

static bool is_incomplete_total(pfb_collector *c)
{
    const pfb_sample *table = &c->current->table;
    const pfb_sample *older = c->older[c->result];
    const pfb_counter_type *type = c->value.has_type ? pfb_counter_type_find(c->value.type) : NULL;
    if (!older || !type || type->samples < 2)
        return false;
    if (!c->knows_ended)
        c->has_ended = find_ended(older, table, &table->results[c->result]);
    c->knows_ended = true;
    return c->has_ended;
}

/* Sets the displayed value. A status byte has the exact integer only below 2^53; larger ones are evaluated again. */
static void set_result(pfb_collector *c, size_t place, uint32_t row, uint32_t column)
{
    static const double exact = 9007199254740992.0;
    pfb_collected_value *v = &c->value;
    const pfb_sample *table = &c->current->table;
    pfb_formula_result result = pfb_formula_unpack(c->values[place], c->status_bytes[place], PFB_UNIT_NONE);
    if (result.status == PFB_STATUS_OK && result.value >= exact)
        result = pfb_sample_cook_value(c->older[c->result], table, row, column, &c->options.formula, NULL);
    v->status = result.status;
    v->flags = result.flags;
    v->value = result.value;
    v->is_integer = result.is_integer;
    v->integer = result.integer;
    if (c->is_total && v->status == PFB_STATUS_OK && is_incomplete_total(c))
        v->flags |= PFB_FLAG_INCOMPLETE_TOTAL;
}

/* Sets the raw value and the base that the value was computed from. */
static void set_inputs(pfb_collector *c, size_t place, uint32_t row, uint32_t column)
{
    pfb_collected_value *v = &c->value;
    const pfb_sample *table = &c->current->table;
    const pfb_sample_column *from = &table->columns[column];
    v->has_raw = table->sizes[place] != 0;
    v->raw = v->has_raw ? table->raw[place] : 0;
    v->has_base = false;
    v->base = 0;
    v->has_object_freq = c->is_v1;
    v->object_freq = table->results[c->result].object_freq;
    if (from->base_column == PFB_NONE && (c->is_v1 || from->freq_column == PFB_NONE))
        return;
    pfb_raw_value raw = pfb_sample_raw_value(table, row, column);
    v->has_base = (raw.has & PFB_HAS_BASE) != 0;
    v->base = v->has_base ? raw.base : 0;
    v->has_object_freq = (raw.has & PFB_HAS_OBJECT_FREQ) != 0;
    v->object_freq = v->has_object_freq ? raw.object_freq : 0;
}

/* Returns the next value of the current row in *value; false after the last one. */
static bool next_of_row(pfb_collector *c, const pfb_sample_result *result, pfb_collected_value *value)
{
    const pfb_sample *table = &c->current->table;
    uint32_t row = result->first_row + c->row;
    const pfb_sample_row *from = &table->rows[row];
    uint32_t end = from->value_count < result->column_count ? from->value_count : result->column_count;
    if (c->position == 0)
        begin_matches(c);
    while (c->position < end &&
           !(c->columns[result->first_column + c->position].is_chosen && shows_row(c, result, c->position, from)))
        c->position++;
    if (c->position >= end)
        return false;
    uint32_t column = result->first_column + c->position;
    size_t place = pfb_sample_place(table, row, column);
    if (!c->has_result)
        begin_result(c, result);
    if (!c->has_row)
        begin_row(c, from);
    set_counter(c, &table->columns[column], &c->columns[column]);
    set_result(c, place, row, column);
    set_inputs(c, place, row, column);
    *value = c->value;
    c->position++;
    return true;
}

bool pfb_collector_next(pfb_collector *c, pfb_collected_value *value)
{
    if (c->log.is_current)
        return pfb_collect_next_of_log(c, value);
    while (c->current && c->result < c->current->table.counts.results) {
        const pfb_sample_result *result = &c->current->table.results[c->result];
        while (c->row < result->row_count) {
            if (next_of_row(c, result, value))
                return true;
            c->position = 0;
            c->has_row = false;
            c->row++;
        }
        c->row = 0;
        c->has_result = false;
        c->result++;
    }
    return false;
}

void pfb_collector_rewind(pfb_collector *c)
{
    c->result = c->row = c->position = 0;
    c->has_result = c->has_row = false;
    c->log.next = 0;
    c->log.has_last = false;
}

/* ---- Results --------------------------------------------------------------------------------------------- */

static bool is_same_row(const pfb_sample_row *a, const pfb_sample_row *b)
{
    pfb_name left = row_name(a);
    pfb_name right = row_name(b);
    bool is_same_name = (!left.bytes && !right.bytes) || pfb_name_equal(&left, &right);
    return a->id == b->id && a->has_name == b->has_name && is_same_name;
}

/* Returns true if two V2 results are of one counterset and have the same instances in the same order. */
static bool has_same_rows(const pfb_sample *table, const pfb_sample_result *a, const pfb_sample_result *b)
{
    bool is_same = a->has_query && b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
                   a->row_count == b->row_count && b->kind != PFB_V2_ERROR;
    for (uint32_t n = 0; n < a->row_count && is_same; n++)
        is_same = is_same_row(&table->rows[a->first_row + n], &table->rows[b->first_row + n]);
    return is_same;
}

static bool has_values(uint32_t kind)
{
    return kind == PFB_V1_OBJECT || kind == PFB_V2_SINGLE_COUNTER || kind == PFB_V2_MULTIPLE_COUNTERS ||
           kind == PFB_V2_MULTIPLE_INSTANCES || kind == PFB_V2_COUNTERSET;
}

/* Bases and labels have no displayed value. */
static bool is_displayed(const pfb_sample_column *column)
{
    const pfb_counter_type *type = column->has_counter ? pfb_counter_type_find(column->counter.type) : NULL;
    return !type || type->samples > 0;
}

static void count_columns(const pfb_collector *c, const pfb_sample_result *from, pfb_collected_result *result)
{
    for (uint32_t i = from->first_column; i < from->first_column + from->column_count; i++) {
        const shown_column *column = &c->columns[i];
        result->column_count += column->is_chosen;
        result->shown_column_count +=
            column->is_chosen && !column->is_hidden && is_displayed(&c->current->table.columns[i]);
    }
}

static void count_rows(pfb_collector *c, const pfb_sample_result *from, pfb_collected_result *result)
{
    for (uint32_t i = from->first_row; i < from->first_row + from->row_count; i++) {
        const pfb_sample_row *row = &c->current->table.rows[i];
        bool is_shown = c->choice.filter_count == 0;
        begin_matches(c);
        for (uint32_t k = 0; k < from->column_count && !is_shown; k++)
            is_shown = c->columns[from->first_column + k].is_chosen && shows_row(c, from, k, row);
        result->row_count += is_shown;
        result->has_repeated_names = result->has_repeated_names || row->occurrence > 0;
    }
    begin_matches(c); /* the next value has another row */
}

bool pfb_collector_result(pfb_collector *c, uint32_t position, pfb_collected_result *result)
{
    if (!c->current || position >= c->current->table.counts.results)
        return false;
    const pfb_sample *table = &c->current->table;
    const pfb_sample_result *from = &table->results[position];
    pfb_name name = counterset_name(c, from);
    text_view text = pfb_text_find(&c->texts, &c->scratch[SCRATCH_RESULT], &name);
    *result = (pfb_collected_result){.offset = from->offset,
                                     .kind = from->kind,
                                     .has_values = c->is_v1 || (has_values(from->kind) && from->kind != PFB_V1_OBJECT),
                                     .status = from->status,
                                     .is_chosen = is_set_chosen(c, from),
                                     .counterset = text.bytes,
                                     .counterset_size = text.size,
                                     .has_counterset = name.bytes != NULL,
                                     .has_guid = from->has_query && !c->is_v1,
                                     .has_title = c->is_v1,
                                     .title = from->title_index};
    if (result->has_guid)
        result->guid = from->counterset;
    result->has_counter_id = from->has_query && from->counter_id != PFB_NO_ID;
    result->counter_id = result->has_counter_id ? from->counter_id : 0;
    count_columns(c, from, result);
    count_rows(c, from, result);
    result->has_rows_of_previous =
        !c->is_v1 && position > 0 && has_same_rows(table, &table->results[position - 1], from);
    return true;
}

bool pfb_collector_sample(pfb_collector *c, pfb_collected_sample *sample)
{
    if (c->log.is_current) {
        *sample = pfb_collect_log_sample(c);
        return true;
    }
    if (!c->current)
        return false;
    const kept_sample *from = c->current;
    bool has_machine = false;
    text_view text = find_machine(c, &has_machine);
    *sample = (pfb_collected_sample){.number = from->number,
                                     .is_v1 = c->is_v1,
                                     .result_count = from->table.counts.results,
                                     .perf_time = from->table.perf_time,
                                     .perf_time_100ns = from->table.perf_time_100ns,
                                     .perf_freq = from->table.perf_freq,
                                     .system_time = from->table.system_time,
                                     .notes = from->table.notes,
                                     .machine = text.bytes,
                                     .machine_size = text.size,
                                     .has_machine = has_machine};
    return true;
}
