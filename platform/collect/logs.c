/* SPDX-License-Identifier: MIT */
/* Makes samples from records of a .blg and rows of a text log. */
#include "collect/collector.h"
#include "perfblock/query.h"
#include "select/code_page.h"
#include "select/memory.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* In units of 100 ns, as in FILETIME. */
#define UNITS_PER_MINUTE INT64_C(600000000)

/* ---- Paths --------------------------------------------------------------------------------------------------- */

/* Returns the memory for the next sample; the other element of `samples` is the latest sample. */
static log_sample *spare_sample(log_state *l)
{
    return &l->samples[!l->newer];
}

/* Sets the roles of paths whose counters have the names of ids in the language of the log. */
static void find_roles(pfb_collector *c)
{
    enum { ID_PROCESS = 784, ID_THREAD = 804 }; /* title indexes */
    log_state *l = &c->log;
    for (size_t i = 0; i < l->path_count; i++) {
        const pfb_name *counter = &l->paths[i].counter;
        if (pfb_titles_is_named(&c->titles, ID_PROCESS, TITLE_LOCAL, counter))
            l->paths[i].role = PFB_LOG_PROCESS_ID;
        else if (pfb_titles_is_named(&c->titles, ID_THREAD, TITLE_LOCAL, counter))
            l->paths[i].role = PFB_LOG_THREAD_ID;
    }
}

/* Finds the paths of ids, before the first sample: names may follow the paths. Returns false when memory is exhausted.
 */
static bool link_paths(pfb_collector *c)
{
    log_state *l = &c->log;
    find_roles(c);
    uint32_t *order = malloc((l->path_count + 1) * sizeof *order);
    l->has_ids =
        order && c->options.identity == PFB_IDENTITY_PROCESS && pfb_log_link_paths(l->paths, l->path_count, order);
    free(order);
    l->is_linked = order != NULL;
    return l->is_linked;
}

/* Loads the list of paths, whose record is in the spare sample. If it differs from the previous list, the latest
 * sample, if any, moves to replaced_log with the previous list, and the next sample continues it as the first sample of
 * a log continues an ended log. */
