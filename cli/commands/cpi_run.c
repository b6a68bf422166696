/* SPDX-License-Identifier: MIT */
#include "collect/recording.h"
#include "commands.h"
#include "commands/cpi_readings.h"
#include "commands/cpi_result.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "visitor/visitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One measurement. */
typedef struct run {
    const options *o;
    const char *file;    /* of --source; null: this machine */
    const char *subject; /* for messages: "live", or the name of the file */
    /* The steps of the file of --source at the start and the end of the interval, indexed by pfb_cpi_moment; the end of
     * the file if it has fewer steps. */
    visit_step moments[2];
    cpi_readings readings;
    cpi_result result;
    recording stored; /* the file of -o */
    uint8_t *hooks;   /* the body of its chunk of hooks; null without -o */
} run;

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

static void put_lower(buffer *out, const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        char lower = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
        buffer_bytes(out, &lower, 1);
    }
}

/* Reports a failure of the CPI facility (perfblock/cpi_facility.h). If this machine refuses, or the file of --source
 * has a recorded refusal, the exit status is 4. Any other failure with a file is an error in the file, with status 1.
 */
static void report_failure(const run *r, pfb_cpi_moment moment, int code, const char *sentence)
{
    const pfb_cpi_code *row = pfb_cpi_code_find(code);
    buffer name = {0};
    put_lower(&name, pfb_cpi_rc_to_string(code));
    if (*sentence == '\0')
        sentence = row ? row->text : "for an unknown reason";
    if (r->file && !r->moments[moment].is_refusal) {
        buffer safe = {0};
        text_safe(&safe, sentence, strlen(sentence));
        diagnostics_input(r->subject, r->moments[moment].offset, name.data, "%s", safe.data);
        buffer_free(&safe);
    } else {
        diagnostics_say(STATUS_IMPOSSIBLE, r->subject, "%s: %s", name.data, sentence);
    }
    buffer_free(&name);
}

/* ---- The source -------------------------------------------------------------------------------------------------- */

/* Reads the file of --source to its end to find its errors, and stores where the first two steps are. They may be in
 * different texts of a capture. Returns false after an error, which was reported. */
static bool scan_steps(run *r, input *in)
{
    output no_output;
    output_open(&no_output, OUTPUT_NONE, false);
    visitor v = {.in = in, .out = &no_output, .options = &r->o->reader};
    bool has_any = visit_kind(&v, INPUT_SNAPSHOTS, "CPI snapshots");
    for (size_t i = 0; i < 2; i++)
        r->moments[i] = v.counts.steps > i ? v.first_steps[i] : (visit_step){.offset = in->size};
    if (v.first.code != PFB_OK)
        diagnostics_malformed(r->subject, v.first);
    return has_any && v.first.code == PFB_OK;
}

/* Opens the file of --source. Returns null after a message. */
static pfb_cpi_source *open_fixture(run *r)
{
    input in;
    pfb_cpi_failure failure = {0};
    pfb_cpi_source *source = NULL;
    if (!input_read(&in, r->file, INPUT_AUTO))
        return NULL;
    if (scan_steps(r, &in)) {
        source = pfb_cpi_source_open_fixture(in.data, in.size, &failure);
        if (!source)
            report_failure(r, PFB_CPI_AT_START, failure.code, failure.sentence);
    }
    input_free(&in);
    return source;
}

static pfb_cpi_source *open_live(run *r)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_source *source = pfb_cpi_source_open_live(&failure);
    if (!source)
        report_failure(r, PFB_CPI_AT_START, failure.code, failure.sentence);
    return source;
}

/* Makes the facility read from the source that the options name, through a source that stores the readings. Returns
 * false after a message. */
static bool use_source(run *r)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_source *inner = r->file ? open_fixture(r) : open_live(r);
    if (!inner)
        return false;
    pfb_cpi_source *source = cpi_readings_source(inner, &r->readings, &failure);
    if (!source) {
        report_failure(r, PFB_CPI_AT_START, failure.code, failure.sentence);
        return false;
    }
    int code = pfb_cpi_use_source(source);
    if (code != PFB_PU_SUCCESS) {
        report_failure(r, PFB_CPI_AT_START, code, pfb_cpi_last_error_text());
        pfb_cpi_source_close(source);
    }
    return code == PFB_PU_SUCCESS;
}

/* ---- The measurement --------------------------------------------------------------------------------------------- */

/* The largest group of hooks has 74448 bytes: a summary hook and the detailed hooks of 1024 CPUs between two labels. */
enum { TRACE_BYTES = 1 << 17 };

