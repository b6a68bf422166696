/* SPDX-License-Identifier: MIT */
/* Takes records. */
#include "collect/collector.h"
#include "select/code_page.h"
#include "select/memory.h"
#include "select/selection.h"
#include "stream/stream_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Opening --------------------------------------------------------------------------------------------- */

static void set_memory(pfb_collector *c, size_t max_bytes)
{
    c->formats[0].store.max_bytes = c->formats[1].store.max_bytes = c->ended.max_bytes = max_bytes;
}

/* Returns true if an option may have the value. */
static bool accepts(uint32_t option, int64_t value)
{
    static const struct {
        int64_t min, max;
    } ranges[] = {
        [PFB_COLLECT_STRICT] = {0, 1},
        [PFB_COLLECT_MEMORY] = {0, INT64_MAX},
        [PFB_COLLECT_IDENTITY] = {PFB_IDENTITY_PROCESS, PFB_IDENTITY_WINDOWS},
        [PFB_COLLECT_BIAS] = {INT64_C(-1440), INT64_C(1440)},
        [PFB_COLLECT_ENGLISH] = {0, 1},
        [PFB_COLLECT_CODE_PAGE] = {0, UINT32_MAX},
    };
    if (option == 0 || option >= sizeof ranges / sizeof ranges[0])
        return false;
    if (option == PFB_COLLECT_CODE_PAGE && value > 0 && !pfb_code_page_is_known((uint32_t)value))
        return false;
    return value >= ranges[option].min && value <= ranges[option].max;
}

uint32_t pfb_collector_set(pfb_collector *c, uint32_t option, int64_t value)
{
    if (!accepts(option, value))
        return PFB_CALLER_ARGUMENT;
    switch (option) {
    case PFB_COLLECT_STRICT:
        c->options.reader.is_strict = value == 1;
        break;
    case PFB_COLLECT_MEMORY:
        set_memory(c, (uint64_t)value < SIZE_MAX ? (size_t)value : SIZE_MAX);
        break;
    case PFB_COLLECT_IDENTITY:
        c->options.identity = (uint32_t)value;
        break;
    case PFB_COLLECT_BIAS:
        c->options.range.bias_minutes = (int32_t)value;
        break;
    case PFB_COLLECT_ENGLISH:
        c->options.language = value == 1 ? TITLE_ENGLISH : TITLE_LOCAL;
        c->choice_version++;
        break;
    default: /* PFB_COLLECT_CODE_PAGE */
        c->options.reader.code_page = (uint32_t)value;
    }
    return PFB_OK;
}

void pfb_collector_set_formula(pfb_collector *c, const pfb_formula_options *options)
{
    pfb_collect_end_sample(c);
    c->options.formula = options ? *options : (pfb_formula_options){.wrap32 = false};
    c->choice_version++;
}

bool pfb_collector_set_machine(pfb_collector *c, const char *name)
{
    size_t size = name ? strlen(name) + 1 : 0;
    char *copy = name ? malloc(size) : NULL;
    if (name && !copy)
        return false;
    if (name)
        memcpy(copy, name, size);
    pfb_collect_end_sample(c); /* its values refer to the old name */
    free(c->machine);
    c->machine = copy;
    c->choice_version++;
    return true;
}

void pfb_collect_free_records(pfb_collector *c)
{
    free(c->record_files);
    free(c->machine);
    free(c->kept_problems);
}

/* ---- Selection ------------------------------------------------------------------------------------------- */

bool pfb_collector_select(pfb_collector *c, const pfb_selection *selection)
{
    pfb_selection *copy = pfb_selection_copy(selection);
    if (!copy)
        return false;
    pfb_collect_end_sample(c);
    pfb_selection_close(c->selection);
    c->selection = copy;
    c->choice_version++;
    c->options.range = (time_range){.has_from = copy->from != INT64_MIN,
                                    .has_to = copy->to != INT64_MAX,
                                    .from = copy->from,
                                    .to = copy->to,
                                    .every = copy->every,
                                    .bias_minutes = c->options.range.bias_minutes};
    return true;
}

/* ---- Problems -------------------------------------------------------------------------------------------- */

/* Adds a problem, *kept; null if too many are kept. Returns false when memory is exhausted. */
static bool add_problem(pfb_collector *c, kept_problem **kept)
{
    enum { MAX_KEPT = 1000 };
    if (c->kept_taken == c->kept_count)
        c->kept_taken = c->kept_count = 0;
    *kept = NULL;
    if (c->kept_count >= MAX_KEPT)
        return true;
    if (!PFB_COLLECT_GROW(c->kept_problems, c->kept_capacity, c->kept_count + 1))
        return false;
    *kept = &c->kept_problems[c->kept_count++];
    return true;
}

