/* SPDX-License-Identifier: MIT */
#include "values/display.h"

#include "memory/memory.h"
#include "names/names.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Choices --------------------------------------------------------------------------------------------- */

static int compare_counters(const void *left, const void *right)
{
    const display_counter *a = left;
    const display_counter *b = right;
    int difference = memcmp(a->set.bytes, b->set.bytes, sizeof a->set.bytes);
    return difference != 0 ? difference : (a->counter_id > b->counter_id) - (a->counter_id < b->counter_id);
}

void display_sort_choice(display_choice *choice)
{
    size_t count = 0;
    if (choice->count == 0)
        return;
    qsort(choice->counters, choice->count, sizeof *choice->counters, compare_counters);
    for (size_t i = 0; i < choice->count; i++) {
        if (count == 0 || compare_counters(&choice->counters[count - 1], &choice->counters[i]) != 0)
            choice->counters[count++] = choice->counters[i];
    }
    choice->count = count;
}

/* The first of the counters that is not below this one, or null. */
static const display_counter *find_from(const display_choice *choice, display_counter wanted)
{
    size_t low = 0;
    size_t high = choice->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_counters(&choice->counters[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < choice->count ? &choice->counters[low] : NULL;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

bool display_chooses_set(const display_choice *choice, const pfb_guid *set)
{
    const display_counter *found = find_from(choice, (display_counter){*set, 0});
    return found && pfb_guid_equal(&found->set, set);
}

bool display_chooses_counter(const display_choice *choice, const pfb_guid *set, uint32_t counter_id)
{
    const display_counter wanted = {*set, counter_id};
    const display_counter all = {*set, PFB_NO_ID};
    const display_counter *found = find_from(choice, wanted);
    if (found && compare_counters(found, &wanted) == 0)
        return true;
    found = find_from(choice, all);
    return found && compare_counters(found, &all) == 0;
}

bool display_chooses_name(const display_choice *choice, const pfb_name *name)
{
    return !choice->pattern.bytes || pfb_query_match(&choice->pattern, name, PFB_MATCH_IGNORE_CASE);
}

bool display_shows_result(const display *d, uint32_t result)
{
    return !d->choice || display_chooses_set(d->choice, &d->newer->results[result].counterset);
}

bool display_shows_column(const display *d, uint32_t column)
{
    const pfb_sample_column *c = &d->newer->columns[column];
    return !d->choice || display_chooses_counter(d->choice, &d->newer->results[c->result].counterset, c->counter_id);
}

bool display_is_meant_for_people(const display *d, uint32_t column)
{
    const pfb_sample_column *c = &d->newer->columns[column];
    if (!(c->counter.attributes & PFB_ATTRIBUTE_NO_DISPLAY))
        return true;
    const display_counter wanted = {d->newer->results[c->result].counterset, c->counter_id};
    const display_counter *found = d->choice ? find_from(d->choice, wanted) : NULL;
    return found && compare_counters(found, &wanted) == 0;
}

bool display_shows_row(const display *d, uint32_t row)
{
    const pfb_sample_row *r = &d->newer->rows[row];
    pfb_name name = v1_row_name(r);
    return !d->choice || !r->has_name || display_chooses_name(d->choice, &name);
}

display_value display_evaluate(const display *d, uint32_t row, uint32_t column)
{
    display_value value = {.datum = pfb_sample_value_at(d->newer, row, column)};
    const pfb_sample *older = d->older[d->newer->rows[row].result];
    value.result = pfb_sample_cook_value(older, d->newer, row, column, NULL, &value.inputs);
    if (d->statuses) {
        pfb_status status = value.result.status;
        bool is_single = status == PFB_STATUS_NEED_TWO_SAMPLES;
        d->statuses->has_single = d->statuses->has_single || is_single;
        d->statuses->has_other = d->statuses->has_other || (!is_single && status != PFB_STATUS_NOT_DISPLAYED);
    }
    return value;
}

bool display_knows_kind(const display *d, uint32_t result)
{
    uint32_t kind = d->newer->results[result].kind;
    return d->is_v1 || (kind != PFB_V2_ERROR && names_has_kind(kind));
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

const metadata_set *display_set(const display *d, uint32_t result)
{
    const pfb_sample_result *r = &d->newer->results[result];
    return d->metadata && r->has_query ? metadata_find(d->metadata, &r->counterset) : NULL;
}

pfb_name display_set_name(const display *d, uint32_t result)
{
    if (d->is_v1)
        return titles_find(d->titles, d->newer->results[result].title_index);
    return metadata_set_name(display_set(d, result));
}

pfb_name display_counter_name(const display *d, uint32_t column)
{
    const pfb_sample_column *c = &d->newer->columns[column];
    if (d->is_v1)
        return titles_find(d->titles, c->counter_id);
    if (c->counter_id == PFB_NO_ID)
        return (pfb_name){0};
    return metadata_counter_name(display_set(d, c->result), c->counter_id);
}

/* ---- Results without values ------------------------------------------------------------------------------ */

static void state_result(const display *d, uint32_t result)
{
    output *out = d->out;
    const pfb_sample_result *r = &d->newer->results[result];
    char guid[PFB_GUID_TEXT_BYTES];
    pfb_guid_format(&r->counterset, guid);
    output_begin(out, "result", 0);
    output_unsigned(out, "sample", d->sample);
    output_unsigned(out, "query", result);
    output_string(out, "kind", names_of_kind(r->kind));
    output_unsigned(out, "status", r->status);
    if (r->has_query)
        output_string(out, "guid", guid);
    else
        output_null(out, "guid");
    if (r->has_query && r->counter_id != PFB_NO_ID)
        output_unsigned(out, "counter_id", r->counter_id);
    else
        output_null(out, "counter_id");
    output_end(out);
}

/* A query that failed, or whose answer is of an unknown kind, gives no values: that is said, not passed over. */
static void tell_result(const display *d, uint32_t result)
{
    const pfb_sample_result *r = &d->newer->results[result];
    if (display_knows_kind(d, result) && r->status == 0)
        return;
    if (d->out->format == OUTPUT_JSON) {
        state_result(d, result);
        return;
    }
    const char *words = names_of_win32(r->status);
    diagnostics_note(
        d->file, d->base + r->offset, "sample %" PRIu64 ": result %" PRIu32 " is of kind %s, status %" PRIu32 "%s%s%s",
        d->sample, result, names_of_kind(r->kind), r->status, words ? " (" : "", words ? words : "", words ? ")" : "");
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* A name as UTF-8. */
typedef struct record_name {
    buffer text;
    bool exists;
} record_name;

/* What the records of a sample have in common. The names of the set and of the row are converted once; those of the
 * counters, which can be quadratic in the input in sum, for each record. */
typedef struct record_words {
    char time[NAMES_TIME_BYTES];
    record_name set, row, parent;
    pfb_name *counters; /* by column */
    char guid[PFB_GUID_TEXT_BYTES];
} record_words;

static void find_counter_names(const display *d, record_words *words)
{
    uint32_t count = d->newer->counts.columns;
    words->counters = memory_get(count, sizeof *words->counters);
    for (uint32_t i = 0; i < count; i++)
        words->counters[i] = display_counter_name(d, i);
}

static void convert(record_name *out, pfb_name name)
{
    out->exists = name.bytes != NULL;
    buffer_clear(&out->text);
    name_text(&out->text, name);
}

static void put_name(output *out, const char *key, const record_name *name)
{
    if (name->exists)
        output_bytes(out, key, name->text.data, name->text.size);
    else
        output_null(out, key);
}

static void put_value(output *out, const display_value *value)
{
    const char *flags[NAMES_MOST_BITS];
    size_t flag_count = names_of_flags(value->result.flags, flags);
    output_string(out, "status", pfb_status_name(value->result.status));
    if (value->result.status == PFB_STATUS_OK)
        output_double(out, "value", value->result.value);
    else
        output_null(out, "value");
    output_string(out, "unit", pfb_unit_text(value->result.unit));
    output_names(out, "flags", flags, flag_count);
    if (value->datum.is_number)
        output_unsigned(out, "raw", value->datum.raw);
    else
        output_null(out, "raw");
    if (value->inputs.newer.has & PFB_HAS_BASE)
        output_unsigned(out, "base", value->inputs.newer.base);
    else
        output_null(out, "base");
}

static void put_number_or_null(output *out, const char *key, uint32_t number)
{
    if (number == PFB_NO_ID)
        output_null(out, key);
    else
        output_unsigned(out, key, number);
}

/* The unique ids of V1 are signed. */
static void put_instance_id(output *out, const display *d, uint32_t id)
{
    if (d->is_v1 && id != PFB_NO_ID)
        output_signed(out, "instance_id", id <= INT32_MAX ? (int64_t)id : (int64_t)id - (INT64_C(1) << 32));
    else
        put_number_or_null(out, "instance_id", id);
}

static void state_value(const display *d, const record_words *words, uint32_t row, uint32_t column)
{
    output *out = d->out;
    const pfb_sample_row *r = &d->newer->rows[row];
    const pfb_sample_column *c = &d->newer->columns[column];
    char type[NAMES_TYPE_BYTES];
    display_value value = display_evaluate(d, row, column);
    if (out->format == OUTPUT_CSV && value.result.status == PFB_STATUS_NOT_DISPLAYED)
        return;
    output_begin(out, NULL, 0);
    output_unsigned(out, "sample", d->sample);
    output_string(out, "time", words->time);
    put_name(out, "set", &words->set);
    if (d->is_v1)
        output_unsigned(out, "object", d->newer->results[c->result].title_index);
    else
        output_null(out, "object");
    put_name(out, "instance", &words->row);
    output_unsigned(out, "occurrence", r->occurrence);
    output_name(out, "counter", words->counters[column]);
    if (d->is_v1) /* a title index may be any number */
        output_unsigned(out, "counter_id", c->counter_id);
    else
        put_number_or_null(out, "counter_id", c->counter_id);
    output_unsigned(out, "position", c->position);
    if (c->has_counter)
        output_string(out, "type", names_of_type(c->counter.type, type));
    else
        output_null(out, "type");
    put_value(out, &value);
    if (*words->guid != '\0')
        output_string(out, "guid", words->guid);
    else
        output_null(out, "guid");
    put_instance_id(out, d, r->id);
    put_name(out, "parent", &words->parent);
    output_end(out);
}

/* The values of a row that its block holds; all of them, unless the block breaks off. */
static void state_row(const display *d, record_words *words, const pfb_sample_result *result, uint32_t row)
{
    const pfb_sample_row *r = &d->newer->rows[row];
    convert(&words->row, v1_row_name(r));
    convert(&words->parent, v1_parent_name(r));
    for (uint32_t i = 0; i < r->value_count && i < result->column_count; i++) {
        uint32_t column = result->first_column + i;
        if (display_shows_column(d, column))
            state_value(d, words, row, column);
    }
}

static void state_records(const display *d)
{
    record_words words = {0};
    names_of_time(&d->newer->system_time, words.time);
    find_counter_names(d, &words);
    for (uint32_t i = 0; i < d->newer->counts.results && !output_failed(d->out); i++) {
        const pfb_sample_result *result = &d->newer->results[i];
        if (!display_shows_result(d, i))
            continue;
        tell_result(d, i);
        convert(&words.set, display_set_name(d, i));
        words.guid[0] = '\0';
        if (result->has_query && !d->is_v1)
            pfb_guid_format(&result->counterset, words.guid);
        for (uint32_t n = 0; n < result->row_count && !output_failed(d->out); n++) {
            if (display_shows_row(d, result->first_row + n))
                state_row(d, &words, result, result->first_row + n);
        }
    }
    buffer_free(&words.set.text);
    buffer_free(&words.row.text);
    buffer_free(&words.parent.text);
    free(words.counters);
}

void display_sample(const display *d)
{
    if (d->out->format != OUTPUT_TEXT && d->out->format != OUTPUT_PROMETHEUS) {
        state_records(d);
        return;
    }
    if (d->out->format == OUTPUT_TEXT)
        display_text(d);
    else
        display_metrics(d);
    for (uint32_t i = 0; i < d->newer->counts.results && !output_failed(d->out); i++) {
        if (display_shows_result(d, i))
            tell_result(d, i);
    }
}
