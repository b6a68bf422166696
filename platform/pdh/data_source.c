/* SPDX-License-Identifier: MIT */
#include "pdh/data_source.h"

#include "pdh/handles.h"
#include "perfblock/live.h"
#include "source/chosen.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- Real-time data ------------------------------------------------------------------------------------- */

/* Protected by the lock of handles.h. */
static struct {
    pdh_data_source *source; /* null until it is needed */
    pfb_pdh_open_function *open;
    void *context;
} real_time;

static pdh_data_source *new_source(void)
{
    pdh_data_source *source = calloc(1, sizeof *source);
    if (source && pfb_lock_init(&source->lock)) {
        source->users = 1;
        return source;
    }
    free(source);
    return NULL;
}

static void free_source(pdh_data_source *source)
{
    for (size_t i = 0; i < PDH_SIZINGS; i++)
        pfb_pdh_release_catalog(source->sizings[i].catalog);
    pfb_pdh_release_catalog(source->catalog);
    pfb_lock_destroy(&source->lock);
    free(source->files);
    free(source);
}

static pdh_data_source *make_real_time(void)
{
    const char *path = pfb_chosen_path(PFB_CHOSEN_CAPTURE);
    pdh_data_source *source = new_source();
    if (!source)
        return NULL;
    pfb_lock_acquire(&pfb_pdh_lock);
    source->open = real_time.open;
    source->context = real_time.context;
    pfb_lock_release(&pfb_pdh_lock);
    source->is_real_time = true;
    source->is_live = source->open || !path;
    if (!source->is_live) {
        source->files = pfb_pdh_copy(path, strlen(path));
        source->file_count = 1;
    }
    if (source->is_live || source->files)
        return source;
    free_source(source);
    return NULL;
}

pdh_data_source *pfb_pdh_real_time(uint32_t *code)
{
    pdh_data_source *made = NULL;
    pfb_lock_acquire(&pfb_pdh_lock);
    pdh_data_source *source = real_time.source;
    if (source)
        source->users++;
    pfb_lock_release(&pfb_pdh_lock);
    if (source)
        return source;
    made = make_real_time();
    pfb_lock_acquire(&pfb_pdh_lock);
    if (!real_time.source && made) {
        real_time.source = made;
        made->users++;
        source = made;
        made = NULL;
    } else if (real_time.source) {
        source = real_time.source;
        source->users++;
    }
    pfb_lock_release(&pfb_pdh_lock);
    if (made)
        free_source(made);
    *code = source ? *code : PDH_MEMORY_ALLOCATION_FAILURE;
    return source;
}

PDH_STATUS pfb_pdh_use(pfb_pdh_open_function *open, void *context)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    bool has_queries = pfb_pdh_has_queries();
    pdh_data_source *old = has_queries ? NULL : real_time.source;
    if (!has_queries) {
        real_time.source = NULL;
        real_time.open = open;
        real_time.context = context;
    }
    pfb_lock_release(&pfb_pdh_lock);
    pfb_pdh_release_source(old);
    return has_queries ? (PDH_STATUS)PDH_CANNOT_SET_DEFAULT_REALTIME_DATASOURCE : 0;
}

/* ---- Files ---------------------------------------------------------------------------------------------- */

pdh_data_source *pfb_pdh_open_files(char *names, size_t count, uint32_t *code)
{
    pdh_data_source *source = new_source();
    if (!source) {
        free(names);
        *code = PDH_MEMORY_ALLOCATION_FAILURE;
        return NULL;
    }
    source->files = names;
    source->file_count = count;
    pdh_catalog *catalog = pfb_pdh_catalog(source, PDH_CATALOG_ANY, code);
    if (catalog) {
        pfb_pdh_release_catalog(catalog);
        return source;
    }
    free_source(source);
    return NULL;
}

pdh_data_source *pfb_pdh_open_named(pdh_text name, uint32_t *code)
{
    if (!name.text)
        return pfb_pdh_real_time(code);
    char *copy = pfb_pdh_copy_text(name);
    if (copy && strncmp(copy, "SQL:", 4) == 0) {
        free(copy);
        *code = PDH_INVALID_DATASOURCE;
        return NULL;
    }
    return pfb_pdh_open_files(copy, 1, code);
}

void pfb_pdh_use_source(pdh_data_source *source)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    source->users++;
    pfb_lock_release(&pfb_pdh_lock);
}

void pfb_pdh_release_source(pdh_data_source *source)
{
    if (!source)
        return;
    pfb_lock_acquire(&pfb_pdh_lock);
    bool is_last = --source->users == 0;
    pfb_lock_release(&pfb_pdh_lock);
    if (is_last)
        free_source(source);
}