/* Keeps a note about the cells of a text log that could not be read. Returns false when memory is exhausted. */
static bool keep_unreadable(pfb_collector *c, const record_file *file)
{
    kept_problem *kept = NULL;
    char line[64] = "";
    if (file->unreadable_cells > 0 && !add_problem(c, &kept))
        return false;
    if (!kept)
        return true;
    if (file->first_unreadable_line > 0)
        snprintf(line, sizeof line, ", the first in line %" PRIu64, file->first_unreadable_line);
    kept->problem = (pfb_problem){.kind = PFB_PROBLEM_NOTE, .file = file->file, .term = -1};
    snprintf(kept->sentence, sizeof kept->sentence, "%" PRIu64 " cells that are no numbers have no value%s",
             file->unreadable_cells, line);
    return true;
}

/* Returns true if a name has bytes above 127 in a code page that is not known. */
static bool is_undecoded(const pfb_name *name)
{
    const uint8_t *bytes = name->bytes;
    bool is_undecoded = false;
    for (size_t i = 0; bytes && i < name->size_bytes && !pfb_code_page_is_known(name->encoding) && !is_undecoded; i++)
        is_undecoded = bytes[i] >= 0x80;
    return is_undecoded;
}

/* Keeps a note about the first object of a file with names in a code page that is not known, if the current sample has
 * one. Returns false when memory is exhausted. */
static bool keep_code_page(pfb_collector *c, const pfb_record *record)
{
    record_file *file = &c->record_files[c->file];
    const pfb_sample *table = c->reply.is_sample && c->is_v1 && c->current ? &c->current->table : NULL;
    const pfb_sample_result *found = NULL;
    kept_problem *kept = NULL;
    for (uint32_t r = 0; table && r < table->counts.results && !file->has_unknown_code_page && !found; r++) {
        const pfb_sample_result *result = &table->results[r];
        uint32_t count = pfb_code_page_is_known(result->code_page) ? 0 : result->row_count;
        for (uint32_t i = 0; i < count && !found; i++)
            found = is_undecoded(&table->rows[result->first_row + i].name) ? result : NULL;
    }
    if (found && !add_problem(c, &kept))
        return false;
    if (!kept)
        return true;
    file->has_unknown_code_page = true;
    kept->problem = (pfb_problem){.kind = PFB_PROBLEM_NOTE, .file = record->file, .term = -1};
    snprintf(kept->sentence, sizeof kept->sentence,
             "the names of object %" PRIu32 " are in code page %" PRIu32
             ", which is not known: bytes above 127 are shown as U+FFFD unless --code-page names another one",
             found->title_index, found->code_page);
    return true;
}

/* Keeps a problem of a record, if there is one. Returns false when memory is exhausted. */
static bool keep_problem(pfb_collector *c, const pfb_record *record, pfb_error error, const char *what)
{
    kept_problem *kept = NULL;
    if (error.code != PFB_OK && !add_problem(c, &kept))
        return false;
    if (!kept)
        return true;
    kept->problem = (pfb_problem){.kind = PFB_PROBLEM_ERROR,
                                  .code = error.code,
                                  .file = record->file,
                                  .term = -1,
                                  .has_offset = true,
                                  .offset = c->stream ? pfb_stream_offset(c->stream, record, error.offset)
                                                      : record->offset + error.offset};
    snprintf(kept->sentence, sizeof kept->sentence, "%s%s%s", what, *what ? ": " : "", pfb_code_text(error.code));
    return true;
}