/* Writes a chunk with the readings, from which the interval can be replayed, and one with the hooks, if any. */
static void store(run *r)
{
    size_t used = 0;
    buffer text = {0};
    cpi_readings_write(&r->readings, &text);
    if (text.size > 0) {
        recording_put(&r->stored, &(pfb_chunk){.tag = PFB_TAG_SNAPSHOTS}, text.data, text.size);
        if (pfb_cpi_get_trace_size(r->result.handle, &used, NULL) == PFB_PU_SUCCESS && used > 0)
            recording_put(&r->stored, &(pfb_chunk){.tag = PFB_TAG_HOOKS}, r->hooks, used);
        recording_write_together(&r->stored);
    }
    buffer_free(&text);
}

/* Prints a note if the command failed. That does not change the exit status of perfblock. */
static void note_ending(const run *r)
{
    const system_ending *ending = &r->result.ending;
    if (ending->number != 0)
        diagnostics_say(STATUS_FINE, r->o->files[0], "ended %s %lu", ending->is_signal ? "by signal" : "with status",
                        (unsigned long)ending->number);
}

/* Ends the interval. Requests hooks only if they are stored: pfb_cpi_get_and_trace() fails for figures that cannot be
 * written as hooks, but such figures can still be printed. */
static int end_interval(const run *r, const pfb_cpi_data **data)
{
    const options *o = r->o;
    if (!r->hooks)
        return pfb_cpi_get(r->result.handle, data);
    pfb_cpi_attach_trace_buffer(r->result.handle, r->hooks, TRACE_BYTES);
    return pfb_cpi_get_and_trace(r->result.handle, (int)o->minor, PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED,
                                 o->label, data);
}

/* Ends the interval, prints its result and stores it. The facility may have computed figures even if it reports an
 * error: they are printed before the error. */
static void get_result(run *r)
{
    const options *o = r->o;
    output out;
    const pfb_cpi_data *data = NULL;
    int code = end_interval(r, &data);
    buffer sentence = {0};
    buffer_string(&sentence, pfb_cpi_last_error_text()); /* copied, because the next call overwrites it */
    output_open(&out, o->format, options_color(o));
    if (data && pfb_cpi_get_details(r->result.handle, &r->result.details) == PFB_PU_SUCCESS)
        cpi_result_print(&out, &r->result);
    output_close(&out);
    if (code != PFB_PU_SUCCESS)
        report_failure(r, PFB_CPI_AT_END, code, sentence.data);
    buffer_free(&sentence);
    if (r->hooks)
        store(r);
}

/* Runs the command between the two readings. With JSON the standard output of the command goes to standard error, so
 * that the standard output of perfblock has only records. */
static void measure(run *r)
{
    const options *o = r->o;
    int code = pfb_cpi_init(PFB_CPI_RAW | PFB_CPI_SCALED, &r->result.handle);
    if (code != PFB_PU_SUCCESS) {
        report_failure(r, PFB_CPI_AT_START, code, pfb_cpi_last_error_text());
        return;
    }
    if (system_run(o->files, o->format == OUTPUT_JSON, &r->result.ending)) {
        get_result(r);
        note_ending(r);
    } else {
        diagnostics_file(o->files[0], errno);
    }
    pfb_cpi_terminate(r->result.handle);
}

static void measure_and_store(run *r)
{
    if (!recording_open(&r->stored))
        return;
    r->hooks = memory_get(TRACE_BYTES, 1);
    measure(r);
    recording_close(&r->stored);
    free(r->hooks);
}

void command_cpi_run(const options *o)
{
    const char *source = o->source_count > 0 ? o->sources[0] : INPUT_LIVE;
    run r = {.o = o,
             .file = strcmp(source, INPUT_LIVE) != 0 ? source : NULL,
             .subject = source,
             .stored = {.path = o->output_path, .is_replaced = o->is_forced}};
    if (r.file && o->output_path && system_names_same(r.file, o->output_path)) {
        diagnostics_say(STATUS_USAGE, o->output_path, "is an input, to which the hooks would be written");
        return;
    }
    if (system_is_batch(o->files[0])) {
        diagnostics_say(STATUS_FILE, o->files[0], "is a batch file: run it with cmd /c");
        return;
    }
    if (use_source(&r)) {
        if (o->output_path)
            measure_and_store(&r);
        else
            measure(&r);
        pfb_cpi_use_source(NULL);
    }
    cpi_readings_free(&r.readings);
}
