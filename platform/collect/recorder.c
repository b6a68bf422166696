/* SPDX-License-Identifier: MIT */
/* Writes records as a recording. */
#include "collect/recorder.h"

#include "collect/collector.h"
#include "perfblock/log.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"
#include "perfblock/write.h"
#include "select/memory.h"
#include "select/reduce_v1.h"
#include "select/reduce_v2.h"
#include "source/source_private.h"
#include "stream/stream_private.h"

#include <stdlib.h>
#include <string.h>

enum { ENGLISH = 9 }; /* the language of the name tables that a recorder makes, and of those in logs */

/* A file, or a part of a recording. */
typedef struct recorder_part {
    bool is_open;
    uint32_t file, part;
    uint32_t log_kind;                  /* PFB_RECORD_LOG or _ROW if it has such samples; else 0 */
    uint64_t object_count, other_count; /* items of the samples of a .blg: V1 objects, others */
    pfb_bytes file_body;                /* of its FILE chunks */
    bool has_number;                    /* the current file of the output has chunks of it, ... */
    uint32_t number;                    /* ... with this number in FILE chunks */
    kept_chunks kept;
    /* If counters are chosen: */
    v2_reduction reduction;
    bool has_dormant;       /* a set is dormant, or was */
    bool is_reduced;        /* `reduction` is that of the current query information and the current choice */
    pfb_bytes written_info; /* the reduced query information that was written last; empty: none */
    metadata titles;        /* V1: `mark` of a title: the number of the output file that has its name */
} recorder_part;

typedef struct recorder_problem {
    pfb_problem problem;
    char sentence[160];
} recorder_problem;

struct pfb_recorder {
    bool (*write)(void *context, const void *bytes, size_t byte_count);
    void *context;
    bool has_failed;
    pfb_read_options reader;
    pfb_collector *collector; /* has the selection; null: everything is written */
    bool has_terms, has_range;
    bool is_repeating; /* the record was put before: its sample is in the range */
    recorder_part *parts;
    size_t part_count, part_capacity;
    /* The current file of the output: */
    bool is_begun;        /* its first chunk was written */
    uint64_t output;      /* its number among the files of the output, from 1 */
    uint32_t next_number; /* of a FILE chunk */
    uint32_t last_number; /* of the part that the next chunk belongs to, unless a FILE chunk precedes it */
    pfb_bytes ended;      /* numbers of parts that have ended, which the next chunk FILE says */
    v1_reduction blocks;
    pfb_bytes chunk, reduced, table; /* temporary */
    uint32_t *titles;                /* temporary */
    size_t title_capacity;
    recorder_problem *problems;
    size_t problem_count, problem_capacity, problems_taken;
};

/* ---- Opening --------------------------------------------------------------------------------------------- */

pfb_recorder *pfb_recorder_new(bool (*write)(void *context, const void *bytes, size_t byte_count), void *context)
{
    pfb_recorder *r = calloc(1, sizeof *r);
    if (r)
        *r = (pfb_recorder){.write = write, .context = context, .output = 1};
    return r;
}

static void close_part(recorder_part *part)
{
    pfb_kept_free(&part->kept);
    pfb_reduce_v2_free(&part->reduction);
    pfb_bytes_free(&part->file_body);
    pfb_bytes_free(&part->written_info);
    pfb_metadata_free(&part->titles);
    *part = (recorder_part){.is_open = false};
}

void pfb_recorder_close(pfb_recorder *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->part_count; i++)
        close_part(&r->parts[i]);
    pfb_collector_close(r->collector);
    pfb_reduce_v1_free(&r->blocks);
    pfb_bytes_free(&r->ended);
    pfb_bytes_free(&r->chunk);
    pfb_bytes_free(&r->reduced);
    pfb_bytes_free(&r->table);
    free(r->titles);
    free(r->parts);
    free(r->problems);
    free(r);
}

uint32_t pfb_recorder_set(pfb_recorder *r, uint32_t option, int64_t value)
{
    if (option != PFB_RECORDER_STRICT || (value != 0 && value != 1))
        return PFB_CALLER_ARGUMENT;
    r->reader.is_strict = value == 1;
    return PFB_OK;
}