bool pfb_collector_take_problem(pfb_collector *c, pfb_problem *problem)
{
    if (c->kept_taken == c->kept_count)
        return false;
    kept_problem *kept = &c->kept_problems[c->kept_taken++];
    kept->problem.sentence = kept->sentence;
    pfb_collect_copy_out(problem, &kept->problem, sizeof kept->problem);
    return true;
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* Returns the position of the record's file or part in `files`, or of one that is not in use. */
static size_t find_file(const pfb_collector *c, const pfb_record *record)
{
    size_t free_place = c->record_file_count;
    if (c->file < c->record_file_count && c->record_files[c->file].is_open &&
        c->record_files[c->file].file == record->file && c->record_files[c->file].part == record->part)
        return c->file;
    for (size_t i = 0; i < c->record_file_count; i++) {
        const record_file *file = &c->record_files[i];
        if (file->is_open && file->file == record->file && file->part == record->part)
            return i;
        free_place = !file->is_open && free_place == c->record_file_count ? i : free_place;
    }
    return free_place;
}

/* Chooses the file of a record, and begins it if it was not begun. Returns false when memory is exhausted. */
static bool choose_file(pfb_collector *c, const pfb_record *record)
{
    size_t place = find_file(c, record);
    if (!PFB_COLLECT_GROW(c->record_files, c->record_file_capacity, place + 1) || !pfb_collect_choose_file(c, place))
        return false;
    if (place == c->record_file_count)
        c->record_files[c->record_file_count++] = (record_file){.is_open = false};
    record_file *file = &c->record_files[place];
    if (!file->is_open || record->kind == PFB_RECORD_BEGIN) {
        pfb_collect_begin_file(c);
        *file = (record_file){.is_open = true, .file = record->file, .part = record->part};
    }
    if (record->kind == PFB_RECORD_BEGIN && (record->flags & PFB_RECORD_HAS_BIAS)) {
        c->log.has_bias = true;
        c->log.bias_minutes = record->bias_minutes;
    }
    return true;
}

/* Ends the file of a record and forgets what belongs to it. Returns false when memory is exhausted. */
static bool end_file(pfb_collector *c, const pfb_record *record)
{
    size_t place = find_file(c, record);
    if (place == c->record_file_count || !c->record_files[place].is_open)
        return true;
    bool has_memory =
        pfb_collect_choose_file(c, place) && pfb_collect_end_file(c) && keep_unreadable(c, &c->record_files[place]);
    if (has_memory)
        pfb_collect_begin_file(c);
    c->record_files[place].is_open = !has_memory;
    return has_memory;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Puts a sample of a .blg with its V1 objects, which are one frame. Returns false when memory is exhausted. */
static bool put_log_sample(pfb_collector *c, const pfb_record *record)
{
    bool has_memory = pfb_collect_put_log(c, record);
    has_memory = has_memory && keep_problem(c, record, c->reply.error, "");
    if (!has_memory || !c->reply.is_sample)
        return has_memory;
    pfb_collect_begin_frame(c);
    do {
        has_memory = pfb_collect_extend_frame(c);
        if (!has_memory || !pfb_collect_next_object(c, &has_memory))
            break;
        has_memory = keep_problem(c, record, c->reply.error, "") && keep_code_page(c, record);
    } while (has_memory);
    return has_memory && pfb_collect_end_frame(c);
}

/* Counts the cells of the latest row that could not be read. */
static void count_unreadable(pfb_collector *c, const pfb_record *record)
{
    record_file *file = &c->record_files[c->file];
    if (c->reply.unreadable_cells > 0 && file->unreadable_cells == 0)
        file->first_unreadable_line = record->line;
    file->unreadable_cells += c->reply.unreadable_cells;
}

/* Puts a record of the chosen file. Returns false when memory is exhausted. */
static bool put_record(pfb_collector *c, const pfb_record *record)
{
    pfb_error error = {PFB_OK, 0};
    bool has_memory = true;
    char what[PFB_GUID_TEXT_BYTES + 64] = "";
    switch (record->kind) {
    case PFB_RECORD_REGISTRATION:
        has_memory = pfb_collect_put_registration(c, record, &error);
        memcpy(what, "counterset ", sizeof "counterset ");
        pfb_guid_format(&record->set, what + strlen(what));
        snprintf(what + strlen(what), sizeof what - strlen(what), ", request %" PRIu32, record->request);
        break;
    case PFB_RECORD_QUERY_INFO:
        has_memory = pfb_collect_put_query_info(c, record, &error);
        break;
    case PFB_RECORD_NAMES:
        has_memory = pfb_collect_put_names(c, record, &error);
        break;
    case PFB_RECORD_PATHS:
        has_memory = record->form.separator ? pfb_collect_put_text_paths(c, record) : pfb_collect_put_log(c, record);
        error = c->reply.error;
        break;
    case PFB_RECORD_LOG:
        return put_log_sample(c, record);
    case PFB_RECORD_V1:
    case PFB_RECORD_V2:
        has_memory =
            pfb_collect_put_reply(c, record->kind == PFB_RECORD_V1, record->bytes, (size_t)record->byte_count) &&
            keep_code_page(c, record) && pfb_collect_make_frame(c);
        error = c->reply.error;
        break;
    case PFB_RECORD_ROW:
        has_memory = pfb_collect_put_row(c, record);
        count_unreadable(c, record);
        error = c->reply.error;
        break;
    default:
        break;
    }
    return has_memory && keep_problem(c, record, error, what);
}

int32_t pfb_collector_put(pfb_collector *c, const pfb_record *record)
{
    c->frame.is_current = false;
    if (record->byte_count > SIZE_MAX)
        return -1;
    bool has_memory =
        record->kind == PFB_RECORD_END ? end_file(c, record) : choose_file(c, record) && put_record(c, record);
    if (!has_memory) {
        pfb_collect_end_sample(c);
        pfb_collect_forget_frame(c); /* it has no identifier of its layout yet */
    }
    return !has_memory ? -1 : c->frame.is_current;
}

int32_t pfb_collector_read(pfb_collector *c, pfb_stream *stream)
{
    pfb_record record = {.size = sizeof record};
    int32_t next = PFB_NEXT_RECORD;
    int32_t put = 0;
    if (c->selection && !stream->selection && !pfb_stream_select(stream, c->selection))
        return PFB_NEXT_FAILED;
    c->stream = stream;
    while (put == 0 && (next = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD)
        put = pfb_collector_put(c, &record);
    c->stream = NULL;
    return put < 0 ? PFB_NEXT_FAILED : next;
}
