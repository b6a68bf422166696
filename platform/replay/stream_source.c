/* SPDX-License-Identifier: MIT */
#include "replay/replay.h"

#include <stdlib.h>

/* The context of a source that answers from a stream like PerfLib. */
typedef struct stream_source {
    pfb_recording recording;
    pfb_bytes sets; /* GUIDs of the countersets */
    size_t next_v1; /* number of the sample after the last V1 block that was returned */
} stream_source;

static void close_context(void *context)
{
    stream_source *source = context;
    pfb_recording_close(&source->recording);
    pfb_bytes_free(&source->sets);
    free(source);
}

/* ---- Enumerating ------------------------------------------------------------------------------------------ */

static int compare_positions(const void *left, const void *right)
{
    const pfb_recorded *a = left;
    const pfb_recorded *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

/* Lists each counterset once, in the order in which their first registrations were recorded. Returns false when memory
 * is exhausted. */
static bool list_countersets(stream_source *source)
{
    const pfb_recording *recording = &source->recording;
    pfb_bytes first = {0};
    bool has_memory = true;
    for (size_t i = 0; i < recording->entry_count && has_memory; i++) {
        const pfb_recorded *entry = &recording->entries[i];
        if (entry->file == PFB_ANY_FILE && entry->kind == PFB_RECORD_REGISTRATION &&
            entry->request == PFB_ANY_REQUEST && entry->language == PFB_ANY_LANGUAGE)
            has_memory = pfb_bytes_append(&first, entry, sizeof *entry);
    }
    pfb_recorded *entries = (pfb_recorded *)(void *)first.data;
    size_t count = first.size_bytes / sizeof *entries;
    if (count > 0)
        qsort(entries, count, sizeof *entries, compare_positions);
    for (size_t i = 0; i < count && has_memory; i++)
        has_memory = pfb_bytes_append(&source->sets, entries[i].counterset.bytes, sizeof entries[i].counterset.bytes);
    pfb_bytes_free(&first);
    return has_memory;
}

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const stream_source *source = context;
    return pfb_bytes_append(bytes, source->sets.data, source->sets.size_bytes) || pfb_source_fail_memory(failure);
}

/* Fails because the recording lacks the counterset, or `what` of the counterset. */
static bool fail_missing(const stream_source *source, const pfb_guid *counterset, const char *what,
                         pfb_source_failure *failure)
{
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid_format(counterset, text);
    if (!pfb_recording_has_set(&source->recording, counterset))
        return pfb_source_fail(failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "the recording has no counterset %s", text);
    return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "the recording has no %s of counterset %s", what, text);
}

static bool copy_entry(const stream_source *source, const pfb_recorded *entry, pfb_bytes *bytes,
                       pfb_source_failure *failure)
{
    return pfb_recording_copy(&source->recording, entry->at, entry->size, bytes, failure);
}

/* ---- Registration ----------------------------------------------------------------------------------------- */

/* Returns one counter of the recorded reply to PFB_REQUEST_COUNTERSET. */
static bool derive_counter(const stream_source *source, const pfb_guid *counterset, uint32_t id, pfb_bytes *bytes,
                           pfb_source_failure *failure)
{
    enum { COUNTER_BYTES = 48 }; /* PERF_COUNTER_REG_INFO */
    pfb_registration registered;
    pfb_counter counter;
    if (!pfb_recording_register(&source->recording, counterset, &registered))
        return fail_missing(source, counterset, "such registration", failure);
    if (!pfb_registration_find(&registered, id, &counter))
        return pfb_source_fail(failure, PFB_WIN32_COUNTER_NOT_FOUND, "the counterset has no counter %u", (unsigned)id);
    const pfb_recorded *found =
        pfb_recording_find_registration(&source->recording, counterset, PFB_REQUEST_COUNTERSET, 0);
    return pfb_recording_copy(&source->recording, found->at + counter.offset, COUNTER_BYTES, bytes, failure);
}

