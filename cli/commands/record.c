/* SPDX-License-Identifier: MIT */
#include "collect/recording.h"
#include "commands.h"
#include "commands/convert_files.h"
#include "commands/live_reading.h"
#include "commands/output_file.h"
#include "input/inputs.h"
#include "memory/memory.h"
#include "names/v1.h"
#include "os/system.h"
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
    recording file;
    bool has_content; /* the current file has a sample, or is one that is continued */
    uint64_t count;   /* of samples written */
    /* Of this machine: */
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
    /* An existing file is not changed until there is a sample. A new file of this machine gets its first chunks at
     * once. */
    if (is_open && r->file.is_created && !r->o->source && !recording_write(&r->file)) {
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
static bool write_sample(recording_state *r, pfb_recorder *recorder, const pfb_record *record)
{
    if (is_full(r)) {
        r->has_content = false;
        if (!recording_rotate(&r->file))
            return false;
        pfb_recorder_next_file(recorder);
        pfb_recorder_continue(recorder, 0);
        require_memory(pfb_recorder_repeat(recorder, record) >= 0);
    }
    r->has_content = true;
    if (!recording_write(&r->file))
        return false;
    r->count++;
    progress_count(r->file.path, r->count, r->file.written, false);
    return true;
}

/* ---- This machine ---------------------------------------------------------------------------------------- */

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

/* Puts the latest record of this machine. A V1 block contains whole objects, and the objects that instances refer to,
 * so the recorder reduces it to what was chosen. Returns false after a message. */
static bool put(recording_state *r, const live_reading *l)
{
    const pfb_record *record = &l->record;
    pfb_problem problem = {.size = sizeof problem};
    bool is_part = record->kind == PFB_RECORD_BEGIN || record->kind == PFB_RECORD_END;
    if (is_part || is_repeated(r, record)) /* the recording continues the file that it continues, if any */
        return true;
    require_memory(pfb_recorder_put(r->recorder, record) >= 0);
    while (pfb_recorder_problem(r->recorder, &problem)) {
        if (record->kind == PFB_RECORD_V1)
            v1_report_errors(LIVE_SUBJECT, l->reading.in.stream, record, &r->o->reader);
        else
            diagnostics_input(LIVE_SUBJECT, problem.offset, pfb_code_name((pfb_code)problem.code), "%s",
                              problem.sentence);
    }
    return !inputs_is_sample(record) || r->file.pending.size_bytes == 0 || write_sample(r, r->recorder, record);
}

/* Opens the recorder and the recording, once the source has what was chosen. False after a message. */
static bool begin(recording_state *r, const live_reading *l)
{
    if (!open_recording(r))
        return false;
    pfb_recorder_set(r->recorder, PFB_RECORDER_STRICT, r->o->reader.is_strict);
    pfb_recorder_continue(r->recorder, r->file.file_number);
    require_memory(pfb_recorder_select(r->recorder, l->reading.selection));
    progress_begin(true);
    return true;
}

static void record_machine(recording_state *r)
{
    live_reading l;
    if (!live_open(&l, r->o, r->o->count, 1))
        return;
    r->recorder = pfb_recorder_new(add_chunk, r);
    require_memory(r->recorder != NULL);
    if (live_next(&l) && begin(r, &l)) {
        while (put(r, &l) && live_next(&l))
            continue;
        close_recording(r);
    }
    pfb_recorder_close(r->recorder);
    live_close(&l);
    pfb_bytes_free(&r->local[0].bytes);
    pfb_bytes_free(&r->local[1].bytes);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* The function of a recording_target. */
static bool end_record(void *context, pfb_recorder *recorder, const pfb_record *record, int32_t put_result,
                       bool *is_done)
{
    recording_state *r = context;
    bool is_sample = inputs_is_sample(record) && (put_result == 1 || r->has_content);
    if (is_sample && r->file.pending.size_bytes > 0 && !write_sample(r, recorder, record))
        return false;
    *is_done = system_interrupted() || (r->o->count > 0 && r->count >= r->o->count);
    return true;
}

/* Records the chosen part of files. */
static void record_files(recording_state *r)
{
    const options o = options_with_files(r->o);
    if (!open_recording(r))
        return;
    system_catch_interrupts();
    if (convert_files(&o, &(recording_target){.context = r, .write = add_chunk, .end_record = end_record},
                      r->file.file_number) &&
        r->file.pending.size_bytes > 0 && (r->count > 0 || (r->file.is_created && diagnostics_status() == STATUS_FINE)))
        recording_write(&r->file);
    close_recording(r);
}

void command_record(const options *o)
{
    recording_state r = {.o = o};
    if (output_file_is_input(o)) /* it would grow while it is read, or be replaced */
        diagnostics_say(STATUS_USAGE, o->output_path, "is an input, to which the recording would be written");
    else if (o->source)
        record_files(&r);
    else
        record_machine(&r);
}
