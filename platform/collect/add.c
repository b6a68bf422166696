/* SPDX-License-Identifier: MIT */
/* Resolves names of countersets, counters and instances, and adds the counters to the query of the source. */
#include "collect/collector.h"
#include "collect/memory.h"
#include "perfblock/catalog.h"
#include "perfblock/query.h"
#include "source/source_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A counterset that matches a name of the caller. */
typedef struct matched_set {
    metadata_set *set;
    const char *requested; /* the caller's name */
    bool is_pattern;       /* that name has wildcards */
} matched_set;

/* State of one call that adds counters. */
typedef struct addition {
    pfb_collector *c;
    const pfb_collector_choice *choice;
    pfb_source_failure *failure;
    pfb_bytes guids;                 /* of the countersets that the source lists */
    pfb_source_failure list_failure; /* why the source cannot list them; code 0: it can */
    matched_set *sets;
    size_t set_count, set_capacity;
    uint32_t filter;
    bool *is_marked; /* by position of the counter in its counterset: it matches */
    size_t marked_capacity;
    chosen_counter *rows;
    size_t row_count, row_capacity;
    pfb_bytes blocks; /* identifier blocks */
} addition;

static bool no_memory(const addition *a)
{
    return pfb_collect_no_memory(a->failure);
}

/* Fails because the source cannot list its countersets. */
static bool fail_list(const addition *a)
{
    if (a->failure)
        *a->failure = a->list_failure;
    return false;
}

/* ---- Patterns -------------------------------------------------------------------------------------------- */

/* A name given by the caller, with or without wildcards. */
typedef struct name_pattern {
    pfb_name text;
    bool has_wildcards;
} name_pattern;

static name_pattern make_pattern(const char *text)
{
    pfb_name name = pfb_utf8_name(text, strlen(text));
    return (name_pattern){name, pfb_query_is_pattern(&name)};
}

static bool matches_name(const name_pattern *p, const pfb_name *name)
{
    return name->bytes && pfb_query_match(&p->text, name, PFB_MATCH_IGNORE_CASE);
}

static bool matches_ascii(const name_pattern *p, const char *text)
{
    pfb_name name = pfb_utf8_name(text, strlen(text));
    return matches_name(p, &name);
}

/* ---- Countersets ----------------------------------------------------------------------------------------- */

/* Returns true unless the source reports that it does not have the counterset. A recording may have data of a
 * counterset that it does not list, because it lacks the registration. */
static bool has_counterset(pfb_collector *c, const pfb_guid *guid)
{
    pfb_source_failure failure = {.code = 0};
    return pfb_source_registration(c->source, guid, PFB_REQUEST_COUNTERSET, 0, &c->fetched, &failure) ||
           failure.code != PFB_WIN32_COUNTERSET_NOT_FOUND;
}

/* Adds a counterset unless it was added before. If several names match it, one without wildcards takes precedence. */
static bool add_set(addition *a, const pfb_guid *guid, const char *requested, bool is_pattern)
{
    metadata_set *set = pfb_metadata_get(&a->c->metadata, guid);
    if (!set || !PFB_COLLECT_GROW(a->sets, a->set_capacity, a->set_count + 1))
        return no_memory(a);
    if (set->mark != a->c->mark) {
        set->mark = a->c->mark;
        a->sets[a->set_count++] = (matched_set){set, requested, is_pattern};
        return true;
    }
    for (size_t i = 0; i < a->set_count && !is_pattern; i++) {
        if (a->sets[i].set == set && a->sets[i].is_pattern)
            a->sets[i] = (matched_set){set, requested, false};
    }
    return true;
}

/* Sets *is_match to whether the pattern matches one of the names that the source has for the counterset, or its GUID if
 * neither the source nor the catalog has a name. Returns false when memory is exhausted. */