/* Returns a substitute for names that were not recorded, or NULL: for names in any language, the English names; for
 * English names, the names recorded with language 9 (English), or else with language 0 (the default). */
static const pfb_recorded *find_texts(const stream_source *source, const pfb_guid *counterset, uint32_t request)
{
    enum { ENGLISH = 9 };
    const pfb_recording *recording = &source->recording;
    bool is_set_name = request == PFB_REQUEST_COUNTERSET_NAME || request == PFB_REQUEST_COUNTERSET_ENGLISH_NAME;
    uint32_t local = is_set_name ? PFB_REQUEST_COUNTERSET_NAME : PFB_REQUEST_COUNTER_NAMES;
    uint32_t english = is_set_name ? PFB_REQUEST_COUNTERSET_ENGLISH_NAME : PFB_REQUEST_COUNTER_ENGLISH_NAMES;
    if (request == local)
        return pfb_recording_find_registration(recording, counterset, english, 0);
    if (request != english)
        return NULL;
    const pfb_recorded *found = pfb_recording_find(recording, PFB_RECORD_REGISTRATION, counterset, local, ENGLISH);
    return found ? found : pfb_recording_find(recording, PFB_RECORD_REGISTRATION, counterset, local, 0);
}

/* Returns the recorded reply, or a reply derived from those to other request codes. */
static bool registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                         pfb_bytes *bytes, pfb_source_failure *failure)
{
    const stream_source *source = context;
    if (!pfb_recording_has_set(&source->recording, counterset))
        return fail_missing(source, counterset, "such registration", failure);
    if (request < PFB_REQUEST_COUNTERSET || request > PFB_REQUEST_COUNTER_ENGLISH_NAMES)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "there is no registration request code %u",
                               (unsigned)request);
    const pfb_recorded *found = pfb_recording_find_registration(&source->recording, counterset, request, language);
    if (!found && request == PFB_REQUEST_COUNTER)
        return derive_counter(source, counterset, language, bytes, failure);
    if (!found)
        found = find_texts(source, counterset, request);
    return found ? copy_entry(source, found, bytes, failure)
                 : fail_missing(source, counterset, "such registration", failure);
}

/* ---- Instances -------------------------------------------------------------------------------------------- */

/* Returns the recorded list, or else, if the counterset's registration was recorded, the instances of the first sample
 * that has instances of the counterset. */
static bool instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const stream_source *source = context;
    pfb_registration set;
    const pfb_recorded *found = pfb_recording_find(&source->recording, PFB_RECORD_INSTANCES, counterset, 0, 0);
    if (found)
        return copy_entry(source, found, bytes, failure);
    if (!pfb_recording_register(&source->recording, counterset, &set))
        return fail_missing(source, counterset, "instance list", failure);
    if (set.instance_type == 0)
        return pfb_source_fail(failure, PFB_WIN32_INSTANCE_NOT_FOUND, "the counterset has no instances");
    return pfb_replay_instances(&source->recording, counterset, bytes, failure);
}

/* ---- Queries ---------------------------------------------------------------------------------------------- */

typedef struct replay_query {
    stream_source *source;
    pfb_replay replay;
} replay_query;

static void *query_open(void *context, pfb_source_failure *failure)
{
    stream_source *source = context;
    replay_query *query = malloc(sizeof *query);
    if (!query) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    query->source = source;
    pfb_replay_open(&query->replay, &source->recording);
    return query;
}

static void query_close(void *context)
{
    replay_query *query = context;
    pfb_replay_close(&query->replay);
    free(query);
}

static bool query_add(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    replay_query *query = context;
    return pfb_replay_add(&query->replay, blocks, size, failure);
}

static bool query_remove(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    replay_query *query = context;
    return pfb_replay_remove(&query->replay, blocks, size, failure);
}

static bool query_info(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const replay_query *query = context;
    return pfb_added_info(&query->replay.added, bytes, failure);
}

static bool query_collect(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    replay_query *query = context;
    if (!pfb_replay_collect(&query->replay, bytes, failure))
        return false;
    query->source->recording.file = query->replay.sample->file;
    return true;
}

