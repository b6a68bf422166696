/* SPDX-License-Identifier: MIT */
#include "source/replay.h"

#include <stdlib.h>

/* The context of a source that answers from a capture like PerfLib. */
typedef struct capture_source {
    pfb_recording recording;
    pfb_capture v1_position; /* a reader, past the last V1 block that was returned */
} capture_source;

/* Returns the metadata of the file that a sample comes from, from now on. */
static void choose_file(capture_source *source, uint64_t file)
{
    if (source->recording.part_count > 0)
        source->recording.file = file;
}

static void close_context(void *context)
{
    capture_source *source = context;
    pfb_recording_close(&source->recording);
    free(source);
}

/* ---- Enumerating ------------------------------------------------------------------------------------------ */

/* Lists each counterset once, in the order in which their first registrations were recorded. */
static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const capture_source *source = context;
    pfb_capture capture = pfb_recording_start(&source->recording);
    pfb_chunk chunk;
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        if (chunk.tag != PFB_TAG_REGISTRATION || !chunk.is_known)
            continue;
        const pfb_recorded *first = pfb_recording_find_in(&source->recording, PFB_ANY_FILE, chunk.tag, &chunk.guid,
                                                          PFB_ANY_REQUEST, PFB_ANY_LANGUAGE);
        if (first && first->body_offset == chunk.body_offset &&
            !pfb_bytes_append(bytes, chunk.guid.bytes, sizeof chunk.guid.bytes))
            return pfb_source_fail_memory(failure);
    }
    return true;
}

/* Fails because the capture lacks the counterset, or `what` of the counterset. */
static bool fail_missing(const capture_source *source, const pfb_guid *counterset, const char *what,
                         pfb_source_failure *failure)
{
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid_format(counterset, text);
    if (!pfb_recording_has_set(&source->recording, counterset))
        return pfb_source_fail(failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "the capture has no counterset %s", text);
    return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "the capture has no %s of counterset %s", what, text);
}

static bool copy_entry(const capture_source *source, const pfb_recorded *entry, pfb_bytes *bytes,
                       pfb_source_failure *failure)
{
    return pfb_recording_copy(&source->recording, entry->body_offset, entry->body_size_bytes, bytes, failure);
}

/* ---- Registration ----------------------------------------------------------------------------------------- */

/* Returns one counter of the recorded reply to PFB_REQUEST_COUNTERSET. */
static bool derive_counter(const capture_source *source, const pfb_guid *counterset, uint32_t id, pfb_bytes *bytes,
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
    return pfb_recording_copy(&source->recording, found->body_offset + counter.offset, COUNTER_BYTES, bytes, failure);
}

/* Returns a substitute for names that were not recorded, or NULL: for names in any language, the English names; for
 * English names, the names recorded with language 9 (English), or else with language 0 (the default). */
static const pfb_recorded *find_texts(const capture_source *source, const pfb_guid *counterset, uint32_t request)
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
    const pfb_recorded *found = pfb_recording_find(recording, PFB_TAG_REGISTRATION, counterset, local, ENGLISH);
    return found ? found : pfb_recording_find(recording, PFB_TAG_REGISTRATION, counterset, local, 0);
}

/* Returns the recorded reply, or a reply derived from those to other request codes. */
static bool registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                         pfb_bytes *bytes, pfb_source_failure *failure)
{
    const capture_source *source = context;
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
    const capture_source *source = context;
    pfb_registration set;
    const pfb_recorded *found = pfb_recording_find(&source->recording, PFB_TAG_INSTANCES, counterset, 0, 0);
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
    capture_source *source;
    pfb_replay replay;
} replay_query;

static void *query_open(void *context, pfb_source_failure *failure)
{
    capture_source *source = context;
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
    choose_file(query->source, query->replay.file);
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
static bool copy_names(const capture_source *source, uint32_t language, pfb_bytes *bytes, pfb_source_failure *failure)
{
    static const pfb_guid none = {{0}};
    const pfb_recorded *found = pfb_recording_find(&source->recording, PFB_TAG_NAMES, &none, 0, language);
    if (found)
        return copy_entry(source, found, bytes, failure);
    return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "the capture has no V1 names of language %03X",
                           (unsigned)language);
}

static bool copy_next_block(capture_source *source, pfb_bytes *bytes, pfb_source_failure *failure)
{
    pfb_capture ahead = source->v1_position;
    pfb_chunk chunk;
    while (pfb_capture_next_chunk(&ahead, &chunk)) {
        if (chunk.tag != PFB_TAG_V1 || !chunk.is_known)
            continue;
        if (!pfb_recording_copy(&source->recording, chunk.body_offset, chunk.body_size_bytes, bytes, failure))
            return false;
        source->v1_position = ahead;
        choose_file(source, pfb_recording_file_of(&source->recording, &chunk));
        return true;
    }
    return pfb_recording_fail_at_end(&ahead.error, failure);
}

/* The capture does not record which objects were queried, so any query for data returns the next block. */
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
        return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "a capture has no V1 help texts");
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
    const capture_source *source = context;
    return source->recording.part_count > 0 ? source->recording.file : 1;
}

static const pfb_source_operations capture_operations = {.close = close_context,
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

pfb_source *pfb_source_open_capture(const void *data, size_t size, pfb_source_failure *failure)
{
    capture_source *source = malloc(sizeof *source);
    if (!source) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    if (!pfb_recording_open(&source->recording, data, size, failure)) {
        free(source);
        return NULL;
    }
    source->v1_position = pfb_recording_start(&source->recording);
    return pfb_source_make(&capture_operations, source, failure);
}