bool pfb_recorder_select(pfb_recorder *r, const pfb_selection *selection)
{
    if (!r->collector)
        r->collector = pfb_collector_new();
    if (r->collector) {
        r->collector->options.is_recorder = true;
        pfb_collector_set(r->collector, PFB_COLLECT_ENGLISH, 1); /* the language of the tables that it writes */
    }
    if (!r->collector || !pfb_collector_select(r->collector, selection))
        return false;
    const pfb_selection *copy = r->collector->selection;
    for (size_t i = 0; i < r->part_count; i++)
        pfb_kept_forget_choice(&r->parts[i].kept); /* it refers to the terms of the former selection */
    r->has_terms = copy->count > 0;
    r->has_range = copy->from != INT64_MIN || copy->to != INT64_MAX || copy->every > 1;
    return true;
}

void pfb_recorder_continue(pfb_recorder *r, uint32_t number)
{
    r->is_begun = true;
    r->next_number = r->last_number = number;
}

void pfb_recorder_next_file(pfb_recorder *r)
{
    for (size_t i = 0; i < r->part_count; i++) {
        pfb_kept_repeat(&r->parts[i].kept);
        r->parts[i].has_number = false;
        r->parts[i].written_info.size_bytes = 0;
    }
    r->is_begun = false;
    r->next_number = r->last_number = 0;
    r->ended.size_bytes = 0;
    r->output++;
}

/* ---- Problems -------------------------------------------------------------------------------------------- */

static bool add_problem(pfb_recorder *r, const pfb_problem *problem, const char *format, ...) PFB_PRINTF(3, 4);

/* More problems are dropped if the caller takes none. Returns false when memory is exhausted. */
static bool add_problem(pfb_recorder *r, const pfb_problem *problem, const char *format, ...)
{
    enum { MAX_PROBLEMS = 1000 };
    va_list arguments;
    if (r->problems_taken == r->problem_count)
        r->problems_taken = r->problem_count = 0;
    if (r->problem_count >= MAX_PROBLEMS)
        return true;
    if (!PFB_COLLECT_GROW(r->problems, r->problem_capacity, r->problem_count + 1))
        return false;
    recorder_problem *added = &r->problems[r->problem_count++];
    added->problem = *problem;
    va_start(arguments, format);
    pfb_source_format_sentence(added->sentence, sizeof added->sentence, format, arguments);
    va_end(arguments);
    return true;
}

/* Adds the problem of an error. Returns false when memory is exhausted. */
static bool report(pfb_recorder *r, const pfb_record *record, pfb_error error)
{
    const pfb_problem problem = {.kind = PFB_PROBLEM_ERROR,
                                 .code = (uint32_t)error.code,
                                 .file = record->file,
                                 .term = -1,
                                 .has_offset = 1,
                                 .offset = record->offset + error.offset};
    return error.code == PFB_OK || add_problem(r, &problem, "%s", pfb_code_text(error.code));
}

bool pfb_recorder_problem(pfb_recorder *r, pfb_problem *problem)
{
    if (r->problems_taken == r->problem_count)
        return false;
    recorder_problem *next = &r->problems[r->problems_taken++];
    next->problem.sentence = next->sentence;
    pfb_collect_copy_out(problem, &next->problem, sizeof next->problem);
    return true;
}

/* ---- The output ------------------------------------------------------------------------------------------ */

/* All functions below that return bool return false when memory is exhausted or writing has failed. */

static bool write_bytes(pfb_recorder *r, const pfb_chunk *chunk, const void *body, size_t size)
{
    size_t needed = pfb_capture_write(chunk, body, size, NULL, 0);
    if (needed == 0 || !pfb_bytes_reserve(&r->chunk, needed))
        return false;
    pfb_capture_write(chunk, body, size, r->chunk.data, needed);
    r->has_failed = !r->write(r->context, r->chunk.data, needed);
    return !r->has_failed;
}