pfb_stream *pfb_pdh_open_stream(const pdh_data_source *source)
{
    pfb_source_failure failure = {.code = 0};
    pfb_stream *stream = source->files || source->is_live ? pfb_stream_new() : NULL;
    bool is_added = stream != NULL;
    const char *name = source->files;
    if (stream && source->is_live) {
        pfb_source *live = source->open ? source->open(source->context, &failure) : pfb_source_open_live(&failure);
        is_added = pfb_stream_set(stream, PFB_STREAM_INTERVAL, 1) == PFB_OK; /* a sample whenever one is asked for */
        is_added = pfb_stream_add_source(stream, live) >= 0 && is_added;
    }
    for (size_t i = 0; is_added && !source->is_live && i < source->file_count; i++, name += strlen(name) + 1)
        is_added = pfb_stream_add_file(stream, name) >= 0;
    if (is_added)
        return stream;
    pfb_stream_close(stream);
    return NULL;
}

/* ---- Catalogs ------------------------------------------------------------------------------------------- */

void pfb_pdh_release_catalog(pdh_catalog *catalog)
{
    if (!catalog)
        return;
    pfb_lock_acquire(&pfb_pdh_lock);
    bool is_last = --catalog->users == 0;
    pfb_lock_release(&pfb_pdh_lock);
    if (is_last)
        pfb_pdh_free_catalog(catalog);
}

static pdh_catalog *use_catalog(pdh_catalog *catalog)
{
    pfb_lock_acquire(&pfb_pdh_lock);
    catalog->users++;
    pfb_lock_release(&pfb_pdh_lock);
    return catalog;
}

/* Returns true with the next problem that is not a note. */
static bool next_failure(pfb_stream *stream, pfb_problem *problem)
{
    while (pfb_stream_problem(stream, problem)) {
        if (problem->kind != PFB_PROBLEM_NOTE)
            return true;
    }
    return false;
}

/* Prints why the recording in place of this machine has no catalog. */
static void report_capture(const pdh_data_source *source)
{
    pfb_stream *stream = pfb_pdh_open_stream(source);
    pfb_record record = {.size = sizeof record};
    pfb_problem problem = {.size = sizeof problem};
    int32_t next = PFB_NEXT_RECORD;
    bool is_found = !stream;
    while (!is_found && next == PFB_NEXT_RECORD) {
        next = pfb_stream_next(stream, &record);
        is_found = next_failure(stream, &problem);
    }
    pfb_chosen_report(PFB_CHOSEN_CAPTURE, source->files,
                      is_found && stream ? problem.sentence : "it has no counters that can be read");
    pfb_stream_close(stream);
}

/* The same while the lock of the source is held. */
static pdh_catalog *current_catalog(pdh_data_source *source, uint32_t age, uint32_t *code)
{
    const int64_t second = 10000000;
    pdh_catalog *old = source->catalog;
    int64_t now = pfb_pdh_now();
    bool is_recent = old && now >= old->made && now - old->made < second;
    bool is_enough = old && (!source->is_live || age == PDH_CATALOG_ANY || (age == PDH_CATALOG_RECENT && is_recent));
    if (is_enough)
        return use_catalog(old);
    pdh_catalog *made = pfb_pdh_make_catalog(pfb_pdh_open_stream(source), source->is_live, code);
    if (!made && source->is_real_time && !source->is_live && *code != PDH_MEMORY_ALLOCATION_FAILURE)
        report_capture(source);
    if (!made)
        return NULL;
    source->catalog = made;
    pfb_pdh_release_catalog(old);
    return use_catalog(made);
}

pdh_catalog *pfb_pdh_catalog(pdh_data_source *source, uint32_t age, uint32_t *code)
{
    pfb_lock_acquire(&source->lock);
    pdh_catalog *catalog = current_catalog(source, age, code);
    pfb_lock_release(&source->lock);
    return catalog;
}

pdh_catalog *pfb_pdh_list_catalog(pdh_data_source *source, bool is_sizing, bool is_refresh, uint64_t question,
                                  uint32_t *code)
{
    static _Thread_local char thread; /* its address is the number of the thread */
    pdh_catalog *catalog = NULL;
    pfb_lock_acquire(&source->lock);
    for (size_t i = 0; !is_sizing && i < PDH_SIZINGS && !catalog; i++) {
        pdh_sizing *sizing = &source->sizings[i];
        if (sizing->catalog && sizing->thread == &thread && sizing->question == question) {
            catalog = sizing->catalog;
            *sizing = (pdh_sizing){.catalog = NULL};
        }
    }
    if (!catalog)
        catalog = current_catalog(source, is_refresh ? PDH_CATALOG_NEW : PDH_CATALOG_RECENT, code);
    if (catalog && is_sizing) {
        size_t at = source->next_sizing++ % PDH_SIZINGS;
        for (size_t i = 0; i < PDH_SIZINGS; i++)
            if (source->sizings[i].thread == &thread && source->sizings[i].question == question)
                at = i;
        pdh_sizing *s = &source->sizings[at];
        pfb_pdh_release_catalog(s->catalog);
        *s = (pdh_sizing){&thread, question, use_catalog(catalog)};
    }
    pfb_lock_release(&source->lock);
    return catalog;
}