static bool match_set(addition *a, const pfb_guid *guid, const name_pattern *p, bool *is_match)
{
    char text[PFB_GUID_TEXT_BYTES];
    metadata_set *set = pfb_metadata_get(&a->c->metadata, guid);
    *is_match = false;
    if (!set || !pfb_collect_fetch(a->c, set, PFB_REQUEST_COUNTERSET_NAME) ||
        !pfb_collect_fetch(a->c, set, PFB_REQUEST_COUNTERSET_ENGLISH_NAME))
        return no_memory(a);
    const pfb_name *local = &set->names[METADATA_LOCAL];
    const pfb_name *english = &set->names[METADATA_ENGLISH];
    bool has_name = local->bytes || english->bytes || pfb_catalog_find(guid);
    pfb_guid_format(guid, text);
    *is_match = matches_name(p, local) || matches_name(p, english) || (!has_name && matches_ascii(p, text));
    return true;
}

/* Adds the countersets that match a name or GUID of the caller. */
static bool find_sets_named(addition *a, const char *requested, const name_pattern *p)
{
    pfb_guid guid;
    const pfb_catalog_set *known = NULL;
    size_t count = a->guids.size_bytes / sizeof guid;
    bool is_found = pfb_guid_parse(requested, strlen(requested), &guid) && has_counterset(a->c, &guid);
    if (is_found && !add_set(a, &guid, requested, false))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool is_match;
        memcpy(&guid, a->guids.data + i * sizeof guid, sizeof guid);
        if (!match_set(a, &guid, p, &is_match) || (is_match && !add_set(a, &guid, requested, p->has_wildcards)))
            return false;
        is_found = is_found || is_match;
    }
    /* The source may have names in its own language only; those of the catalog are English. */
    for (size_t i = 0; (known = pfb_catalog_set_at(i)) != NULL; i++) {
        if (!matches_ascii(p, known->name) || !has_counterset(a->c, &known->guid))
            continue;
        if (!add_set(a, &known->guid, requested, p->has_wildcards))
            return false;
        is_found = true;
    }
    if (!is_found && a->list_failure.code != 0)
        return fail_list(a);
    return is_found || pfb_source_fail(a->failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "no counterset %s %s%s",
                                       p->has_wildcards ? "matches" : "is called", requested,
                                       count > 0 ? "" : ": the source lists no V2 countersets");
}

static bool find_sets(addition *a)
{
    a->c->mark++;
    for (size_t i = 0; i < a->choice->counterset_count; i++) {
        name_pattern p = make_pattern(a->choice->countersets[i]);
        if (!find_sets_named(a, a->choice->countersets[i], &p))
            return false;
    }
    for (size_t i = 0; i < a->set_count; i++) {
        if (!pfb_collect_complete(a->c, a->sets[i].set))
            return no_memory(a);
    }
    return true;
}

/* ---- Counters -------------------------------------------------------------------------------------------- */

/* The position of a counter, and one of its names. */
typedef struct named_counter {
    pfb_name name;
    uint32_t position;
} named_counter;

static int compare_name_bytes(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const named_counter *)left)->name.bytes;
    uintptr_t b = (uintptr_t)((const named_counter *)right)->name.bytes;
    return (a > b) - (a < b);
}

/* Marks the counters whose name from this origin (METADATA_*) matches. A hostile reply can give one long name to all
 * counters, so the names are sorted by address and each is compared once. */
static bool mark_named(addition *a, const metadata_set *set, unsigned origin, const name_pattern *p)
{
    pfb_counter counter;
    size_t count = 0;
    bool is_matched = false;
    named_counter *named = malloc(((size_t)set->registration.counter_count + 1) * sizeof *named);
    if (!named)
        return no_memory(a);
    for (uint32_t i = 0; pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        pfb_name name = pfb_metadata_counter_name_at(set, origin, counter.id);
        if (name.bytes)
            named[count++] = (named_counter){name, i};
    }
    qsort(named, count, sizeof *named, compare_name_bytes);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || named[i - 1].name.bytes != named[i].name.bytes)
            is_matched = matches_name(p, &named[i].name);
        a->is_marked[named[i].position] = a->is_marked[named[i].position] || is_matched;
    }
    free(named);
    return true;
}