bool pfb_recorder_begin(pfb_recorder *r)
{
    if (r->is_begun)
        return true;
    r->is_begun = write_bytes(r, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    return r->is_begun;
}

static bool write_file_chunk(pfb_recorder *r, uint32_t number, const pfb_bytes *body)
{
    return write_bytes(r, &(pfb_chunk){.tag = PFB_TAG_FILE, .file = number}, body ? body->data : NULL,
                       body ? body->size_bytes : 0);
}

/* Writes FILE chunks unless the last chunk is of the same part. The first part needs none: chunks before the first FILE
 * chunk belong to it. */
static bool choose_part(pfb_recorder *r, recorder_part *part)
{
    bool is_written = true;
    if (!part->has_number)
        part->number = r->next_number++;
    part->has_number = true;
    if (part->number == r->last_number)
        return true;
    for (size_t at = 0; at < r->ended.size_bytes && is_written; at += sizeof(uint32_t)) {
        uint32_t number;
        memcpy(&number, r->ended.data + at, sizeof number);
        is_written = write_file_chunk(r, number, NULL);
    }
    r->ended.size_bytes = 0;
    r->last_number = part->number;
    return is_written && write_file_chunk(r, part->number, &part->file_body);
}

static bool write_chunk(pfb_recorder *r, recorder_part *part, const pfb_chunk *chunk, const void *body, size_t size)
{
    return pfb_recorder_begin(r) && choose_part(r, part) && write_bytes(r, chunk, body, size);
}

/* ---- What is chosen of a counterset ---------------------------------------------------------------------- */

/* Adds a counter, and the counters that its formula refers to. */
static bool add_counter(set_choice *choice, const pfb_registration *registration, const pfb_counter *counter,
                        const instance_pattern *pattern)
{
    const uint32_t ids[] = {counter->base_id, counter->multi_id, counter->perf_time_id, counter->perf_freq_id};
    pfb_counter other;
    bool has_memory = pfb_set_choice_add(choice, counter->id, pattern);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0] && has_memory; i++) {
        if (ids[i] != PFB_NO_ID && pfb_registration_find(registration, ids[i], &other))
            has_memory = pfb_set_choice_add(choice, ids[i], pattern);
    }
    return has_memory;
}

/* Returns true if the text is a number of at most 32 bits in decimal. */
static bool read_number(const char *text, uint32_t *number)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *number = (uint32_t)value;
    return at > text && *at == '\0' && value < PFB_NO_ID;
}

/* Adds what a term chooses of a counterset. Without a registration, counters are known by their ids only. */
static bool add_term(const metadata_set *set, const selection_term *term, const instance_pattern *pattern,
                     set_choice *choice)
{
    pfb_counter counter;
    uint32_t id;
    bool has_memory = true;
    if (!term->counter)
        return pfb_set_choice_add(choice, PFB_NO_ID, pattern);
    for (uint32_t i = 0;
         has_memory && set->has_counters && pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        const selection_names names = pfb_metadata_names_of_counter(set, counter.id);
        if (pfb_selection_has_counter(term, &names))
            has_memory = add_counter(choice, &set->registration, &counter, pattern);
    }
    if (has_memory && !set->has_counters && read_number(term->counter, &id))
        has_memory = pfb_set_choice_add(choice, id, pattern);
    return has_memory;
}

/* Returns true if a term chooses no instance of the counterset. The instance of a counterset without instances has an
 * empty name. */
static bool lacks_instance(const metadata_set *set, const instance_pattern *pattern)
{
    static const pfb_name none = {.bytes = NULL};
    bool is_single = set->has_counters && (set->registration.instance_type & PFB_INSTANCES_MULTIPLE) == 0;
    return pattern && is_single && !pfb_instance_matches(pattern, &none, &none, 0);
}

/* Returns true if the set has a list of instances, and none of them is chosen. */
static bool lists_others(const recorded_set *set)
{
    pfb_list list;
    pfb_listed_instance instance;
    const kept_chunk *kept = set->latest;
    bool has_other = false;
    while (kept && kept->chunk.tag != PFB_TAG_INSTANCES)
        kept = kept->older;
    if (!kept || set->choice.has_all_instances)
        return false;
    pfb_list_open(&list, kept->bytes, kept->size, NULL);
    while (pfb_list_next_instance(&list, &instance)) {
        if (pfb_set_choice_has_instance(&set->choice, PFB_NO_ID, &instance.name))
            return false;
        has_other = true;
    }
    return has_other && list.error.code == PFB_OK;
}

