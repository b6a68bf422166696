/* SPDX-License-Identifier: MIT */
/* How queries collect. */
#include "pdh/query_state.h"
#include "source/source_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is read --------------------------------------------------------------------------------------- */

/* Finds the counters of each key. Returns false when memory is exhausted. */
static bool build_keys(pdh_query *query)
{
    pfb_pdh_free_map(&query->keys);
    query->place_count = 0;
    for (pdh_counter *c = query->counters; c; c = c->next) {
        pfb_pdh_counter_key(&query->keys, c->object->machine, c->object->name, c->entry->name, c->entry->is_base);
        uint32_t place = pfb_pdh_map_add(&query->keys, (uint32_t)query->place_count);
        void *places = query->by_place;
        pdh_counter **grown = pfb_source_grow(places, &query->place_capacity, query->place_count + 1, sizeof places);
        query->by_place = grown ? grown : query->by_place;
        if (place == PDH_NONE || !grown)
            return false;
        bool is_new = place == query->place_count;
        c->next_shared = is_new ? NULL : query->by_place[place];
        query->by_place[place] = c;
        query->place_count += is_new;
    }
    return true;
}

/* Adds what a counter needs. Names of logs that contain * or ? choose more, which is left out later. */
static bool add_term(pfb_selection *selection, const pdh_counter *c)
{
    char set[PDH_SET_TEXT];
    char id[16];
    bool has_number = (c->object->has_guid || c->object->has_title) && c->entry->has_type;
    snprintf(id, sizeof id, "%" PRIu32, c->entry->id);
    return pfb_selection_add_names(selection, NULL, has_number ? pfb_pdh_set_text(c->object, set) : c->object->name,
                                   has_number ? id : c->entry->name, NULL) >= 0;
}

/* Returns the selection of the counters; of a log with many counters everything, so that the work stays linear. */
static pfb_selection *make_selection(const pdh_query *query)
{
    enum { MAX_LOG_TERMS = 64 };
    pfb_selection *selection = pfb_selection_new();
    bool chooses = query->source->is_live || query->place_count <= MAX_LOG_TERMS;
    for (size_t i = 0; selection && chooses && i < query->place_count; i++) {
        if (add_term(selection, query->by_place[i]))
            continue;
        pfb_selection_close(selection);
        return NULL;
    }
    return selection;
}

static void close_stream(pdh_query *query)
{
    pfb_stream_close(query->stream);
    query->stream = NULL;
    query->has_pending = false;
    query->is_put = false;
}

/* Opens the stream of a query. The recording of PERFBLOCK_CAPTURE may still be written: when it has grown, reading goes
 * on. */
static pfb_stream *open_stream(const pdh_query *query)
{
    const pdh_data_source *source = query->source;
    pfb_stream *stream = pfb_pdh_open_stream(source);
    if (stream && source->is_real_time && !source->is_live && query->counters->catalog->is_recording) {
        pfb_stream_set(stream, PFB_STREAM_FOLLOW, 1);
        pfb_stream_set(stream, PFB_STREAM_NO_WAIT, 1);
    }
    return stream;
}

/* Opens what is not open, and chooses the counters after a change. A live source is opened again then, and the
 * collector compares its samples with those before. */
static uint32_t prepare(pdh_query *query)
{
    char own[256];
    bool is_first = !query->collector;
    bool is_live = query->source->is_live;
    uint32_t code = PDH_MEMORY_ALLOCATION_FAILURE;
    if (query->stream && query->collector && !query->is_changed)
        return PDH_CSTATUS_VALID_DATA;
    query->layout = 0;
    pfb_selection *selection = build_keys(query) ? make_selection(query) : NULL;
    if (is_first)
        query->collector = selection ? pfb_collector_new() : NULL;
    bool has_memory = query->collector && selection;
    if (has_memory && is_first) {
        pfb_collector_set(query->collector, PFB_COLLECT_IDENTITY, PFB_IDENTITY_WINDOWS);
        pfb_pdh_own_name(own);
        has_memory = !is_live || pfb_collector_set_machine(query->collector, own);
    }
    has_memory = has_memory && pfb_collector_select(query->collector, selection);
    if (has_memory && is_live)
        close_stream(query);
    if (has_memory && !query->stream) {
        query->stream = open_stream(query);
        code = is_live ? PDH_NO_DATA : PDH_MEMORY_ALLOCATION_FAILURE;
        has_memory = query->stream && (!is_live || pfb_stream_select(query->stream, selection));
    }
    pfb_selection_close(selection);
    if (!has_memory) {
        close_stream(query);
        return code;
    }
    query->is_changed = false;
    return PDH_CSTATUS_VALID_DATA;
}

