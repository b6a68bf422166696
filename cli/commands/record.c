/* SPDX-License-Identifier: MIT */
#include "collect/recording.h"
#include "commands.h"
#include "commands/output_file.h"
#include "commands/reading.h"
#include "memory/memory.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/stream.h"
#include "perfblock/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A reply with names in the language of the system. */
typedef struct local_names {
    pfb_guid set;
    pfb_bytes bytes; /* empty: none */
} local_names;

/* State of the command. What a continued file already has is not looked for: its metadata is written again. */
typedef struct recording_state {
    const options *o;
    reading reading;
    recording file;
    bool has_content; /* the current file has a sample, or is one that is continued */
    uint64_t count;   /* of samples written */
    pfb_recorder *recorder;
    local_names local[2]; /* of the latest counterset and of its counters */
} recording_state;

static void require_memory(bool has_memory)
{
    if (!has_memory)
        memory_exhausted();
}

/* ---- The file -------------------------------------------------------------------------------------------- */

static bool add_chunk(void *context, const void *bytes, size_t byte_count)
{
    recording_state *r = context;
    recording_add(&r->file, bytes, byte_count);
    return true;
}

static bool open_recording(recording_state *r)
{
    r->file = (recording){.path = r->o->output_path,
                          .note = "recorded by perfblock " PERFBLOCK_VERSION,
                          .max_bytes = r->o->rotation,
                          .is_replaced = r->o->is_forced,
                          .has_samples = true};
    bool is_open = recording_open(&r->file);
    r->has_content = is_open && !r->file.is_new;
    /* An existing file is not changed until there is a sample. A new file gets its first chunks at once. */
    if (is_open && r->file.is_created && !recording_write(&r->file)) {
        recording_close(&r->file);
        return false;
    }
    return is_open;
}

static void close_recording(recording_state *r)
{
    recording_close(&r->file);
    progress_count(r->file.path, r->count, r->file.written, true);
}

/* Returns true if the pending chunks would make the file exceed the size of --rotate. A file without content is never
 * full, so its first sample is written even if it is larger than that. */
static bool is_full(const recording_state *r)
{
    const recording *file = &r->file;
    return file->max_bytes > 0 && r->has_content &&
           (file->size > file->max_bytes || file->pending.size_bytes > file->max_bytes - file->size);
}

/* Writes the chunks of a sample that was put. Begins the next file first if the current one would become too large, and
 * puts the sample again. Returns false after a message. */
static bool write_sample(recording_state *r, const pfb_record *record)
{
    if (is_full(r)) {
        r->has_content = false;
        if (!recording_rotate(&r->file))
            return false;
        pfb_recorder_next_file(r->recorder);
        pfb_recorder_continue(r->recorder, 0);
        require_memory(pfb_recorder_repeat(r->recorder, record) >= 0);
    }
    r->has_content = true;
    if (!recording_write(&r->file))
        return false;
    r->count++;
    progress_count(r->file.path, r->count, r->file.written, false);
    return true;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Returns true if a reply has English names and equals the reply with the names in the language of the system. Such a
 * reply is not recorded, because a source that replays a capture without it returns the other reply instead. */
static bool is_repeated(recording_state *r, const pfb_record *record)
{
    bool is_english =
        record->request == PFB_REQUEST_COUNTERSET_ENGLISH_NAME || record->request == PFB_REQUEST_COUNTER_ENGLISH_NAMES;
    bool is_local = record->request == PFB_REQUEST_COUNTERSET_NAME || record->request == PFB_REQUEST_COUNTER_NAMES;
    bool is_of_set =
        record->request == PFB_REQUEST_COUNTERSET_NAME || record->request == PFB_REQUEST_COUNTERSET_ENGLISH_NAME;
    local_names *local = &r->local[is_of_set ? 0 : 1];
    if (record->kind != PFB_RECORD_REGISTRATION || !(is_english || is_local))
        return false;
    if (is_english)
        return local->bytes.size_bytes > 0 && pfb_guid_equal(&local->set, &record->set) &&
               local->bytes.size_bytes == record->byte_count &&
               memcmp(local->bytes.data, record->bytes, local->bytes.size_bytes) == 0;
    local->set = record->set;
    local->bytes.size_bytes = 0;
    require_memory(pfb_bytes_append(&local->bytes, record->bytes, (size_t)record->byte_count));
    return false;
}

/* Puts a record. A V1 block contains whole objects, and the objects that instances refer to, so the recorder reduces it
 * to what was chosen. Returns false after a message. */
static bool put(recording_state *r, const pfb_record *record)
{
    pfb_problem problem = {.size = sizeof problem};
    bool is_part = record->kind == PFB_RECORD_BEGIN || record->kind == PFB_RECORD_END;
    inputs_report(&r->reading.in);
    if (is_part || is_repeated(r, record)) /* the recording continues the file that it continues, if any */
        return true;
    require_memory(pfb_recorder_put(r->recorder, record) >= 0);
    while (pfb_recorder_problem(r->recorder, &problem)) {
        if (record->kind == PFB_RECORD_V1)
            v1_report_errors(INPUT_LIVE, r->reading.in.stream, record, &r->o->reader);
        else
            diagnostics_input(INPUT_LIVE, problem.offset, pfb_code_name((pfb_code)problem.code), "%s",
                              problem.sentence);
    }
    return !inputs_is_sample(record) || r->file.pending.size_bytes == 0 || write_sample(r, record);
}

/* Opens the recorder and the recording, once the machine has what was chosen. False after a message. */
static bool begin(recording_state *r)
{
    if (!open_recording(r))
        return false;
    r->recorder = pfb_recorder_new(add_chunk, r);
    require_memory(r->recorder != NULL);
    pfb_recorder_set(r->recorder, PFB_RECORDER_STRICT, r->o->reader.is_strict);
    pfb_recorder_continue(r->recorder, r->file.file_number);
    require_memory(pfb_recorder_select(r->recorder, r->reading.selection));
    progress_begin(true);
    return true;
}

static void record_machine(recording_state *r)
{
    pfb_record record = {.size = sizeof record};
    r->reading.in.max_samples = r->o->count;
    if (!reading_choose(&r->reading) || !reading_next(&r->reading, &record) || !begin(r))
        return;
    while (put(r, &record) && reading_next(&r->reading, &record))
        continue;
    close_recording(r);
    pfb_recorder_close(r->recorder);
    inputs_report(&r->reading.in); /* why the source returned no more */
}

void command_record(const options *o)
{
    recording_state r = {.o = o};
    if (output_file_is_input(o)) {
        diagnostics_say(STATUS_USAGE, o->output_path, "is an input, to which the recording would be written");
        return;
    }
    if (!reading_open(&r.reading, o, 1))
        return;
    record_machine(&r);
    reading_close(&r.reading);
    pfb_bytes_free(&r.local[0].bytes);
    pfb_bytes_free(&r.local[1].bytes);
}