/* Finds what is chosen of a counterset, unless that is known. */
static bool resolve(pfb_recorder *r, recorder_part *part, recorded_set *set)
{
    static const pfb_name no_machine = {.bytes = NULL};
    const pfb_selection *selection = r->collector->selection;
    if (set->is_resolved)
        return true;
    bool was_chosen = set->choice.count > 0 && !set->is_dormant;
    part->is_reduced = false;
    pfb_set_choice_free(&set->choice);
    if (!pfb_metadata_complete(set->described))
        return false;
    const selection_names names = pfb_metadata_names_of_set(set->described, &set->described->guid);
    for (size_t i = 0; i < selection->count; i++) {
        const selection_term *term = &selection->terms[i];
        const instance_pattern *pattern =
            term->instance ? &selection->terms[term->same_instance].instance_pattern : NULL;
        if (pfb_selection_has_machine(term, &no_machine) && pfb_selection_has_set(term, &names) &&
            !lacks_instance(set->described, pattern) && !add_term(set->described, term, pattern, &set->choice))
            return false;
    }
    pfb_set_choice_sort(&set->choice);
    set->is_resolved = true;
    set->is_dormant = !set->is_awake && set->choice.count > 0 && lists_others(set);
    part->has_dormant = part->has_dormant || set->is_dormant;
    if (!was_chosen && set->choice.count > 0 && !set->is_dormant && set->is_skipped)
        pfb_kept_repeat_set(&part->kept, set);
    return true;
}

typedef struct choice_search {
    pfb_recorder *r;
    recorder_part *part;
} choice_search;

/* A set_choice_finder. */
static bool find_choice(void *context, const pfb_guid *guid, const set_choice **choice)
{
    const choice_search *search = context;
    recorded_set *set = pfb_kept_set(&search->part->kept, guid);
    if (!set || !resolve(search->r, search->part, set))
        return false;
    *choice = set->choice.count > 0 && !set->is_dormant ? &set->choice : NULL;
    return true;
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

/* Writes the chosen part of a registration or instance list. */
static bool write_description(pfb_recorder *r, recorder_part *part, const kept_chunk *kept)
{
    pfb_error error = {PFB_OK, 0};
    recorded_set *set = kept->set;
    const set_choice *choice = &set->choice;
    const pfb_chunk *chunk = &kept->chunk;
    bool has_memory = true;
    /* The language of a request for one counter is the id of that counter. */
    bool is_set_chosen = choice->count > 0 && !set->is_dormant;
    bool is_chosen =
        is_set_chosen && (chunk->request != PFB_REQUEST_COUNTER || pfb_set_choice_has_counter(choice, chunk->language));
    set->is_skipped = set->is_skipped || !is_set_chosen;
    if (!is_chosen)
        return true;
    if (chunk->tag == PFB_TAG_INSTANCES)
        has_memory = pfb_reduce_instances(choice, kept->bytes, kept->size, &r->reduced, &error);
    else
        has_memory = pfb_reduce_registration(choice, chunk->request, kept->bytes, kept->size, &r->reduced, &error);
    if (!has_memory || error.code != PFB_OK || (r->reduced.size_bytes == 0 && kept->size > 0))
        return has_memory;
    return write_chunk(r, part, chunk, r->reduced.data, r->reduced.size_bytes);
}

/* Writes the chosen part of the query information, unless it was written last. If nothing in it is chosen, what was
 * written last stays current, and replies are written without results: otherwise the replies before and after them
 * would be compared. */
static bool write_info(pfb_recorder *r, recorder_part *part, const kept_chunk *kept)
{
    pfb_error error = {PFB_OK, 0};
    choice_search search = {r, part};
    pfb_bytes *written = &part->written_info;
    if (!pfb_reduce_info(&part->reduction, kept->bytes, kept->size, find_choice, &search, &r->reduced, &error))
        return false;
    part->is_reduced = true;
    if (!report(r, &(pfb_record){.file = part->file, .offset = kept->offset}, error))
        return false;
    const pfb_bytes *info = &r->reduced;
    bool is_same = written->size_bytes == info->size_bytes &&
                   (info->size_bytes == 0 || memcmp(written->data, info->data, info->size_bytes) == 0);
    if (info->size_bytes == 0 || is_same)
        return true;
    written->size_bytes = 0;
    return pfb_bytes_append(written, info->data, info->size_bytes) &&
           write_chunk(r, part, &kept->chunk, info->data, info->size_bytes);
}

static bool write_kept(pfb_recorder *r, recorder_part *part, const kept_chunk *kept)
{
    if (!r->has_terms)
        return write_chunk(r, part, &kept->chunk, kept->bytes, kept->size);
    if (kept->chunk.tag == PFB_TAG_QUERY_INFO)
        return kept != part->kept.info || write_info(r, part, kept);
    bool is_description =
        kept->set && (kept->chunk.tag == PFB_TAG_REGISTRATION || kept->chunk.tag == PFB_TAG_INSTANCES);
    return !is_description || write_description(r, part, kept);
}

/* Writes the chunks that must precede the next sample of a part. */
static bool write_kept_chunks(pfb_recorder *r, recorder_part *part)
{
    kept_chunks *kept = &part->kept;
    bool is_written = true;
    /* The choice may depend on any of them, so what is chosen is found first. */
    for (kept_chunk *next = kept->unwritten, *chunk; r->has_terms && next && is_written;) {
        chunk = next;
        next = chunk->after;
        is_written = !chunk->set || resolve(r, part, chunk->set);
    }
    if (r->has_terms && kept->info && kept->info->is_written && !part->is_reduced)
        pfb_kept_repeat_info(kept);
    while (kept->unwritten && is_written) {
        is_written = write_kept(r, part, kept->unwritten);
        if (is_written)
            pfb_kept_end_chunk(kept);
    }
    return is_written;
}

static bool keep_metadata(pfb_recorder *r, recorder_part *part, const pfb_record *record, uint32_t tag)
{
    const pfb_chunk chunk = {.tag = tag,
                             .guid = record->set,
                             .request = record->request,
                             .language = record->kind == PFB_RECORD_NAMES && record->tag == 0 && record->language == 0
                                             ? ENGLISH
                                             : record->language};
    return pfb_kept_add_metadata(&part->kept, &chunk, record, r->has_terms);
}

/* ---- Samples --------------------------------------------------------------------------------------------- */

/* Passes a record to the collector that decides what is chosen. *is_left_out: a sample that is outside of the range. */
static bool ask_collector(pfb_recorder *r, const pfb_record *record, bool *is_left_out)
{
    pfb_problem problem = {.size = sizeof problem};
    *is_left_out = false;
    if (!r->collector)
        return true;
    if (pfb_collector_put(r->collector, record) < 0)
        return false;
    while (pfb_collector_take_problem(r->collector, &problem)) /* samples are checked here, metadata is not */
        continue;
    *is_left_out = r->collector->reply.is_left_out;
    return true;
}

static pfb_error check_v2(const pfb_recorder *r, const pfb_record *record)
{
    pfb_v2_reader reader;
    return pfb_v2_open(&reader, record->bytes, (size_t)record->byte_count, &r->reader) ? pfb_v2_finish(&reader)
                                                                                       : reader.error;
}

/* Returns the first error in a V1 block. */
static pfb_error check_v1(const pfb_recorder *r, const pfb_record *record)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    pfb_error error = {PFB_OK, 0};
    pfb_v1_open(&block, record->bytes, (size_t)record->byte_count, &r->reader);
    if (block.error.code != PFB_OK)
        return block.error;
    while (error.code == PFB_OK && pfb_v1_next_object(&block, &object)) {
        while (pfb_v1_next_counter(&block, &counter))
            continue;
        while (pfb_v1_next_instance(&block, &instance))
            continue;
        error = block.object_error;
    }
    return error.code == PFB_OK ? block.end_error : error;
}