/* ---- V1 ------------------------------------------------------------------------------------------------------ */

/* Returns true if the query starts with this word, ignoring case, followed by a space or the end. `word` is in lower
 * case. Sets *rest to the text after the word. */
static bool skip_word(const char *query, const char *word, const char **rest)
{
    for (; *word; word++, query++) {
        char letter = *query >= 'A' && *query <= 'Z' ? (char)(*query - 'A' + 'a') : *query;
        if (letter != *word)
            return false;
    }
    *rest = query;
    return *query == ' ' || *query == '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parses a space and the language: one to eight hexadecimal digits up to the end. */
static bool read_language(const char *text, uint32_t *language)
{
    size_t digits = 0;
    *language = 0;
    if (*text++ != ' ')
        return false;
    for (; digits < 8 && hex_digit(text[digits]) >= 0; digits++)
        *language = *language << 4 | (uint32_t)hex_digit(text[digits]);
    return digits > 0 && text[digits] == '\0';
}

/* Returns the first name table in exactly this language. */
static bool copy_names(const stream_source *source, uint32_t language, pfb_bytes *bytes, pfb_source_failure *failure)
{
    static const pfb_guid none = {{0}};
    const pfb_recorded *found = pfb_recording_find(&source->recording, PFB_RECORD_NAMES, &none, 0, language);
    if (found)
        return copy_entry(source, found, bytes, failure);
    return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "the recording has no V1 names of language %03X",
                           (unsigned)language);
}

static bool copy_next_block(stream_source *source, pfb_bytes *bytes, pfb_source_failure *failure)
{
    size_t next = source->next_v1;
    const pfb_recorded_sample *block = pfb_recording_next_sample(&source->recording, &next, PFB_RECORD_V1);
    if (!block)
        return pfb_recording_fail_at_end(&source->recording, failure);
    if (!pfb_recording_copy(&source->recording, block->at, block->size, bytes, failure))
        return false;
    source->next_v1 = next;
    source->recording.file = block->file;
    return true;
}

/* A recording does not have which objects were queried, so any query for data returns the next block. */
static bool v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const char *rest;
    uint32_t language;
    bool is_help = skip_word(query, "help", &rest) || skip_word(query, "explain", &rest);
    if (!is_help && !skip_word(query, "counter", &rest))
        return copy_next_block(context, bytes, failure);
    if (!read_language(rest, &language))
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER,
                               "a query for names needs a language in hexadecimal, as in \"Counter 009\"");
    if (is_help)
        return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "a recording has no V1 help texts");
    return copy_names(context, language, bytes, failure);
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static bool is_recorded(void *context)
{
    (void)context;
    return true;
}

static uint64_t file(void *context)
{
    const stream_source *source = context;
    return source->recording.file_count > 1 ? source->recording.file : 1;
}

static const pfb_source_operations replay_operations = {.close = close_context,
                                                        .countersets = countersets,
                                                        .registration = registration,
                                                        .instances = instances,
                                                        .query_open = query_open,
                                                        .query_close = query_close,
                                                        .query_add = query_add,
                                                        .query_remove = query_remove,
                                                        .query_info = query_info,
                                                        .query_collect = query_collect,
                                                        .v1 = v1,
                                                        .is_recorded = is_recorded,
                                                        .file = file};

pfb_source *pfb_source_open_stream(pfb_stream *stream, pfb_source_failure *failure)
{
    stream_source *source = stream ? calloc(1, sizeof *source) : NULL;
    if (!source)
        pfb_source_fail_memory(failure);
    else if (!pfb_recording_open(&source->recording, stream, failure)) {
        free(source);
        source = NULL;
    } else if (!list_countersets(source)) {
        close_context(source);
        source = NULL;
        pfb_source_fail_memory(failure);
    }
    pfb_stream_close(stream);
    return source ? pfb_source_make(&replay_operations, source, failure) : NULL;
}