/* ---- Items ---------------------------------------------------------------------------------------------- */

static void clear_items(pdh_query *query)
{
    for (pdh_counter *c = query->counters; c; c = c->next)
        c->item_count = 0;
    pfb_pdh_free_arena(&query->names);
    query->layout = 0;
}

/* Reads the value of an item from the current frame. */
static void read_item(pdh_query *query, const pfb_frame *frame, pdh_item *item)
{
    pfb_value value = {.size = sizeof value};
    uint32_t element = item->element;
    item->status = PDH_CSTATUS_VALID_DATA;
    item->inputs[0] = item->inputs[1] = (pfb_raw_value){.has = 0};
    item->is_text = frame->kind == PFB_RECORD_ROW;
    if (item->is_text) {
        if (frame->statuses[element] == PFB_STATUS_OK) {
            item->inputs[1].has = PFB_HAS_VALUE;
            memcpy(&item->inputs[1].value, &frame->values[element], sizeof item->inputs[1].value);
        } else {
            item->status = PDH_CSTATUS_INVALID_DATA;
        }
        return;
    }
    if (frame->kind == PFB_RECORD_LOG && frame->statuses[element] != PFB_STATUS_OK &&
        pfb_collector_value(query->collector, element, &value))
        item->status = value.source_status;
    if (item->status == PDH_CSTATUS_VALID_DATA && !pfb_collector_inputs(query->collector, element, item->inputs))
        item->status = PDH_CSTATUS_INVALID_DATA;
}

/* Adds an element to a counter that it fits, or replaces one that fits less. Returns false when memory is exhausted. */
static bool add_item(pdh_query *query, pdh_counter *c, const pfb_series *series, uint32_t element, const char **name)
{
    bool has_instance =
        (series->has & PFB_SERIES_INSTANCE) && (series->instance_bytes > 0 || !(series->has & PFB_SERIES_LOG));
    uint32_t occurrence = series->occurrence;
    bool replaces = c->item_count > 0 && !c->is_wildcard;
    if (has_instance != (c->instance != NULL))
        return true;
    *name = *name ? *name : pfb_pdh_keep_joined(&query->names, series->parent, series->instance);
    if (!*name)
        return false;
    uint32_t fit = c->instance ? pfb_pdh_fits(c->instance, c->parent, c->instance_name, c->has_index, c->index,
                                              c->is_wildcard, *name, occurrence)
                               : 1;
    if (fit == 0 || (replaces && fit <= c->fit))
        return true;
    pdh_item *grown = pfb_source_grow(c->items, &c->item_capacity, c->item_count + 1, sizeof *c->items);
    if (!grown)
        return false;
    c->items = grown;
    c->fit = fit;
    c->item_count = replaces ? 0 : c->item_count;
    c->items[c->item_count++] = (pdh_item){
        .name = *name, .occurrence = occurrence, .element = element, .has_type = (series->has & PFB_SERIES_TYPE) != 0};
    return true;
}