/* Returns true if the text is this number in decimal. */
static bool is_number(const char *text, uint32_t number)
{
    uint64_t read = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || read > UINT32_MAX)
            return false;
        read = read * 10 + (uint64_t)(*c - '0');
    }
    return *text != '\0' && read == number;
}

/* Marks the counters of a counterset that match a name of the caller: by name, by id, or, if a counter has no name, by
 * a pattern for its id. */
static bool mark_counters(addition *a, const metadata_set *set, const char *requested)
{
    pfb_counter counter;
    name_pattern p = make_pattern(requested);
    bool has_memory = true;
    for (unsigned origin = 0; origin < METADATA_ORIGINS && has_memory; origin++)
        has_memory = mark_named(a, set, origin, &p);
    for (uint32_t i = 0; pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        char id[16];
        snprintf(id, sizeof id, "%" PRIu32, counter.id);
        a->is_marked[i] = a->is_marked[i] || is_number(requested, counter.id) ||
                          (!pfb_metadata_counter_name(set, counter.id).bytes && matches_ascii(&p, id));
    }
    return has_memory;
}

static bool clear_marks(addition *a, const metadata_set *set)
{
    size_t count = set->has_counters ? set->registration.counter_count : 0;
    if (!PFB_COLLECT_GROW(a->is_marked, a->marked_capacity, count))
        return no_memory(a);
    memset(a->is_marked, 0, count * sizeof *a->is_marked);
    return true;
}

/* Fails if one of the caller's names for counters matches no counter of any counterset. */
static bool check_counters(addition *a)
{
    for (size_t k = 0; k < a->choice->counter_count; k++) {
        bool is_found = false;
        for (size_t n = 0; n < a->set_count && !is_found; n++) {
            const metadata_set *set = a->sets[n].set;
            uint32_t count = set->has_counters ? set->registration.counter_count : 0;
            if (!clear_marks(a, set) || (count > 0 && !mark_counters(a, set, a->choice->counters[k])))
                return false;
            for (uint32_t i = 0; i < count && !is_found; i++)
                is_found = a->is_marked[i];
        }
        if (!is_found)
            return pfb_source_fail(a->failure, PFB_WIN32_COUNTER_NOT_FOUND, "no counter of %s %s %s",
                                   a->set_count == 1 ? a->sets[0].requested : "these countersets",
                                   make_pattern(a->choice->counters[k]).has_wildcards ? "matches" : "is called",
                                   a->choice->counters[k]);
    }
    return true;
}

static bool add_row(addition *a, const metadata_set *set, uint32_t counter_id, bool is_shown)
{
    if (!PFB_COLLECT_GROW(a->rows, a->row_capacity, a->row_count + 1))
        return no_memory(a);
    a->rows[a->row_count++] =
        (chosen_counter){.counterset = set->guid, .counter_id = counter_id, .filter = a->filter, .is_shown = is_shown};
    return true;
}

/* Adds a counter, and the counters that its formula refers to. */
static bool add_counter(addition *a, const metadata_set *set, const pfb_counter *counter)
{
    const uint32_t ids[] = {counter->base_id, counter->multi_id, counter->perf_time_id, counter->perf_freq_id};
    pfb_counter other;
    bool has_memory = add_row(a, set, counter->id, true);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0] && has_memory; i++) {
        if (ids[i] != PFB_NO_ID && pfb_registration_find(&set->registration, ids[i], &other))
            has_memory = add_row(a, set, ids[i], false);
    }
    return has_memory;
}

/* Adds the matching counters of a counterset. */
static bool add_counters(addition *a, const metadata_set *set)
{
    pfb_counter counter;
    if (a->choice->counter_count == 0)
        return add_row(a, set, PFB_NO_ID, true);
    if (!set->has_counters)
        return true;
    if (!clear_marks(a, set))
        return false;
    for (size_t k = 0; k < a->choice->counter_count; k++) {
        if (!mark_counters(a, set, a->choice->counters[k]))
            return false;
    }
    for (uint32_t i = 0; pfb_registration_counter_at(&set->registration, i, &counter); i++) {
        if (a->is_marked[i] && !add_counter(a, set, &counter))
            return false;
    }
    return true;
}

