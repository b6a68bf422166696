/* SPDX-License-Identifier: MIT */
/* Returns the values of the current sample one by one. */
#include "collect/collector.h"
#include "collect/match.h"
#include "collect/memory.h"
#include "perfblock/catalog.h"
#include "perfblock/query.h"
#include "source/source_private.h"

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

/* Reserves memory for the longest name of each kind, so that returning values does not fail. */
static bool reserve_names(pfb_collector *c, const stored_sample *sample)
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

static bool matches_set(pfb_collector *c, const char *pattern, const pfb_sample_result *result)
{
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid guid;
    if (c->is_v1)
        return pfb_match_title(&c->titles, pfb_match_catalog_name(pattern), result->title_index);
    if (!result->has_query)
        return false;
    const metadata_set *set = find_set(c, result);
    bool is_match = pfb_guid_parse(pattern, strlen(pattern), &guid) && pfb_guid_equal(&guid, &result->counterset);
    for (unsigned origin = 0; origin < METADATA_ORIGINS && !is_match; origin++) {
        pfb_name name = pfb_metadata_set_name_at(set, origin);
        is_match = pfb_match_name(pattern, &name);
    }
    const pfb_catalog_set *known = pfb_catalog_find(&result->counterset);
    pfb_guid_format(&result->counterset, text);
    return is_match || (known && pfb_match_ascii(pattern, known->name)) ||
           (!known && !pfb_metadata_set_name(set).bytes && pfb_match_ascii(pattern, text));
}

static bool matches_counter(pfb_collector *c, const char *pattern, const pfb_sample_result *result, uint32_t counter_id)
{
    char number[16];
    if (c->is_v1)
        return pfb_match_title(&c->titles, pattern, counter_id);
    if (counter_id == PFB_NO_ID)
        return false;
    const metadata_set *set = find_set(c, result);
    snprintf(number, sizeof number, "%" PRIu32, counter_id);
    bool is_match = strcmp(pattern, number) == 0;
    for (unsigned origin = 0; origin < METADATA_ORIGINS && !is_match; origin++) {
        pfb_name name = pfb_metadata_counter_name_at(set, origin, counter_id);
        is_match = pfb_match_name(pattern, &name);
    }
    return is_match || (!pfb_metadata_counter_name(set, counter_id).bytes && pfb_match_ascii(pattern, number));
}

/* Returns true if a counterset of the choice matches that of the result, and its machine that of the sample. */
static bool matches_any_counterset(pfb_collector *c, const named_choice *named, const pfb_sample_result *result)
{
    bool is_match = false;
    for (size_t i = 0; i < named->counterset_count && named->is_machine && !is_match; i++)
        is_match = matches_set(c, named->names[i], result);
    return is_match;
}

/* Returns true if a counter of the choice matches the counter of this id, or if the choice has no counters: then it
 * includes all. */
static bool matches_any_counter(pfb_collector *c, const named_choice *named, const pfb_sample_result *result,
                                uint32_t counter_id)
{
    bool is_match = named->counter_count == 0;
    for (size_t i = 0; i < named->counter_count && !is_match; i++)
        is_match = matches_counter(c, named->names[named->counterset_count + i], result, counter_id);
    return is_match;
}

static bool is_everything_chosen(const pfb_collector *c)
{
    return c->choice.count == 0 && c->choice.named_count == 0;
}

/* Returns the `counterset` of the rows in c->choice that choose counters of this result. */
static pfb_guid choice_key(const pfb_collector *c, const pfb_sample_result *result)
{
    return c->is_v1 ? pfb_choice_title_key(result->title_index) : result->counterset;
}

/* Returns true if the result's counterset is chosen. It may lack the counters that were chosen by name. */
static bool is_set_chosen(pfb_collector *c, const pfb_sample_result *result)
{
    const pfb_guid key = choice_key(c, result);
    bool is_chosen = is_everything_chosen(c) || (c->choice.count > 0 && pfb_choice_of_set(&c->choice, &key).count > 0);
    for (size_t i = 0; i < c->choice.named_count && !is_chosen; i++)
        is_chosen = matches_any_counterset(c, &c->choice.named[i], result);
    return is_chosen;
}

/* Chooses a column for the instances that match a filter; a column may have several filters. `is_individual`: the
 * counter was named, instead of all counters of its counterset; then it is not hidden. Returns false when memory is
 * exhausted. */
