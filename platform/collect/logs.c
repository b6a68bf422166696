/* SPDX-License-Identifier: MIT */
/* Makes samples from records of a .blg and rows of a text log. */
#include "collect/collector.h"
#include "collect/memory.h"
#include "perfblock/query.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* Units are those of FILETIME: 100 ns. */
#define UNITS_PER_MINUTE INT64_C(600000000)

void pfb_collect_forget_logs(pfb_collector *c)
{
    log_state *l = &c->log;
    pfb_collect_free_log(&c->replaced_log);
    l->path_count = 0;
    l->path_bytes_size = 0;
    l->has_sample = false;
    l->has_begun = false;
    l->has_bias = false;
    l->is_text = false;
    l->is_current = false;
    l->has_objects = false;
    l->step = (range_step){.has_sample = false};
}

void pfb_collect_free_log_sample(log_sample *sample)
{
    free(sample->record);
    free(sample->values.values);
    free(sample->values.order);
    *sample = (log_sample){.record = NULL};
}

void pfb_collect_free_log(log_state *l)
{
    log_state freed = *l;
    *l = (log_state){.path_bytes = NULL};
    for (size_t i = 0; i < 2; i++)
        pfb_collect_free_log_sample(&freed.samples[i]);
    free(freed.path_bytes);
    free(freed.paths);
    free(freed.cells);
}

/* ---- Paths --------------------------------------------------------------------------------------------------- */

/* Reserves memory for the longest names of the paths, so that returning values allocates nothing. */
static bool reserve_path_names(pfb_collector *c)
{
    const log_state *l = &c->log;
    bool has_memory = true;
    for (size_t i = 0; i < l->path_count && has_memory; i++) {
        const pfb_log_path *path = &l->paths[i];
        has_memory = pfb_text_reserve(&c->scratch[SCRATCH_MACHINE], path->machine.size_bytes) &&
                     pfb_text_reserve(&c->scratch[SCRATCH_COUNTERSET], path->object.size_bytes) &&
                     pfb_text_reserve(&c->scratch[SCRATCH_INSTANCE], path->instance.size_bytes) &&
                     pfb_text_reserve(&c->scratch[SCRATCH_PARENT], path->parent.size_bytes) &&
                     pfb_text_reserve(&c->scratch[SCRATCH_COUNTER], path->counter.size_bytes);
    }
    return has_memory;
}

/* Returns the memory for the next sample, which is not that of the latest one. */
static log_sample *spare_sample(log_state *l)
{
    return &l->samples[!l->newer];
}

/* Joins the parts of a record in the sample's memory. Returns false when memory is exhausted. */
static bool copy_record(log_sample *sample, const pfb_log_reader *log, const pfb_log_record *record, size_t *size)
{
    void *memory = sample->record;
    bool has_memory =
        record->size_bytes < SIZE_MAX && pfb_collect_fit(&memory, &sample->record_capacity, record->size_bytes + 1);
    sample->record = memory;
    *size = has_memory ? pfb_log_copy_record(log, record, memory, record->size_bytes) : 0;
    return has_memory;
}

/* Loads the list of paths, whose record is in the spare sample. If it differs from the previous list, the latest sample
 * moves to replaced_log with that list, and the next sample continues it as the first sample of a log continues an
 * ended log. */