static bool load_paths(pfb_collector *c, size_t size, pfb_error *error)
{
    log_state *l = &c->log;
    log_sample *spare = spare_sample(l);
    pfb_log_path_reader reader;
    pfb_log_path path;
    bool is_same =
        !l->is_text && l->path_bytes_size == size && size > 0 && memcmp(l->path_bytes, spare->record, size) == 0;
    if (!is_same && l->has_sample && !l->is_text && l->path_count > 0) {
        pfb_log_state_free(&c->replaced_log);
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
        l->is_linked = false;
        l->has_sample = false;
        l->has_begun = false;
        l->is_text = false;
        l->step = (range_step){.has_sample = false};
        pfb_layout_release(&l->layout);
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
    return true;
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Returns true if the range leaves out a sample of this time. Sets is_left_out in c->reply. */
static bool leave_out_of_log(pfb_collector *c, uint64_t local_time)
{
    const time_range *range = &c->options.range;
    log_state *l = &c->log;
    int64_t time;
    bool is_local;
    bool has_time = pfb_collect_log_time(l, local_time, &is_local, &time);
    if (is_local && has_time)
        time += range->bias_minutes * UNITS_PER_MINUTE;
    c->reply.is_left_out = !pfb_range_has(range, has_time, time) || !pfb_range_step(range, &l->step);
    return c->reply.is_left_out;
}

/* Makes the sample the current one. */
static void begin_sample(pfb_collector *c, uint64_t local_time)
{
    log_state *l = &c->log;
    l->local_time = local_time;
    l->number = c->number++;
    l->is_current = true;
}

static bool reserve_values(log_sample *sample, size_t size, bool has_ids)
{
    const size_t min_value_bytes = 24; /* the smallest value in a record */
    size_t count = size / min_value_bytes + 1;
    void *values = sample->values.values;
    void *order = sample->values.order;
    void *by_key = sample->values.by_key;
    sample->values.count = sample->values.capacity = 0;
    bool has_memory = count <= SIZE_MAX / sizeof(pfb_log_value) &&
                      pfb_collect_fit(&values, &sample->values_capacity, count * sizeof(pfb_log_value));
    sample->values.values = values;
    has_memory = has_memory && pfb_collect_fit(&order, &sample->order_capacity, count * sizeof(uint32_t));
    sample->values.order = order;
    if (has_ids)
        has_memory = has_memory && pfb_collect_fit(&by_key, &sample->key_capacity, count * sizeof(uint32_t));
    sample->values.by_key = by_key;
    sample->values.capacity = has_memory ? count : 0;
    return has_memory;
}

/* Derives the bias from the first value that has both its UTC and its local time. Without one the bias does not change.
 */
static void find_bias(log_state *l, const pfb_log_values *values)
{
    const pfb_log_value probe = {.second = 1, .time = 1};
    bool is_found = false;
    uint32_t other = PFB_LOG_NONE; /* a path whose values have no UTC time */
    int32_t minutes;
    for (size_t i = 0; i < values->count && !is_found; i++) {
        const pfb_log_value *value = &values->values[i];
        if (value->path >= l->path_count || value->path == other)
            continue;
        const pfb_log_path *path = &l->paths[value->path];
        is_found = pfb_log_utc_bias(path, value, &l->bias_minutes);
        other = is_found || pfb_log_utc_bias(path, &probe, &minutes) ? PFB_LOG_NONE : value->path;
    }
    l->has_bias = l->has_bias || is_found;
}

/* Unless the bias is known, derives it from the first V1 object of the sample: the header of its block has the time in
 * UTC. */
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
    log_sample *older = &l->samples[l->newer];
    if ((!l->is_linked && !link_paths(c)) || !reserve_values(sample, size, l->has_ids))
        return false;
    sample->values.like = l->has_begun && l->has_sample ? &older->values : NULL;
    *error = pfb_log_load(&sample->values, sample->record, size, &c->options.reader);
    if (l->has_ids)
        pfb_log_identify(l->paths, l->path_count, &sample->values);
    find_bias(l, &sample->values);
    l->has_objects =
        sample->values.object_count > 0 && pfb_log_open_sample(&l->objects, sample->record, size, &c->options.reader);
    find_bias_of_objects(l, local_time);
    if (!l->has_begun) {
        /* Continues at most one log, even if memory is exhausted. */
        bool is_replaced = c->replaced_log.path_count > 0;
        bool has_memory = is_replaced ? pfb_ended_continue_replaced(&c->replaced_log, l, local_time, &c->gaps)
                                      : pfb_ended_continue(&c->ended, l, local_time, &c->gaps);
        l->has_begun = has_memory || is_replaced;
        if (!has_memory)
            return false;
    }
    if (leave_out_of_log(c, local_time)) {
        l->has_objects = false;
        return true;
    }
    if (l->has_sample)
        pfb_log_match(l->paths, l->path_count, &older->values, &sample->values);
    bool is_same = l->layout && l->has_sample && l->layout->choice_version == c->choice_version &&
                   pfb_layout_has_same_values(&older->values, &sample->values);
    if (!is_same)
        pfb_layout_release(&l->layout);
    l->newer = !l->newer;
    l->has_sample = true;
    begin_sample(c, local_time);
    return true;
}

/* Takes the bias of a record whose time is in UTC. */
static void set_record_bias(log_state *l, const pfb_record *record)
{
    bool is_utc = (record->flags & (PFB_RECORD_HAS_TIME | PFB_RECORD_LOCAL_TIME)) == PFB_RECORD_HAS_TIME;
    if (is_utc) {
        l->has_bias = true;
        l->bias_minutes = record->bias_minutes;
    }
}

/* Returns the local time of a record, as logs have it. */
static uint64_t local_time(const pfb_record *record)
{
    bool is_local = (record->flags & PFB_RECORD_LOCAL_TIME) != 0;
    return (uint64_t)record->time - (is_local ? 0 : (uint64_t)(record->bias_minutes * UNITS_PER_MINUTE));
}

/* Puts the list of paths or the sample that is in the spare sample. Sets c->reply; the offset of its error counts from
 * the start of the record. Returns false when memory is exhausted. */
static bool put_record(pfb_collector *c, bool is_list, size_t size, uint64_t local_time)
{
    log_state *l = &c->log;
    pfb_error error = {PFB_OK, 0};
    bool has_memory = is_list ? load_paths(c, size, &error) : load_sample(c, size, local_time, &error);
    if (!has_memory && is_list)
        pfb_collect_forget_log(c); /* a part of the list would give values to the wrong paths */
    l->has_objects = l->has_objects && has_memory;
    c->reply.is_sample = l->is_current;
    c->reply.error = error;
    return has_memory;
}

/* Ends the current sample before a record of a .blg. Returns false when memory is exhausted. */
static bool begin_record(pfb_collector *c)
{
    c->reply = (collected_reply){.is_sample = false};
    c->log.has_objects = false;
    if (c->log.is_text) /* the caller has changed to another log without beginning a file */
        pfb_collect_forget_log(c);
    return pfb_collect_end_sample(c);
}

bool pfb_collect_put_log(pfb_collector *c, const pfb_record *record)
{
    size_t size = (size_t)record->byte_count;
    bool has_memory = begin_record(c) && size < SIZE_MAX;
    log_sample *sample = spare_sample(&c->log);
    void *memory = sample->record;
    has_memory = has_memory && pfb_collect_fit(&memory, &sample->record_capacity, size + 1);
    sample->record = memory;
    if (!has_memory)
        return false;
    if (size > 0)
        memcpy(memory, record->bytes, size);
    set_record_bias(&c->log, record);
    return put_record(c, record->kind == PFB_RECORD_PATHS, size, local_time(record));
}

bool pfb_collect_next_object(pfb_collector *c, bool *has_memory)
{
    log_state *l = &c->log;
    pfb_log_item item = {.kind = 0};
    int32_t minutes;
    *has_memory = true;
    do {
        if (!l->has_objects || !pfb_log_next_item(&l->objects, &item))
            return false;
    } while (item.kind != PFB_LOG_OBJECT);
    uint64_t number = c->number;
    l->is_object = true;
    *has_memory = pfb_collect_put_reply(c, true, item.block, item.block_size_bytes);
    l->is_object = false;
    c->number = number; /* an object has the number of the sample that contains it */
    if (c->current && pfb_log_bias_between((uint64_t)c->current->table.perf_time_100ns, l->local_time, &minutes)) {
        l->has_bias = true;
        l->bias_minutes = minutes;
    }
    if (c->reply.error.code != PFB_OK)
        c->reply.error.offset += (size_t)(item.block - l->samples[l->newer].record);
    return *has_memory;
}

/* ---- Text logs ----------------------------------------------------------------------------------------------- */

/* Returns the size of the largest copy of a cell, and the NUL that is written with it. */
static size_t copy_size(const pfb_name *name)
{
    return pfb_code_page_to_utf8(name, NULL, 0) + 1;
}

/* Copies a cell of the header as UTF-8; a doubled quotation mark becomes one. Returns the copy. */
static pfb_name copy_cell(uint8_t *to, const pfb_name *name, size_t capacity)
{
    size_t count = pfb_code_page_to_utf8(name, (char *)to, capacity);
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = to[i];
        if (byte == '"' && i + 1 < count && to[i + 1] == '"')
            i++;
        to[size++] = byte;
    }
    return pfb_utf8_name((char *)to, size);
}