static bool add_column_filter(pfb_collector *c, shown_column *column, uint32_t filter, bool is_individual)
{
    if (!column->is_chosen)
        column->first_filter = c->column_filter_count;
    column->is_chosen = true;
    column->is_hidden = column->is_hidden && !is_individual;
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

/* Sets whether a column is chosen, and for which instances. Counters with PFB_ATTRIBUTE_NO_DISPLAY are hidden unless
 * they were named. Returns false when memory is exhausted. */
static bool choose_column(pfb_collector *c, const pfb_sample_result *result, const pfb_sample_column *input,
                          shown_column *column)
{
    bool has_memory = true;
    column->is_hidden = (input->counter.attributes & PFB_ATTRIBUTE_NO_DISPLAY) != 0;
    column->is_chosen = column->has_all_instances = is_everything_chosen(c);
    const uint32_t ids[] = {input->counter_id, PFB_NO_ID};
    const pfb_guid key = choice_key(c, result);
    for (size_t k = input->counter_id == PFB_NO_ID; k < 2 && c->choice.count > 0; k++) {
        chosen_rows range = pfb_choice_of_counter(&c->choice, &key, ids[k]);
        for (size_t i = 0; i < range.count && has_memory; i++) {
            if (range.first[i].is_shown)
                has_memory = add_column_filter(c, column, range.first[i].filter, ids[k] != PFB_NO_ID);
        }
    }
    for (size_t i = 0; i < c->choice.named_count && has_memory; i++) {
        const named_choice *named = &c->choice.named[i];
        if (matches_any_counterset(c, named, result) && matches_any_counter(c, named, result, input->counter_id))
            has_memory = add_column_filter(c, column, named->filter, named->counter_count > 0);
    }
    return has_memory;
}

/* Returns the unit of a counter type. The result of a formula has its unit even if there are no inputs. */
static const char *unit_of_type(uint32_t type)
{
    const pfb_raw_value nothing = {.type = type};
    return pfb_unit_text(pfb_formula_evaluate(NULL, &nothing, NULL).unit);
}

/* Fills in the columns of the current sample. Returns false when memory is exhausted. */
static bool describe_columns(pfb_collector *c, const pfb_sample *table)
{
    c->column_filter_count = 0;
    for (uint32_t r = 0; r < table->counts.results; r++) {
        const pfb_sample_result *result = &table->results[r];
        const metadata_set *set = find_set(c, result);
        for (uint32_t i = result->first_column; i < result->first_column + result->column_count; i++) {
            const pfb_sample_column *input = &table->columns[i];
            shown_column *column = &c->columns[i];
            *column = (shown_column){.unit = pfb_unit_text(PFB_UNIT_NONE)};
            if (!choose_column(c, result, input, column))
                return false;
            if (c->is_v1)
                column->name = pfb_titles_find(&c->titles, input->counter_id);
            else if (input->counter_id != PFB_NO_ID)
                column->name = pfb_metadata_counter_name(set, input->counter_id);
            if (input->has_counter)
                column->unit = unit_of_type(input->counter.type);
        }
    }
    return true;
}

/* Compares the machines of the choice with that of the sample, or with that of the options if the sample has none. */
static void choose_machine(pfb_collector *c, const stored_sample *sample)
{
    pfb_name machine = sample->machine_name;
    if (!machine.bytes && c->options.machine)
        machine = pfb_utf8_name(c->options.machine, strlen(c->options.machine));
    for (size_t i = 0; i < c->choice.named_count; i++) {
        named_choice *named = &c->choice.named[i];
        named->is_machine = !named->machine || pfb_match_machine(named->machine, &machine);
    }
}

/* Converts the name of the sample's machine once, because each of many results has it. Without a name it is that of the
 * options. */
static void convert_machine(pfb_collector *c, const stored_sample *sample)
{
    const pfb_name *name = &sample->machine_name;
    c->has_machine = name->bytes || c->options.machine;
    if (!name->bytes && c->options.machine)
        c->machine = (text_view){c->options.machine, strlen(c->options.machine)};
    else
        c->machine = pfb_text_convert(&c->scratch[SCRATCH_MACHINE], name);
}

bool pfb_collect_show(pfb_collector *c, stored_sample *sample, bool is_v1)
{
    uint32_t count = sample->table.counts.columns;
    c->is_v1 = is_v1;
    choose_machine(c, sample);
    if (!PFB_COLLECT_GROW(c->columns, c->column_capacity, count))
        return false;
    if (!describe_columns(c, &sample->table) || !reserve_names(c, sample))
        return false;
    convert_machine(c, sample);
    c->current = sample;
    pfb_collector_rewind(c);
    return true;
}

/* ---- Instances ------------------------------------------------------------------------------------------- */

/* Forgets which filters match the instance of a row, before another row is compared. */
static void clear_matches(pfb_collector *c)
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
        bool is_match = pfb_choice_matches(&c->choice.filters[filter], &row->parent, &name, row->occurrence);
        *match = is_match ? YES : NO;
    }
    return *match == YES;
}

/* Returns true if the value of a chosen column is returned for this row: if all instances are chosen or a filter
 * matches the row. A V2 row without a name is the only one of its result; that of a source is always returned, since
 * the query selected it. */