/* ---- Instances ------------------------------------------------------------------------------------------- */

/* A counterset whose registration is unknown is assumed to have instances. */
static bool has_instances(const metadata_set *set)
{
    return !set->has_counters || (set->registration.instance_type & PFB_INSTANCES_MULTIPLE) != 0;
}

/* Returns false if the counterset lists instances and none matches. The instance of a single-instance counterset has an
 * empty name, which "*" matches. Returns true if the list is empty, malformed or not available. */
static bool has_instance(addition *a, const metadata_set *set)
{
    pfb_list list;
    pfb_listed_instance instance;
    if (a->filter == ALL_INSTANCES)
        return true;
    const instance_filter *filter = &a->c->choice.filters[a->filter];
    const pfb_name none = {.bytes = NULL};
    if (!has_instances(set))
        return pfb_choice_matches(filter, &none, &none, 0);
    pfb_bytes *bytes = &a->c->fetched;
    if (!pfb_source_instances(a->c->source, &set->guid, bytes, NULL) || bytes->size_bytes == 0)
        return true;
    bool is_found = false;
    pfb_list_open(&list, bytes->data, bytes->size_bytes, NULL);
    /* Passes filter->index as the instance's number, so that "a#1" matches any "a". */
    while (!is_found && pfb_list_next_instance(&list, &instance))
        is_found = pfb_choice_matches(filter, &none, &instance.name, filter->index);
    return is_found || list.error.code != PFB_OK;
}

/* ---- The query ------------------------------------------------------------------------------------------- */

static int compare_counter_ids(const void *left, const void *right)
{
    const chosen_counter *a = left;
    const chosen_counter *b = right;
    return (a->counter_id > b->counter_id) - (a->counter_id < b->counter_id);
}

/* Makes the name filter of the identifier blocks: the pattern, or "*" for all instances. For "a#1" the filter is
 * "a*", which selects an instance called "a#1" as well as all instances called "a": these are counted to find the
 * second one. */
static bool make_name(const addition *a, pfb_bytes *name)
{
    const instance_filter *filter = a->filter == ALL_INSTANCES ? NULL : &a->c->choice.filters[a->filter];
    const pfb_name *pattern = filter ? filter->has_index ? &filter->name_pattern : &filter->pattern : NULL;
    return (!pattern || pfb_bytes_append(name, pattern->bytes, pattern->size_bytes)) &&
           ((filter && !filter->has_index) || pfb_bytes_append(name, "*", 1));
}

/* Appends an identifier block for each counter in the rows from `first` on, which are those of the counterset. A
 * counter with several rows gets one block. */
static bool append_blocks(addition *a, const metadata_set *set, const pfb_bytes *name, size_t first)
{
    chosen_counter *rows = a->rows + first;
    size_t count = a->row_count - first;
    bool is_named = has_instances(set);
    chosen_counter *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return no_memory(a);
    memcpy(sorted, rows, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_counter_ids);
    bool is_done = true;
    for (size_t i = 0; i < count && is_done; i++) {
        pfb_query query = {.counterset = set->guid,
                           .counter_id = sorted[i].counter_id,
                           .instance_id = PFB_NO_ID,
                           .name = {is_named ? name->data : NULL, is_named ? name->size_bytes : 0, PFB_ENCODING_UTF8}};
        if (i > 0 && sorted[i - 1].counter_id == query.counter_id)
            continue;
        size_t size = pfb_query_size(&query);
        if (size == 0) {
            is_done = pfb_source_fail(a->failure, PFB_WIN32_INVALID_PARAMETER,
                                      "%s is longer than the name of an instance can be", a->choice->instance);
        } else if (!pfb_bytes_reserve(&a->blocks, a->blocks.size_bytes + size)) {
            is_done = no_memory(a);
        } else {
            a->blocks.size_bytes += pfb_query_write(&query, a->blocks.data + a->blocks.size_bytes, size);
        }
    }
    free(sorted);
    return is_done;
}