static bool has_instance(const pfb_bytes *reply)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_open(&reader, reply->data, reply->size_bytes, NULL);
    while (pfb_v2_next_result(&reader, &result)) {
        if (pfb_v2_next_instance(&reader, &instance))
            return true;
    }
    return false;
}

/* Finds the dormant sets of which the reply has a chosen instance: from now on, they are chosen. */
static bool wake_sets(pfb_recorder *r, recorder_part *part, const pfb_record *record)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    const v2_reduction *reduction = &part->reduction;
    bool has_woken = false;
    pfb_v2_open(&reader, record->bytes, (size_t)record->byte_count, NULL);
    for (size_t at = 0; part->has_dormant && pfb_v2_next_result(&reader, &result);) {
        while (at < reduction->count && reduction->queries[at].identifier.index < result.index)
            at++;
        if (at == reduction->count || reduction->queries[at].identifier.index != result.index)
            continue;
        const pfb_identifier *query = &reduction->queries[at].identifier;
        recorded_set *set = pfb_kept_set(&part->kept, &query->counterset);
        if (!set)
            return false;
        while (set->is_dormant && !set->is_awake && pfb_v2_next_instance(&reader, &instance))
            set->is_awake = pfb_set_choice_has_instance(&set->choice, query->counter_id,
                                                        instance.name.bytes ? &instance.name : &query->name);
        if (set->is_dormant && set->is_awake) {
            set->is_resolved = false;
            has_woken = true;
            if (!resolve(r, part, set))
                return false;
        }
    }
    return !has_woken || write_kept_chunks(r, part);
}