static bool shows_row(pfb_collector *c, const pfb_sample_result *result, uint32_t position, const pfb_sample_row *row)
{
    const shown_column *column = &c->columns[result->first_column + position];
    bool is_shown = column->has_all_instances || (c->source && !c->is_v1 && !row->has_name);
    for (size_t i = 0; i < column->filter_count && !is_shown; i++)
        is_shown = matches_filter(c, row, c->column_filters[column->first_filter + i]);
    return is_shown;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Sets the members that all values of a result share. */
static void begin_result(pfb_collector *c, const pfb_sample_result *result)
{
    pfb_collected_value *v = &c->value;
    pfb_name name = counterset_name(c, result);
    text_view text = pfb_text_find(&c->texts, &c->scratch[SCRATCH_COUNTERSET], &name);
    *v = (pfb_collected_value){.parent = "", .instance = "", .counter = "", .unit = ""};
    v->machine = c->machine.bytes;
    v->machine_size = c->machine.size;
    v->has_machine = c->has_machine;
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
    c->is_missing_known = false;
    c->has_result = true;
}

/* Returns true if the instance is a total, by its name. */
static bool is_total(const pfb_collected_value *v)
{
    static const char total[] = "_Total";
    size_t size = sizeof total - 1;
    return v->instance_size >= size && memcmp(v->instance + v->instance_size - size, total, size) == 0 &&
           (v->instance_size == size || v->instance[v->instance_size - size - 1] == ',');
}

/* Sets the members that all values of an instance share. Unique ids of V1 are signed. */
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

static void set_counter(pfb_collector *c, const pfb_sample_column *input, shown_column *column)
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
    v->has_counter_id = c->is_v1 || input->counter_id != PFB_NO_ID; /* a title index may equal PFB_NO_ID */
    v->counter_id = input->counter_id;
    v->has_type = input->has_counter;
    v->type = input->counter.type;
    v->attributes = input->counter.attributes;
    v->is_hidden = column->is_hidden;
    v->unit = column->unit;
    v->position = c->position;
}

/* Returns true if the result lacks instances of the older result that its rows were matched with. */
static bool is_instance_missing(const pfb_sample *older, const pfb_sample *table, const pfb_sample_result *result)
{
    uint32_t older_result = PFB_NONE;
    uint32_t matched = 0;
    for (uint32_t i = result->first_row; i < result->first_row + result->row_count; i++) {
        uint32_t row = table->rows[i].older_row;
        if (row == PFB_NONE)
            continue;
        older_result = older_result == PFB_NONE ? older->rows[row].result : older_result;
        matched += older->rows[row].result == older_result;
    }
    return older_result != PFB_NONE && matched < older->results[older_result].row_count;
}

/* Requires that the current value is that of a total. Returns true if it was computed from two samples and the newer
 * one lacks instances of the older one. */
static bool is_incomplete_total(pfb_collector *c)
{
    const pfb_sample *table = &c->current->table;
    const pfb_sample *older = c->older[c->result];
    const pfb_counter_type *type = c->value.has_type ? pfb_counter_type_find(c->value.type) : NULL;
    if (!older || !type || type->samples < 2)
        return false;
    if (!c->is_missing_known)
        c->has_missing = is_instance_missing(older, table, &table->results[c->result]);
    c->is_missing_known = true;
    return c->has_missing;
}

/* Sets the displayed value. A double has the exact integer only below 2^53; for larger values the formula is evaluated
 * again. */
static void set_result(pfb_collector *c, size_t place, uint32_t row, uint32_t column)
{
    static const double exact_limit = 9007199254740992.0; /* 2^53 */
    pfb_collected_value *v = &c->value;
    const pfb_sample *table = &c->current->table;
    pfb_formula_result result = pfb_formula_unpack(c->values[place], c->status_bytes[place], PFB_UNIT_NONE);
    if (result.status == PFB_STATUS_OK && result.value >= exact_limit)
        result = pfb_sample_cook_value(c->older[c->result], table, row, column, &c->options.formula, NULL);
    v->status = result.status;
    v->flags = result.flags;
    v->value = result.value;
    v->is_integer = result.is_integer;
    v->integer = result.integer;
    if (c->is_total && v->status == PFB_STATUS_OK && is_incomplete_total(c))
        v->flags |= PFB_FLAG_INCOMPLETE_TOTAL;
}