/* Adds the matching counters and instances of a counterset. If there are none, skips a counterset that was matched by a
 * pattern, and fails for one that was named. */
static bool add_from_set(addition *a, const matched_set *matched, const pfb_bytes *name)
{
    size_t first = a->row_count;
    const metadata_set *set = matched->set;
    if (!has_instance(a, set))
        return matched->is_pattern ||
               pfb_source_fail(a->failure, PFB_WIN32_INSTANCE_NOT_FOUND, "no instance of %s matches %s",
                               matched->requested, a->choice->instance);
    if (!add_counters(a, set))
        return false;
    if (a->row_count == first)
        return matched->is_pattern || pfb_source_fail(a->failure, PFB_WIN32_NOT_FOUND,
                                                      "%s has none of the requested counters", matched->requested);
    return append_blocks(a, set, name, first);
}

/* Makes the identifier blocks of all matching countersets. Fails if there are none. */
static bool make_blocks(addition *a)
{
    pfb_bytes name = {.data = NULL};
    bool is_done = make_name(a, &name) || no_memory(a);
    for (size_t i = 0; i < a->set_count && is_done; i++)
        is_done = add_from_set(a, &a->sets[i], &name);
    if (is_done && a->blocks.size_bytes == 0)
        is_done = pfb_source_fail(a->failure, PFB_WIN32_INSTANCE_NOT_FOUND,
                                  "no counterset has such counters and an instance that matches %s",
                                  a->choice->instance ? a->choice->instance : "*");
    pfb_bytes_free(&name);
    return is_done;
}

/* Returns true if the source refused the block. A block that was added before is part of the query. */
static bool is_refused(const pfb_identifier *block)
{
    return block->status != PFB_WIN32_SUCCESS && block->status != PFB_WIN32_ALREADY_EXISTS;
}

/* Adds a problem for each block that the source refused. Fails if it refused all blocks. */
static bool check_blocks(addition *a)
{
    pfb_list list;
    pfb_identifier block;
    uint32_t status = 0;
    bool is_any_accepted = false;
    pfb_list_open(&list, a->blocks.data, a->blocks.size_bytes, NULL);
    while (pfb_list_next_identifier(&list, &block)) {
        is_any_accepted = is_any_accepted || !is_refused(&block);
        if (!is_refused(&block))
            continue;
        status = status != 0 ? status : block.status;
        if (!pfb_collect_add_problem(a->c, &(pfb_collector_problem){.counterset = block.counterset,
                                                                    .counter_id = block.counter_id,
                                                                    .status = block.status}))
            return no_memory(a);
    }
    if (is_any_accepted)
        return true;
    if (a->list_failure.code != 0 && status == PFB_WIN32_COUNTERSET_NOT_FOUND)
        return fail_list(a);
    const pfb_win32_code *known = pfb_win32_find(status);
    return pfb_source_fail(a->failure, status, "the source refuses all of these counters: %s",
                           known ? known->text : "unknown status");
}

/* Adds the identifier blocks to the query, and the rows to the collector's choice. */
static bool send_blocks(addition *a)
{
    pfb_collector *c = a->c;
    if (!c->query_handle)
        c->query_handle = pfb_source_query_open(c->source, a->failure);
    c->has_info = false;
    return c->query_handle && pfb_source_query_add(c->query_handle, a->blocks.data, a->blocks.size_bytes, a->failure) &&
           check_blocks(a) && (pfb_choice_add(&c->choice, a->rows, a->row_count) || no_memory(a));
}

/* Fails unless the source is known to be the machine of the choice. For recorded V1 data, the name in each block is
 * compared when the block is collected. */
static bool check_machine(const addition *a)
{
    const char *own = a->c->options.machine;
    if (!a->c->source || !a->choice->machine || (a->c->version == VERSION_V1 && pfb_source_is_recorded(a->c->source)))
        return true;
    const char *machine = pfb_choice_machine(a->choice->machine);
    name_pattern p = make_pattern(machine);
    return strcmp(machine, "*") == 0 || (own && matches_ascii(&p, pfb_choice_machine(own))) ||
           pfb_source_fail(a->failure, PFB_WIN32_INVALID_PARAMETER,
                           "the source is not known to be the machine %s: omit the machine", machine);
}