static bool load_paths(pfb_collector *c, size_t size, pfb_error *error)
{
    log_state *l = &c->log;
    log_sample *spare = spare_sample(l);
    pfb_log_path_reader reader;
    pfb_log_path path;
    bool is_same =
        !l->is_text && l->path_bytes_size == size && size > 0 && memcmp(l->path_bytes, spare->record, size) == 0;
    if (!is_same && l->has_sample && !l->is_text && l->path_count > 0) {
        pfb_collect_free_log(&c->replaced_log);
        pfb_ended_replace(l, &c->replaced_log);
        spare = spare_sample(l);
    }
    if (!is_same) {
        uint8_t *bytes = l->path_bytes;
        size_t capacity = l->path_bytes_capacity;
        l->path_bytes = spare->record;
        l->path_bytes_capacity = spare->record_capacity;
        l->path_bytes_size = size;
        spare->record = bytes;
        spare->record_capacity = capacity;
        l->path_count = 0;
        l->has_sample = false;
        l->is_text = false;
        l->step = (range_step){.has_sample = false};
        pfb_text_clear(&c->texts);
    }
    pfb_log_open_paths(&reader, l->path_bytes, size, &c->options.reader);
    while (pfb_log_next_path(&reader, &path)) {
        if (is_same) /* only the error is needed */
            continue;
        if (!PFB_COLLECT_GROW(l->paths, l->path_capacity, l->path_count + 1))
            return false;
        l->paths[l->path_count++] = path;
    }
    *error = reader.error;
    return reserve_path_names(c);
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Sets the time of a value: in UTC if the bias is known, else in local time. A time so large that
 * UTC could overflow is absent. */
static void set_time(pfb_collected_value *v, uint64_t local_time, bool has_bias, int32_t bias_minutes)
{
    const uint64_t max = INT64_MAX / 2;
    v->has_time = local_time <= max;
    v->is_local_time = !has_bias;
    v->time = v->has_time ? (int64_t)local_time + (has_bias ? bias_minutes * UNITS_PER_MINUTE : 0) : 0;
}

/* Returns true if the range leaves out a sample of this time. Sets is_left_out and the time in c->reply. */
static bool leave_out_of_log(pfb_collector *c, uint64_t local_time)
{
    const pfb_collector_range *range = &c->options.range;
    log_state *l = &c->log;
    pfb_collected_value v;
    set_time(&v, local_time, l->has_bias, l->bias_minutes);
    c->reply.has_time = v.has_time;
    c->reply.is_local_time = v.is_local_time;
    c->reply.time = v.time;
    if (v.is_local_time)
        set_time(&v, local_time, true, range->bias_minutes);
    c->reply.is_left_out = !pfb_range_has(range, v.has_time, v.time) || !pfb_range_step(range, &l->step);
    return c->reply.is_left_out;
}

/* Makes the sample the current one. */
static void begin_sample(pfb_collector *c, uint64_t local_time)
{
    log_state *l = &c->log;
    l->local_time = local_time;
    l->number = c->number++;
    l->is_current = true;
    pfb_collector_rewind(c);
    l->has_matches = false;
}

static bool reserve_values(log_sample *sample, size_t size)
{
    const size_t min_value_bytes = 24; /* of a value in a record */
    size_t count = size / min_value_bytes + 1;
    void *values = sample->values.values;
    void *order = sample->values.order;
    sample->values.count = sample->values.capacity = 0;
    bool has_memory = count <= SIZE_MAX / sizeof(pfb_log_value) &&
                      pfb_collect_fit(&values, &sample->values_capacity, count * sizeof(pfb_log_value));
    sample->values.values = values;
    has_memory = has_memory && pfb_collect_fit(&order, &sample->order_capacity, count * sizeof(uint32_t));
    sample->values.order = order;
    sample->values.capacity = has_memory ? count : 0;
    return has_memory;
}

/* Derives the difference of UTC and local time from the first value that contains both; else it does not change. */
static void find_bias(log_state *l, const pfb_log_values *values)
{
    bool is_found = false;
    for (size_t i = 0; i < values->count && !is_found; i++) {
        const pfb_log_value *value = &values->values[i];
        is_found = value->path < l->path_count && pfb_log_utc_bias(&l->paths[value->path], value, &l->bias_minutes);
    }
    l->has_bias = l->has_bias || is_found;
}

/* Unless the difference of UTC and local time is known, derives it from the first V1 object of the sample: the header
 * of its block has the time in UTC. */
static void find_bias_of_objects(log_state *l, uint64_t local_time)
{
    pfb_log_sample_reader objects = l->objects;
    pfb_log_item item = {.kind = 0};
    pfb_v1_reader block;
    while (!l->has_bias && l->has_objects && item.kind != PFB_LOG_OBJECT && pfb_log_next_item(&objects, &item))
        continue;
    if (l->has_bias || item.kind != PFB_LOG_OBJECT)
        return;
    pfb_v1_open(&block, item.block, item.block_size_bytes, NULL);
    l->has_bias = block.total_size_bytes > 0 &&
                  pfb_log_bias_between((uint64_t)block.perf_time_100ns, local_time, &l->bias_minutes);
}

/* Loads the sample whose record is in the spare sample, and matches its values with those of the previous sample. */
static bool load_sample(pfb_collector *c, size_t size, uint64_t local_time, pfb_error *error)
{
    log_state *l = &c->log;
    log_sample *sample = spare_sample(l);
    const log_sample *older = &l->samples[l->newer];
    if (!reserve_values(sample, size))
        return false;
    *error = pfb_log_load(&sample->values, sample->record, size, &c->options.reader);
    for (size_t i = 0; i < sample->values.count; i++) {
        if (!pfb_text_reserve(&c->scratch[SCRATCH_INSTANCE], sample->values.values[i].instance.size_bytes))
            return false;
    }
    find_bias(l, &sample->values);
    l->has_objects = pfb_log_open_sample(&l->objects, sample->record, size, &c->options.reader);
    find_bias_of_objects(l, local_time);
    if (!l->has_begun) {
        pfb_text_clear(&c->texts); /* the names of the ended log are freed */
        bool has_memory = c->replaced_log.path_count > 0
                              ? pfb_ended_continue_replaced(&c->replaced_log, l, local_time, &c->gaps)
                              : pfb_ended_continue(&c->ended, l, local_time, &c->gaps);
        if (!has_memory)
            return false;
        l->has_begun = true;
    }
    if (leave_out_of_log(c, local_time)) {
        l->has_objects = false;
        return true;
    }
    if (l->has_sample)
        pfb_log_match(&older->values, &sample->values);
    l->newer = !l->newer;
    l->has_sample = true;
    begin_sample(c, local_time);
    return true;
}

/* Adds the names of the name table record in the spare sample. */
static bool load_names(pfb_collector *c, size_t size, pfb_error *error)
{
    const uint8_t *record = spare_sample(&c->log)->record;
    pfb_log_names names;
    pfb_error table_error = {PFB_OK, 0};
    *error = pfb_log_read_names(record, size, &names);
    if (error->code != PFB_OK)
        return true;
    pfb_text_clear(&c->texts);
    bool has_memory = pfb_titles_add(&c->titles, record + names.table_offset, names.table_size_bytes,
                                     &c->options.reader, &table_error);
    *error = (pfb_error){table_error.code, names.table_offset + table_error.offset};
    return has_memory;
}

/* Uses the bias in the header unless it depends on daylight saving time. */
static void read_header_bias(log_state *l, const pfb_log_reader *log)
{
    int64_t minutes = (int64_t)log->bias_minutes + log->standard_bias_minutes;
    const int64_t max = INT64_C(15) * 60;
    if (l->has_bias || log->standard_bias_minutes != log->daylight_bias_minutes || minutes < -max || minutes > max)
        return;
    l->has_bias = true;
    l->bias_minutes = (int32_t)minutes;
}

bool pfb_collector_put_log_record(pfb_collector *c, const pfb_log_reader *log, const pfb_log_record *record,
                                  pfb_source_failure *failure)
{
    log_state *l = &c->log;
    pfb_error error = {PFB_OK, 0};
    pfb_log_summary summary;
    size_t size = 0;
    c->reply = (pfb_collected_reply){.is_v1 = false};
    l->has_objects = false;
    bool has_memory = pfb_collect_end_sample(c) && copy_record(spare_sample(l), log, record, &size);
    read_header_bias(l, log);
    if (has_memory && record->type == PFB_LOG_PATHS)
        has_memory = load_paths(c, size, &error);
    else if (has_memory && record->type == PFB_LOG_NAMES)
        has_memory = load_names(c, size, &error);
    else if (has_memory && record->type == PFB_LOG_SAMPLE)
        has_memory = load_sample(c, size, record->time, &error);
    else if (has_memory && record->type == PFB_LOG_SUMMARY)
        error = pfb_log_read_summary(spare_sample(l)->record, size, &summary);
    if (!has_memory && record->type == PFB_LOG_PATHS)
        pfb_collect_forget_logs(c); /* values could not be returned without memory for their names */
    c->reply.is_sample = l->is_current;
    c->reply.error = error;
    if (error.code != PFB_OK)
        c->reply.error.offset = pfb_log_record_offset(log, record, error.offset);
    return has_memory || pfb_collect_no_memory(failure);
}

bool pfb_collector_next_log_object(pfb_collector *c, const pfb_log_reader *log, const pfb_log_record *record,
                                   pfb_source_failure *failure)
{
    log_state *l = &c->log;
    pfb_log_item item = {.kind = 0};
    int32_t minutes;
    do {
        if (!l->has_objects || !pfb_log_next_item(&l->objects, &item))
            return pfb_source_fail(failure, PFB_WIN32_NO_MORE_ITEMS, "the sample has no further object");
    } while (item.kind != PFB_LOG_OBJECT);
    uint64_t number = c->number;
    l->is_object = true;
    bool has_memory = pfb_collector_put_sample(c, 1, item.block, item.block_size_bytes, failure);
    l->is_object = false;
    c->number = number; /* an object has the number of the sample that contains it */
    if (c->current && pfb_log_bias_between((uint64_t)c->current->table.perf_time_100ns, l->local_time, &minutes)) {
        l->has_bias = true;
        l->bias_minutes = minutes;
    }
    if (c->reply.error.code != PFB_OK)
        c->reply.error.offset = pfb_log_record_offset(
            log, record, (size_t)(item.block - l->samples[l->newer].record) + c->reply.error.offset);
    return has_memory;
}

/* ---- Text logs ----------------------------------------------------------------------------------------------- */

/* Copies a cell of the header; a doubled quotation mark becomes one. Returns the size of the copy. */
static size_t copy_cell(uint8_t *to, const pfb_name *name)
{
    const uint8_t *from = name->bytes;
    size_t size = 0;
    for (size_t i = 0; i < name->size_bytes; i++) {
        to[size++] = from[i];
        if (from[i] == '"' && i + 1 < name->size_bytes && from[i + 1] == '"')
            i++;
    }
    return size;
}

/* Splits the path of a column. A cell that is not a path counts as the name of a counter. */
static pfb_log_path split_path(const pfb_name *name, uint32_t column)
{
    pfb_log_path path = {.position = column};
    pfb_path parts;
    if (!pfb_path_parse(name, &parts)) {
        path.counter = *name;
        return path;
    }
    path.machine = parts.machine;
    if (parts.machine.bytes) { /* with its two backslashes, as in a .blg */
        path.machine.bytes = (const uint8_t *)parts.machine.bytes - 2;
        path.machine.size_bytes += 2;
    }
    path.object = parts.counterset;
    path.instance = parts.name;
    path.parent = parts.parent;
    path.instance_index = parts.has_index ? parts.index : 0;
    path.counter = parts.counter;
    return path;
}

bool pfb_collector_put_text_paths(pfb_collector *c, pfb_pdh_text_reader *text, pfb_source_failure *failure)
{
    log_state *l = &c->log;
    pfb_pdh_text_path path;
    c->reply = (pfb_collected_reply){.is_v1 = false};
    bool has_memory = pfb_collect_end_sample(c);
    pfb_collect_forget_logs(c);
    pfb_text_clear(&c->texts);
    l->is_text = true;
    l->has_bias = text->has_bias;
    l->bias_minutes = text->bias_minutes;
    while (has_memory && pfb_pdh_text_next_path(text, &path)) {
        size_t start = l->path_bytes_size;
        has_memory = path.name.size_bytes < SIZE_MAX - start &&
                     PFB_COLLECT_GROW(l->path_bytes, l->path_bytes_capacity, start + path.name.size_bytes + 1) &&
                     PFB_COLLECT_GROW(l->paths, l->path_capacity, l->path_count + 1);
        if (!has_memory)
            break;
        path.name.size_bytes = copy_cell(l->path_bytes + start, &path.name);
        l->path_bytes_size = start + path.name.size_bytes;
        l->paths[l->path_count++] = (pfb_log_path){.counter = path.name};
    }
    size_t at = 0;
    for (size_t i = 0; i < l->path_count; i++) { /* path_bytes no longer moves: names can refer to it */
        pfb_name name = l->paths[i].counter;
        name.bytes = l->path_bytes + at;
        at += name.size_bytes;
        l->paths[i] = split_path(&name, (uint32_t)i);
    }
    has_memory = has_memory && reserve_path_names(c);
    if (!has_memory)
        pfb_collect_forget_logs(c); /* values could not be returned without memory for their names */
    return has_memory || pfb_collect_no_memory(failure);
}

bool pfb_collector_put_text_row(pfb_collector *c, pfb_pdh_text_reader *text, const pfb_pdh_text_row *row,
                                pfb_source_failure *failure)
{
    log_state *l = &c->log;
    pfb_pdh_text_value value;
    c->reply = (pfb_collected_reply){.is_v1 = false};
    bool has_memory = pfb_collect_end_sample(c);
    if (has_memory && leave_out_of_log(c, row->time))
        return true;
    l->cell_count = 0;
    while (has_memory && pfb_pdh_text_next_value(text, &value)) {
        if (value.column >= l->path_count)
            continue;
        has_memory = PFB_COLLECT_GROW(l->cells, l->cell_capacity, l->cell_count + 1);
        if (has_memory)
            l->cells[l->cell_count++] = (log_cell){value.column, value.has_value, value.value};
    }
    c->reply.is_sample = has_memory;
    if (has_memory)
        begin_sample(c, row->time);
    return has_memory || pfb_collect_no_memory(failure);
}

/* ---- Values -------------------------------------------------------------------------------------------------- */

/* Returns the number of the path's instance among the instances with its name. */
static uint32_t path_occurrence(const pfb_log_path *path)
{
    return path->instance_index != PFB_LOG_NONE ? path->instance_index : 0;
}

static void set_path(pfb_collector *c, pfb_collected_value *v, const pfb_log_path *path)
{
    const struct {
        const pfb_name *name;
        unsigned scratch;
        const char **text;
        size_t *size;
        bool *exists;
    } parts[] = {
        {&path->machine, SCRATCH_MACHINE, &v->machine, &v->machine_size, &v->has_machine},
        {&path->object, SCRATCH_COUNTERSET, &v->counterset, &v->counterset_size, &v->has_counterset},
        {&path->instance, SCRATCH_INSTANCE, &v->instance, &v->instance_size, &v->has_instance},
        {&path->parent, SCRATCH_PARENT, &v->parent, &v->parent_size, &v->has_parent},
        {&path->counter, SCRATCH_COUNTER, &v->counter, &v->counter_size, &v->has_counter},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        text_view view = pfb_text_find(&c->texts, &c->scratch[parts[i].scratch], parts[i].name);
        *parts[i].text = view.bytes;
        *parts[i].size = view.size;
        *parts[i].exists = parts[i].name->bytes != NULL;
    }
    v->occurrence = path_occurrence(path);
}

/* Sets the members that all values of a path share, and the row. */
static void begin_value(pfb_collector *c, pfb_collected_value *v, uint32_t position)
{
    log_state *l = &c->log;
    bool is_next_row = l->has_last && l->last_path == position;
    l->row = is_next_row ? l->row + 1 : 0;
    l->last_path = position;
    l->has_last = true;
    *v =
        (pfb_collected_value){.unit = "", .sample = l->number, .result = position, .position = position, .row = l->row};
    set_path(c, v, &l->paths[position]);
}

/* Sets the displayed value, and the raw values that it was computed from. */
static void set_formula(const pfb_collector *c, pfb_collected_value *v, const pfb_log_value *value)
{
    const log_state *l = &c->log;
    const pfb_log_path *path = &l->paths[value->path];
    const pfb_log_values *older = &l->samples[!l->newer].values;
    pfb_raw_value now = pfb_log_raw_value(path, value);
    pfb_raw_value before = {.has = 0};
    if (value->older != PFB_LOG_NONE)
        before = pfb_log_raw_value(path, &older->values[value->older]);
    pfb_formula_result result = pfb_formula_evaluate(before.has ? &before : NULL, &now, &c->options.formula);
    v->unit = pfb_unit_text(result.unit);
    v->has_type = true;
    v->type = path->type;
    if (!pfb_pdh_has_value(value->status)) {
        v->status = PFB_STATUS_NO_DATA;
        v->log_status = value->status;
        return;
    }
    v->status = result.status;
    v->flags = result.flags;
    v->value = result.value;
    v->is_integer = result.is_integer;
    v->integer = result.integer;
    v->has_raw = true;
    v->raw = value->first;
    v->has_base = (now.has & PFB_HAS_BASE) != 0;
    v->base = now.base;
    v->has_object_freq = (now.has & PFB_HAS_OBJECT_FREQ) != 0;
    v->object_freq = now.object_freq;
}

/* Returns true if the instance of a path is chosen. Machine, object and counter are compared only when the path
 * changes: the values of a path follow each other. */
static bool is_chosen(pfb_collector *c, uint32_t position, const pfb_name *instance, uint32_t occurrence)
{
    log_state *l = &c->log;
    const counter_choice *choice = &c->choice;
    const pfb_log_path *path = &l->paths[position];
    bool is_shown = choice->named_count == 0;
    if (!is_shown && (!l->has_matches || l->matches_path != position)) {
        for (size_t i = 0; i < choice->named_count; i++)
            choice->named[i].is_match = pfb_collect_has_log_counter(&choice->named[i], path);
        l->has_matches = true;
        l->matches_path = position;
    }
    for (size_t i = 0; i < choice->named_count && !is_shown; i++) {
        const named_choice *named = &choice->named[i];
        is_shown = named->is_match &&
                   (named->filter == ALL_INSTANCES ||
                    pfb_choice_matches(&choice->filters[named->filter], &path->parent, instance, occurrence));
    }
    return is_shown;
}

static bool is_value_chosen(pfb_collector *c, const pfb_log_value *value)
{
    const pfb_log_path *path = &c->log.paths[value->path];
    bool has_instance = (path->flags & PFB_LOG_ALL_INSTANCES) != 0;
    return is_chosen(c, value->path, has_instance ? &value->instance : &path->instance,
                     has_instance ? value->occurrence : path_occurrence(path));
}

/* Returns the next chosen value of a sample of a .blg; false after the last one. */
static bool next_blg_value(pfb_collector *c, pfb_collected_value *v)
{
    log_state *l = &c->log;
    const pfb_log_values *values = &l->samples[l->newer].values;
    while (l->next < values->count &&
           (values->values[l->next].path >= l->path_count || !is_value_chosen(c, &values->values[l->next])))
        l->next++;
    if (l->next >= values->count)
        return false;
    const pfb_log_value *value = &values->values[l->next++];
    int32_t minutes = l->bias_minutes;
    begin_value(c, v, value->path);
    if (l->paths[value->path].flags & PFB_LOG_ALL_INSTANCES) {
        text_view text = pfb_text_convert(&c->scratch[SCRATCH_INSTANCE], &value->instance);
        v->instance = text.bytes;
        v->instance_size = text.size;
        v->has_instance = value->has_instance;
        v->occurrence = value->occurrence;
    }
    /* A log may have counters of several machines in different time zones: if the value itself has both times, their
     * difference is used. */
    bool has_own_bias = pfb_log_utc_bias(&l->paths[value->path], value, &minutes);
    set_time(v, value->time, l->has_bias || has_own_bias, minutes);
    set_formula(c, v, value);
    return true;
}

/* Returns the next chosen value of a row of a text log; false after the last one. */
static bool next_text_value(pfb_collector *c, pfb_collected_value *v)
{
    static const double exact_limit = 9007199254740992.0; /* 2^53: a double has all integers below it */
    log_state *l = &c->log;
    while (l->next < l->cell_count) {
        const pfb_log_path *path = &l->paths[l->cells[l->next].column];
        if (is_chosen(c, l->cells[l->next].column, &path->instance, path_occurrence(path)))
            break;
        l->next++;
    }
    if (l->next >= l->cell_count)
        return false;
    const log_cell *cell = &l->cells[l->next++];
    begin_value(c, v, cell->column);
    set_time(v, l->local_time, l->has_bias, l->bias_minutes);
    v->status = cell->has_value ? PFB_STATUS_OK : PFB_STATUS_NO_DATA;
    v->value = cell->has_value ? cell->value : 0;
    v->is_integer = v->value >= 0 && v->value < exact_limit && v->value == (double)(uint64_t)v->value;
    v->integer = v->is_integer ? (uint64_t)v->value : 0;
    if (!cell->has_value)
        v->is_integer = false;
    return true;
}

bool pfb_collect_next_of_log(pfb_collector *c, pfb_collected_value *value)
{
    return c->log.is_text ? next_text_value(c, value) : next_blg_value(c, value);
}

pfb_collected_sample pfb_collect_log_sample(const pfb_collector *c)
{
    const log_state *l = &c->log;
    pfb_collected_value v;
    set_time(&v, l->local_time, l->has_bias, l->bias_minutes);
    return (pfb_collected_sample){.number = l->number,
                                  .is_log = true,
                                  .is_local_time = v.is_local_time,
                                  .perf_time_100ns = v.time,
                                  .machine = ""};
}