/* Sets the inputs that the value was computed from: its raw value, its base and the object's frequency. */
static void set_inputs(pfb_collector *c, size_t place, uint32_t row, uint32_t column)
{
    pfb_collected_value *v = &c->value;
    const pfb_sample *table = &c->current->table;
    const pfb_sample_column *input = &table->columns[column];
    v->has_raw = table->sizes[place] != 0;
    v->raw = v->has_raw ? table->raw[place] : 0;
    v->has_base = false;
    v->base = 0;
    v->has_object_freq = c->is_v1;
    v->object_freq = table->results[c->result].object_freq;
    if (input->base_column == PFB_NONE && (c->is_v1 || input->freq_column == PFB_NONE))
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
    const pfb_sample_row *sample_row = &table->rows[row];
    uint32_t end = sample_row->value_count < result->column_count ? sample_row->value_count : result->column_count;
    if (c->position == 0)
        clear_matches(c);
    while (c->position < end &&
           !(c->columns[result->first_column + c->position].is_chosen && shows_row(c, result, c->position, sample_row)))
        c->position++;
    if (c->position >= end)
        return false;
    uint32_t column = result->first_column + c->position;
    size_t place = pfb_sample_place(table, row, column);
    if (!c->has_result)
        begin_result(c, result);
    if (!c->has_row)
        begin_row(c, sample_row);
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

/* Returns true if two V2 results are of one counterset and have the same instances in the same order, and `b` is not an
 * error. */
static bool has_same_rows(const pfb_sample *table, const pfb_sample_result *a, const pfb_sample_result *b)
{
    bool is_same = a->has_query && b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
                   a->row_count == b->row_count && b->kind != PFB_V2_ERROR;
    for (uint32_t n = 0; n < a->row_count && is_same; n++)
        is_same = is_same_row(&table->rows[a->first_row + n], &table->rows[b->first_row + n]);
    return is_same;
}

/* Returns false for counter types without a displayed value, such as bases and texts. */
static bool is_displayed(const pfb_sample_column *column)
{
    const pfb_counter_type *type = column->has_counter ? pfb_counter_type_find(column->counter.type) : NULL;
    return !type || type->samples > 0;
}

static void count_columns(const pfb_collector *c, const pfb_sample_result *input, pfb_collected_result *result)
{
    for (uint32_t i = input->first_column; i < input->first_column + input->column_count; i++) {
        const shown_column *column = &c->columns[i];
        result->column_count += column->is_chosen;
        result->shown_column_count +=
            column->is_chosen && !column->is_hidden && is_displayed(&c->current->table.columns[i]);
    }
}

static void count_rows(pfb_collector *c, const pfb_sample_result *input, pfb_collected_result *result)
{
    for (uint32_t i = input->first_row; i < input->first_row + input->row_count; i++) {
        const pfb_sample_row *row = &c->current->table.rows[i];
        bool is_shown = c->choice.filter_count == 0;
        clear_matches(c);
        for (uint32_t k = 0; k < input->column_count && !is_shown; k++)
            is_shown = c->columns[input->first_column + k].is_chosen && shows_row(c, input, k, row);
        result->row_count += is_shown;
        result->has_repeated_names = result->has_repeated_names || row->occurrence > 0;
    }
    clear_matches(c); /* the matches are those of the last row of the result */
}

bool pfb_collector_result(pfb_collector *c, uint32_t position, pfb_collected_result *result)
{
    if (!c->current || position >= c->current->table.counts.results)
        return false;
    const pfb_sample *table = &c->current->table;
    const pfb_sample_result *input = &table->results[position];
    pfb_name name = counterset_name(c, input);
    text_view text = pfb_text_find(&c->texts, &c->scratch[SCRATCH_RESULT], &name);
    *result = (pfb_collected_result){.offset = input->offset,
                                     .kind = input->kind,
                                     .has_values = c->is_v1 || pfb_source_has_values(input->kind),
                                     .status = input->status,
                                     .is_chosen = is_set_chosen(c, input),
                                     .counterset = text.bytes,
                                     .counterset_size = text.size,
                                     .has_counterset = name.bytes != NULL,
                                     .has_guid = input->has_query && !c->is_v1,
                                     .has_title = c->is_v1,
                                     .title = input->title_index};
    if (result->has_guid)
        result->guid = input->counterset;
    result->has_counter_id = input->has_query && input->counter_id != PFB_NO_ID;
    result->counter_id = result->has_counter_id ? input->counter_id : 0;
    count_columns(c, input, result);
    count_rows(c, input, result);
    result->has_rows_of_previous =
        !c->is_v1 && position > 0 && has_same_rows(table, &table->results[position - 1], input);
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
    const stored_sample *current = c->current;
    *sample = (pfb_collected_sample){.number = current->number,
                                     .is_v1 = c->is_v1,
                                     .result_count = current->table.counts.results,
                                     .perf_time = current->table.perf_time,
                                     .perf_time_100ns = current->table.perf_time_100ns,
                                     .perf_freq = current->table.perf_freq,
                                     .system_time = current->table.system_time,
                                     .notes = current->table.notes,
                                     .machine = c->machine.bytes,
                                     .machine_size = c->machine.size,
                                     .has_machine = c->has_machine};
    return true;
}