/* *is_chosen: a chosen value was written. */
static bool put_v2(pfb_recorder *r, recorder_part *part, const pfb_record *record, bool *is_chosen)
{
    const pfb_chunk chunk = {.tag = PFB_TAG_DATA};
    pfb_error error;
    bool is_left_out = false;
    if (r->has_range && !r->is_repeating && !ask_collector(r, record, &is_left_out))
        return false;
    if (is_left_out)
        return true;
    if (!report(r, record, check_v2(r, record)) || !write_kept_chunks(r, part))
        return false;
    *is_chosen = !r->has_terms;
    if (!r->has_terms)
        return write_chunk(r, part, &chunk, record->bytes, (size_t)record->byte_count);
    if (!wake_sets(r, part, record) ||
        !pfb_reduce_reply(&part->reduction, record->bytes, (size_t)record->byte_count, &r->reduced, &error))
        return false;
    if (r->reduced.size_bytes == 0 || part->written_info.size_bytes == 0)
        return true;
    *is_chosen = has_instance(&r->reduced);
    return write_chunk(r, part, &chunk, r->reduced.data, r->reduced.size_bytes);
}

/* Lists the values that the collector has chosen in the block that was put last. */
static bool list_values(pfb_recorder *r)
{
    const frame_state *frame = &r->collector->frame;
    const frame_segments *part = &frame->parts[frame->newer];
    v1_reduction *blocks = &r->blocks;
    blocks->value_count = 0;
    for (size_t k = 0; frame->is_current && k < part->count; k++) {
        const layout *l = part->segments[k].layout;
        const pfb_sample *table = &part->segments[k].sample->table;
        if (!PFB_COLLECT_GROW(blocks->values, blocks->value_capacity, blocks->value_count + l->element_count))
            return false;
        for (size_t i = 0; i < l->element_count; i++) {
            const layout_element *element = &l->elements[i];
            const layout_column *column = &l->columns[element->column];
            blocks->values[blocks->value_count++] =
                (v1_chosen_value){.object_offset = table->results[column->result].offset,
                                  .row = table->rows[l->rows[element->row].table_row].instance,
                                  .position = column->position};
        }
    }
    return true;
}

static void write_titles(pfb_writer *writer, pfb_collector *collector, const uint32_t *indexes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const pfb_name name = pfb_collector_title(collector, indexes[i]);
        pfb_write_name(writer, indexes[i], &name);
    }
    pfb_write_end_names(writer);
}

/* The key of a title index in recorder_part.titles. */
static pfb_guid title_key(uint32_t title)
{
    pfb_guid key = {{0}};
    for (size_t i = 0; i < 4; i++)
        key.bytes[i] = (uint8_t)(title >> 8 * i);
    return key;
}

/* Writes a name table for the titles in the reduced block, except those whose names the output has. */
static bool write_names(pfb_recorder *r, recorder_part *part)
{
    const v1_reduction *blocks = &r->blocks;
    pfb_writer writer;
    size_t count = 0;
    if (!PFB_COLLECT_GROW(r->titles, r->title_capacity, blocks->title_count + 1))
        return false;
    for (size_t i = 0; i < blocks->title_count; i++) {
        const pfb_guid key = title_key(blocks->titles[i]);
        metadata_set *title = pfb_metadata_get(&part->titles, &key);
        if (!title)
            return false;
        if (title->mark == r->output || !pfb_collector_title(r->collector, blocks->titles[i]).bytes)
            continue;
        title->mark = r->output;
        r->titles[count++] = blocks->titles[i];
    }
    if (count == 0)
        return true;
    pfb_write_init(&writer, NULL, 0);
    write_titles(&writer, r->collector, r->titles, count);
    size_t size = writer.size_bytes;
    if (!pfb_bytes_reserve(&r->table, size))
        return false;
    pfb_write_init(&writer, r->table.data, size);
    write_titles(&writer, r->collector, r->titles, count);
    return writer.error.code != PFB_OK ||
           write_chunk(r, part, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, r->table.data, size);
}