/* Splits the path of a column. A cell that is not a path counts as the name of a counter. */
static pfb_log_path split_path(const pfb_pdh_text_reader *text, const pfb_name *name, uint32_t column)
{
    pfb_log_path path = {.position = column};
    pfb_path parts;
    if (!pfb_pdh_text_split_path(text, name, &parts)) {
        path.counter = *name;
        return path;
    }
    path.machine = parts.machine;
    if (parts.machine.bytes && !text->has_bare_machine) { /* with its two backslashes, as in a .blg */
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

/* Reads the paths of a text log, which was just opened. Returns false when memory is exhausted. */
static bool load_text_paths(pfb_collector *c, pfb_pdh_text_reader *text)
{
    log_state *l = &c->log;
    pfb_pdh_text_path path;
    c->reply = (collected_reply){.is_sample = false};
    bool has_memory = pfb_collect_end_sample(c);
    pfb_collect_forget_log(c);
    l->is_text = true;
    l->has_bias = text->has_bias;
    l->bias_minutes = text->bias_minutes;
    while (has_memory && pfb_pdh_text_next_path(text, &path)) {
        size_t start = l->path_bytes_size;
        size_t size = copy_size(&path.name);
        has_memory = size < SIZE_MAX - start && PFB_COLLECT_GROW(l->path_bytes, l->path_bytes_capacity, start + size) &&
                     PFB_COLLECT_GROW(l->paths, l->path_capacity, l->path_count + 1);
        if (!has_memory)
            break;
        path.name = copy_cell(l->path_bytes + start, &path.name, size);
        l->path_bytes_size = start + path.name.size_bytes;
        l->paths[l->path_count++] = (pfb_log_path){.counter = path.name};
    }
    size_t at = 0;
    for (size_t i = 0; i < l->path_count; i++) { /* path_bytes no longer moves: names can refer to it */
        pfb_name name = l->paths[i].counter;
        name.bytes = l->path_bytes + at;
        at += name.size_bytes;
        l->paths[i] = split_path(text, &name, (uint32_t)i);
    }
    if (!has_memory)
        pfb_collect_forget_log(c); /* a part of the list would give values to the wrong paths */
    return has_memory;
}

/* Makes a row the current sample. A cell without a number has the status PFB_STATUS_NO_DATA. Returns false when memory
 * is exhausted. */
static bool load_row(pfb_collector *c, pfb_pdh_text_reader *text, const pfb_pdh_text_row *row)
{
    log_state *l = &c->log;
    pfb_pdh_text_value value;
    c->reply = (collected_reply){.is_sample = false};
    bool has_memory = pfb_collect_end_sample(c);
    if (!l->is_text) { /* a row without paths has no values */
        pfb_collect_forget_log(c);
        l->is_text = true;
    }
    if (has_memory && leave_out_of_log(c, row->time))
        return true;
    size_t last_count = l->cell_count;
    l->cell_count = 0;
    while (has_memory && pfb_pdh_text_next_value(text, &value)) {
        if (value.column >= l->path_count)
            continue;
        has_memory = PFB_COLLECT_GROW(l->cells, l->cell_capacity, l->cell_count + 1);
        if (has_memory)
            l->cells[l->cell_count++] =
                (log_cell){.column = value.column, .has_value = value.has_value, .value = value.value};
    }
    if (l->layout && (l->cell_count != last_count || l->layout->choice_version != c->choice_version))
        pfb_layout_release(&l->layout); /* columns ascend from 0, so their number says which there are */
    c->reply.is_sample = has_memory;
    if (has_memory) {
        begin_sample(c, row->time);
        has_memory = pfb_collect_make_frame(c);
    }
    return has_memory;
}

bool pfb_collect_put_text_paths(pfb_collector *c, const pfb_record *record)
{
    pfb_pdh_text_reader text;
    bool is_open = record->byte_count <= SIZE_MAX &&
                   pfb_pdh_text_open(&text, record->bytes, (size_t)record->byte_count, true, &c->options.reader);
    if (!is_open)
        text = (pfb_pdh_text_reader){.error = text.error};
    else if (record->form.separator != 0)
        text.encoding = record->form.encoding;
    bool has_memory = load_text_paths(c, &text);
    c->reply.error = text.error;
    c->log.text = text;
    return has_memory;
}

bool pfb_collect_put_row(pfb_collector *c, const pfb_record *record)
{
    log_state *l = &c->log;
    const pfb_record_form *form = &record->form;
    pfb_pdh_text_reader text = l->text;
    pfb_pdh_text_row row;
    bool has_memory = true;
    if (form->separator != 0) {
        text.separator = (char)form->separator;
        text.decimal = form->decimal == ',' ? ',' : '.';
        text.thousands = (char)form->thousands;
        text.dates = form->date_order;
        text.encoding = form->encoding;
        text.bias_minutes = record->bias_minutes;
        text.column_count = form->column_count;
    }
    text.line = record->line;
    c->reply = (collected_reply){.is_sample = false};
    if (record->byte_count <= SIZE_MAX &&
        pfb_pdh_text_open_row(&text, record->bytes, (size_t)record->byte_count, &row)) {
        set_record_bias(l, record);
        has_memory = load_row(c, &text, &row);
        c->reply.unreadable_cells = text.unreadable_cells;
    } else {
        has_memory = pfb_collect_end_sample(c);
    }
    c->reply.error = text.error;
    return has_memory;
}