bool pfb_collector_add_choice(pfb_collector *c, const pfb_collector_choice *choice, pfb_source_failure *failure)
{
    addition a = {.c = c, .choice = choice, .failure = failure, .filter = ALL_INSTANCES};
    if (!pfb_collect_end_sample(c))
        return no_memory(&a);
    if (c->source && !pfb_collect_list(c, &a.guids, &a.list_failure, failure)) {
        pfb_bytes_free(&a.guids);
        return false;
    }
    if (!check_machine(&a)) {
        pfb_bytes_free(&a.guids);
        return false;
    }
    if (c->version == VERSION_V1) {
        pfb_bytes_free(&a.guids);
        return pfb_collect_add_v1(c, choice, failure);
    }
    bool is_done = !choice->instance || pfb_choice_add_filter(&c->choice, choice->instance, &a.filter) || no_memory(&a);
    if (!c->source)
        return is_done && (pfb_choice_add_named(&c->choice, choice, a.filter) || no_memory(&a));
    is_done = is_done && find_sets(&a) && check_counters(&a) && make_blocks(&a) && send_blocks(&a);
    pfb_bytes_free(&a.guids);
    pfb_bytes_free(&a.blocks);
    free(a.sets);
    free(a.is_marked);
    free(a.rows);
    return is_done;
}

/* ---- Paths ----------------------------------------------------------------------------------------------- */

/* Copies a part of a path as a string. Returns null when memory is exhausted. */
static char *copy_part(const pfb_name *part)
{
    char *text = malloc(part->size_bytes + 1);
    if (text) {
        memcpy(text, part->bytes, part->size_bytes);
        text[part->size_bytes] = '\0';
    }
    return text;
}

bool pfb_collector_add(pfb_collector *c, const char *path, pfb_source_failure *failure)
{
    pfb_path parts;
    pfb_name text = {(const uint8_t *)path, strlen(path), PFB_ENCODING_UTF8};
    if (!pfb_path_parse(&text, &parts))
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER,
                               "%s is not a path of the form \\counterset(instance)\\counter", path);
    char *set = copy_part(&parts.counterset);
    char *counter = copy_part(&parts.counter);
    char *instance = parts.instance.bytes ? copy_part(&parts.instance) : NULL;
    char *machine = parts.machine.bytes ? copy_part(&parts.machine) : NULL;
    bool has_memory = set && counter && (instance || !parts.instance.bytes) && (machine || !parts.machine.bytes);
    pfb_collector_choice choice = {.countersets = (const char *const *)&set,
                                   .counterset_count = 1,
                                   .counters = (const char *const *)&counter,
                                   .counter_count = counter && strcmp(counter, "*") == 0 ? 0 : 1,
                                   .instance = instance,
                                   .machine = machine};
    bool is_done = has_memory ? pfb_collector_add_choice(c, &choice, failure) : pfb_collect_no_memory(failure);
    free(set);
    free(counter);
    free(instance);
    free(machine);
    return is_done;
}

bool pfb_collector_identifier_at(const pfb_collector *c, size_t position, pfb_collector_identifier *identifier)
{
    if (position >= c->choice.count)
        return false;
    const chosen_counter *row = &c->choice.rows[position];
    *identifier = (pfb_collector_identifier){.counter_id = row->counter_id, .is_shown = row->is_shown};
    if (c->version == VERSION_V1) {
        identifier->is_v1 = true;
        identifier->title = pfb_choice_key_title(&row->counterset);
    } else {
        identifier->counterset = row->counterset;
    }
    if (row->filter != ALL_INSTANCES) {
        identifier->instance = c->choice.filters[row->filter].text;
        identifier->name_size = c->choice.filters[row->filter].name_pattern.size_bytes;
    }
    return true;
}