static int compare_items(const void *left, const void *right)
{
    const pdh_item *a = left;
    const pdh_item *b = right;
    int order = strcmp(a->name, b->name);
    if (order != 0)
        return order;
    if (a->occurrence != b->occurrence)
        return a->occurrence < b->occurrence ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

/* Makes equal names adjacent, if the data does not have them so. */
static void order_items(pdh_counter *c)
{
    bool is_ordered = true;
    for (size_t i = 0; i < c->item_count && is_ordered; i++) {
        const pdh_item *item = &c->items[i];
        is_ordered = item->occurrence == 0 ||
                     (i > 0 && strcmp(item->name, item[-1].name) == 0 && item[-1].occurrence + 1 == item->occurrence);
    }
    if (!is_ordered)
        qsort(c->items, c->item_count, sizeof *c->items, compare_items);
}

/* Returns true if an earlier element has the same counter of the same instance, or when memory is exhausted. */
static bool is_repeated(pdh_map *seen, uint32_t place, const pfb_series *s)
{
    pfb_pdh_begin_key(seen);
    pfb_pdh_add_key_number(seen, place);
    pfb_pdh_add_key_number(seen, s->occurrence);
    pfb_pdh_add_key(seen, s->parent, false);
    pfb_pdh_add_key(seen, s->instance, false);
    return pfb_pdh_map_find(seen) != PDH_NONE || pfb_pdh_map_add(seen, 1) == PDH_NONE;
}

/* Finds the elements of the counters. Returns false when memory is exhausted. A log may have a value in several paths,
 * such as that of an instance and that of all instances: the first one is taken. */
static bool find_items(pdh_query *query, const pfb_frame *frame, pdh_map *seen)
{
    bool may_repeat = frame->kind == PFB_RECORD_LOG || frame->kind == PFB_RECORD_ROW;
    pfb_series s = {.size = sizeof s};
    for (uint32_t i = 0; i < frame->count && pfb_collector_series(query->collector, i, &s); i++) {
        const char *name = NULL;
        bool is_base = (s.has & PFB_SERIES_TYPE) && pfb_pdh_is_base(s.type);
        pfb_pdh_counter_key(&query->keys, s.machine, s.counterset, s.counter, is_base);
        uint32_t place = pfb_pdh_map_find(&query->keys);
        bool is_left_out = place == PDH_NONE || (may_repeat && is_repeated(seen, place, &s));
        if (query->keys.lacks_memory || seen->lacks_memory)
            return false;
        if (is_left_out)
            continue;
        for (pdh_counter *c = query->by_place[place]; c; c = c->next_shared)
            if (!add_item(query, c, &s, i, &name))
                return false;
    }
    return true;
}

/* Takes the values of the current frame; `is_more`: in addition to those of another frame of the same sample. */
static bool take_frame(pdh_query *query, bool is_more)
{
    pfb_frame frame = {.size = sizeof frame};
    if (!pfb_collector_frame(query->collector, &frame)) {
        clear_items(query);
        return true;
    }
    query->number = frame.number;
    bool is_known = !is_more && query->layout != 0 && query->layout == frame.layout;
    if (!is_known && !is_more)
        clear_items(query);
    for (pdh_counter *c = query->counters; c; c = c->next)
        c->taken = is_more ? c->item_count : 0;
    pdh_map seen = {.count = 0};
    bool has_memory = is_known || find_items(query, &frame, &seen);
    pfb_pdh_free_map(&seen);
    if (!has_memory) {
        clear_items(query);
        return false;
    }
    for (pdh_counter *c = query->counters; c; c = c->next) {
        for (size_t i = c->taken; i < c->item_count; i++) {
            read_item(query, &frame, &c->items[i]);
            if (c->collected == 0 ||
                query->is_lost) /* the sample before is one of another counter, or of an earlier collect */
                c->items[i].inputs[0].has = 0;
        }
        if (!is_known && c->is_wildcard)
            order_items(c);
    }
    query->layout = is_more ? 0 : frame.layout;
    return true;
}

/* ---- Collecting ----------------------------------------------------------------------------------------- */

bool pfb_pdh_is_sample(const pfb_record *record)
{
    return record->kind == PFB_RECORD_V1 || record->kind == PFB_RECORD_V2 || record->kind == PFB_RECORD_LOG ||
           record->kind == PFB_RECORD_ROW;
}

/* Reads the next record, or the one that was read before and not put. Returns a PFB_NEXT_ code. */
static int32_t next_record(pdh_query *query, pfb_record *record)
{
    if (query->has_pending) {
        query->has_pending = false;
        *record = query->pending;
        return PFB_NEXT_RECORD;
    }
    return pfb_stream_next(query->stream, record);
}

/* Returns true if the current frame is of another sample than the values that were taken. */
static bool is_next_sample(const pdh_query *query)
{
    pfb_frame frame = {.size = sizeof frame};
    return pfb_collector_frame(query->collector, &frame) && frame.number != query->number;
}

/* Adds the V1 blocks that follow and belong to the same sample of a recording: those of the same time without an object
 * that the sample has. Returns false when memory is exhausted. */
static bool take_rest(pdh_query *query, int64_t time)
{
    pfb_record record = {.size = sizeof record};
    while (pfb_stream_next(query->stream, &record) == PFB_NEXT_RECORD) {
        if (record.kind != PFB_RECORD_V1 || !(record.flags & PFB_RECORD_HAS_TIME) || record.time != time) {
            query->pending = record;
            query->has_pending = true;
            return true;
        }
        int32_t put = pfb_collector_put(query->collector, &record);
        if (put > 0 && is_next_sample(query)) {
            query->pending = record;
            query->has_pending = query->is_put = true;
            return true;
        }
        if (put < 0 || (put > 0 && !take_frame(query, true)))
            return false;
    }
    return true;
}

static void drop_problems(pdh_query *query)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_stream_problem(query->stream, &problem))
        continue;
    while (pfb_collector_take_problem(query->collector, &problem))
        continue;
}