static bool put_v1(pfb_recorder *r, recorder_part *part, const pfb_record *record, bool *is_chosen)
{
    const pfb_chunk chunk = {.tag = PFB_TAG_V1};
    pfb_error error = {PFB_OK, 0};
    bool is_left_out = false;
    if (!ask_collector(r, record, &is_left_out))
        return false;
    if (is_left_out)
        return true;
    if (!report(r, record, check_v1(r, record)))
        return false;
    if (!r->has_terms) {
        *is_chosen = true;
        return write_kept_chunks(r, part) && write_chunk(r, part, &chunk, record->bytes, (size_t)record->byte_count);
    }
    if (!list_values(r) || !pfb_reduce_v1(&r->blocks, record->bytes, (size_t)record->byte_count, &r->reduced, &error) ||
        !report(r, record, error))
        return false;
    if (r->reduced.size_bytes == 0)
        return true;
    *is_chosen = true;
    pfb_bytes block = r->reduced; /* writing metadata needs the buffer */
    r->reduced = (pfb_bytes){.data = NULL};
    bool is_written = write_kept_chunks(r, part) && write_names(r, part) &&
                      write_chunk(r, part, &chunk, block.data, block.size_bytes);
    pfb_bytes_free(&r->reduced);
    r->reduced = block;
    return is_written;
}