/* Reads up to the next sample and takes its values. */
static uint32_t read_sample(pdh_query *query)
{
    pfb_record record = {.size = sizeof record};
    bool is_live = query->source->is_live;
    int32_t put = 0;
    while (put == 0) {
        int32_t next = next_record(query, &record);
        if (next != PFB_NEXT_RECORD) {
            /* A live source that failed is opened again by the next collect. */
            drop_problems(query);
            query->is_changed = query->is_changed || is_live;
            return is_live ? PDH_NO_DATA : next != PFB_NEXT_FAILED ? PDH_NO_MORE_DATA : PDH_MEMORY_ALLOCATION_FAILURE;
        }
        int64_t local = pfb_pdh_is_sample(&record) ? pfb_pdh_local_time(&record) : 0;
        if (local > 0 && local > query->to) {
            query->pending = record;
            query->has_pending = true;
            return PDH_NO_MORE_DATA;
        }
        if (local > 0 && local < query->from)
            continue;
        put = query->is_put ? 1 : pfb_collector_put(query->collector, &record);
        query->is_put = false;
    }
    if (put < 0 || !take_frame(query, false) ||
        (!is_live && record.kind == PFB_RECORD_V1 && !take_rest(query, record.time)))
        return PDH_MEMORY_ALLOCATION_FAILURE;
    query->sample_time = pfb_pdh_local_time(&record);
    drop_problems(query);
    return PDH_CSTATUS_VALID_DATA;
}

static bool has_value(const pdh_item *item)
{
    return item->status == PDH_CSTATUS_VALID_DATA && (item->inputs[1].has & PFB_HAS_VALUE);
}

/* Sets the statuses after a collect. Returns true if a counter has a value. */
static bool set_statuses(pdh_query *query)
{
    bool has_any = false;
    for (pdh_counter *c = query->counters; c; c = c->next) {
        bool has_instances = c->instance || c->object->has_instances;
        c->collected += c->collected < 2;
        c->status = has_instances ? PDH_CSTATUS_NO_INSTANCE : PDH_CSTATUS_INVALID_DATA;
        for (size_t i = 0; i < c->item_count; i++) {
            has_any = has_any || has_value(&c->items[i]);
            if (i == 0 || has_value(&c->items[i]))
                c->status = has_value(&c->items[i]) ? PDH_CSTATUS_VALID_DATA
                            : c->items[i].status    ? c->items[i].status
                                                    : PDH_CSTATUS_INVALID_DATA;
        }
    }
    return has_any;
}

uint32_t pfb_pdh_collect(pdh_query *query)
{
    if (!query->counters)
        return PDH_NO_DATA;
    uint32_t code = prepare(query);
    if (code == PDH_CSTATUS_VALID_DATA)
        code = read_sample(query);
    if (code == PDH_NO_MORE_DATA)
        return code;
    if (code != PDH_CSTATUS_VALID_DATA)
        clear_items(query);
    bool has_any = set_statuses(query);
    query->is_lost = code != PDH_CSTATUS_VALID_DATA;
    return code == PDH_CSTATUS_VALID_DATA && !has_any ? PDH_NO_DATA : code;
}

void pfb_pdh_restart(pdh_query *query)
{
    close_stream(query);
    pfb_collector_close(query->collector);
    query->collector = NULL;
    clear_items(query);
    query->sample_time = 0;
    for (pdh_counter *c = query->counters; c; c = c->next)
        c->collected = 0;
}