/* Writes the whole V1 objects in a sample of a .blg. Other counters have neither GUIDs nor title indexes. */
static bool put_log(pfb_recorder *r, recorder_part *part, const pfb_record *record, bool *is_chosen)
{
    pfb_log_sample_reader sample;
    pfb_log_item item;
    bool is_done = true;
    part->log_kind = PFB_RECORD_LOG;
    if (!pfb_log_open_sample(&sample, record->bytes, (size_t)record->byte_count, &r->reader))
        return report(r, record, sample.error);
    while (is_done && pfb_log_next_item(&sample, &item)) {
        bool is_object = item.kind == PFB_LOG_OBJECT && item.block;
        part->object_count += is_object;
        part->other_count += item.kind == PFB_LOG_COUNTER || item.kind == PFB_LOG_INSTANCES;
        pfb_record block = *record;
        block.kind = PFB_RECORD_V1;
        block.bytes = item.block;
        block.byte_count = item.block_size_bytes;
        block.offset = is_object ? record->offset + (uint64_t)(item.block - record->bytes) : 0;
        if (is_object)
            is_done = put_v1(r, part, &block, is_chosen);
    }
    return is_done && report(r, record, sample.error);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* The name of a file without folders. */
static pfb_name label_of(const char *path)
{
    for (const char *at = path; at && *at; at++) {
        if (*at == '/' || *at == '\\')
            path = at + 1;
    }
    return path ? pfb_utf8_name(path, strlen(path)) : (pfb_name){.bytes = NULL};
}

/* Makes the body of the FILE chunks of a part: that of the part's own, or the name of the file. */
static bool make_file_body(recorder_part *part, const pfb_record *record)
{
    pfb_capture_file texts = {.label = label_of(record->label)};
    if (record->byte_count > 0)
        pfb_capture_read_file(record->bytes, (size_t)record->byte_count, &texts);
    size_t size = pfb_capture_write_file(&texts, NULL, 0);
    if (!pfb_bytes_reserve(&part->file_body, size))
        return false;
    part->file_body.size_bytes = pfb_capture_write_file(&texts, part->file_body.data, size);
    return true;
}

/* Returns the part of a record, or one that is not open. Null when memory is exhausted. */
static recorder_part *find_part(pfb_recorder *r, const pfb_record *record)
{
    size_t free_place = r->part_count;
    for (size_t i = 0; i < r->part_count; i++) {
        recorder_part *part = &r->parts[i];
        if (part->is_open && part->file == record->file && part->part == record->part)
            return part;
        free_place = !part->is_open ? i : free_place;
    }
    if (!PFB_COLLECT_GROW(r->parts, r->part_capacity, free_place + 1))
        return NULL;
    if (free_place == r->part_count)
        r->parts[r->part_count++] = (recorder_part){.is_open = false};
    return &r->parts[free_place];
}

/* Ends a part and frees it. Metadata that follows its last sample is written: it may make ambiguous which one describes
 * the samples before it. */
static bool end_part(pfb_recorder *r, recorder_part *part)
{
    bool is_chosen = part->has_number || !r->has_range;
    bool is_done = r->has_terms || !is_chosen || write_kept_chunks(r, part);
    if (part->has_number)
        is_done = pfb_bytes_append(&r->ended, &part->number, sizeof part->number) && is_done;
    close_part(part);
    return is_done;
}

static bool begin_part(pfb_recorder *r, recorder_part *part, const pfb_record *record)
{
    if (part->is_open && !end_part(r, part))
        return false;
    *part = (recorder_part){.is_open = true, .file = record->file, .part = record->part};
    return make_file_body(part, record->kind == PFB_RECORD_BEGIN ? record : &(pfb_record){.kind = PFB_RECORD_BEGIN});
}

/* Reports what of a log could not be written. Returns false when memory is exhausted. */
static bool report_log(pfb_recorder *r, const recorder_part *part)
{
    pfb_problem problem = {.kind = PFB_PROBLEM_NAME, .file = part->file, .term = -1};
    if (part->log_kind == PFB_RECORD_ROW) {
        return add_problem(r, &problem, "has displayed values only, which cannot be written as a recording");
    } else if (part->log_kind == PFB_RECORD_LOG && part->object_count == 0) {
        return add_problem(r, &problem,
                           "has no whole V1 objects: the counters of a perfmon log have neither GUIDs nor ids, which a "
                           "recording needs");
    } else if (part->other_count > 0) {
        problem.kind = PFB_PROBLEM_NOTE;
        return add_problem(r, &problem,
                           "%" PRIu64 " items of the log's samples are not whole V1 objects and were left out",
                           part->other_count);
    }
    return true;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Puts a record of a part. *is_written: a sample was written that has a chosen value. */
static bool put_record(pfb_recorder *r, recorder_part *part, const pfb_record *record, bool *is_written)
{
    const pfb_chunk other = {.tag = record->kind == PFB_RECORD_NOTE ? PFB_TAG_NOTE : record->tag};
    switch (record->kind) {
    case PFB_RECORD_REGISTRATION:
        return keep_metadata(r, part, record, PFB_TAG_REGISTRATION);
    case PFB_RECORD_QUERY_INFO:
        return keep_metadata(r, part, record, PFB_TAG_QUERY_INFO);
    case PFB_RECORD_NAMES:
        return keep_metadata(r, part, record, PFB_TAG_NAMES);
    case PFB_RECORD_INSTANCES:
        return keep_metadata(r, part, record, PFB_TAG_INSTANCES);
    case PFB_RECORD_V2:
        return put_v2(r, part, record, is_written);
    case PFB_RECORD_V1:
        return put_v1(r, part, record, is_written);
    case PFB_RECORD_LOG:
        return put_log(r, part, record, is_written);
    case PFB_RECORD_ROW:
        part->log_kind = PFB_RECORD_ROW;
        return true;
    case PFB_RECORD_NOTE:
    case PFB_RECORD_OTHER:
        return r->has_terms || other.tag == 0 || pfb_kept_add(&part->kept, &other, record);
    default:
        return true;
    }
}

/* Returns true for records that the collector needs to find what is chosen. Samples are put when they are written. */
static bool is_for_collector(uint32_t kind)
{
    return kind == PFB_RECORD_BEGIN || kind == PFB_RECORD_REGISTRATION || kind == PFB_RECORD_QUERY_INFO ||
           kind == PFB_RECORD_NAMES || kind == PFB_RECORD_END;
}

int32_t pfb_recorder_put(pfb_recorder *r, const pfb_record *record)
{
    bool is_written = false;
    bool is_left_out;
    recorder_part *part = r->has_failed || record->byte_count > SIZE_MAX ? NULL : find_part(r, record);
    if (!part || (is_for_collector(record->kind) && !ask_collector(r, record, &is_left_out)))
        return -1;
    if (record->kind == PFB_RECORD_END) {
        return report_log(r, part) && (!part->is_open || end_part(r, part)) ? 0 : -1;
    }
    if ((record->kind == PFB_RECORD_BEGIN || !part->is_open) && !begin_part(r, part, record))
        return -1;
    if (!put_record(r, part, record, &is_written))
        return -1;
    return is_written;
}

int32_t pfb_recorder_repeat(pfb_recorder *r, const pfb_record *record)
{
    r->is_repeating = true;
    int32_t put = pfb_recorder_put(r, record);
    r->is_repeating = false;
    r->problems_taken = r->problem_count; /* they were reported before */
    return put;
}
