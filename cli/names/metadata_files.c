/* SPDX-License-Identifier: MIT */
#include "names/metadata_files.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/metadata.h"

#include <stdlib.h>

/* Opens a file of --registration. Only a reply of request code 1 contains the GUID of its counterset. The GUID is kept
 * in *set for the replies of other codes that follow on the command line. *has_set: *set is a valid GUID. */
static void open_registration(metadata_file *file, const registration_option *option, pfb_guid *set, bool *has_set,
                              const pfb_read_options *reader)
{
    pfb_registration registration;
    file->request = option->request;
    if (option->request == PFB_REQUEST_COUNTERSET)
        *has_set = false; /* if the file cannot be read, the replies that follow it have no counterset */
    if (!input_read(&file->in, option->path, INPUT_REGISTRATION))
        return;
    if (option->request == PFB_REQUEST_COUNTERSET) {
        *has_set = pfb_registration_open(&registration, file->in.data, file->in.size, reader);
        *set = registration.guid;
        if (!*has_set)
            diagnostics_malformed(option->path, registration.error);
    } else if (!*has_set) {
        diagnostics_say(STATUS_USAGE, option->path,
                        "has no counterset: give the --registration of its counterset with code 1 before it");
    }
    file->set = *set;
    if (!*has_set)
        input_free(&file->in);
}

void metadata_files_open(metadata_files *m, const options *o)
{
    pfb_guid set = {{0}};
    bool has_set = false;
    *m = (metadata_files){.files = memory_get(o->registration_count + 1, sizeof *m->files)};
    for (size_t i = 0; i < o->registration_count; i++) {
        metadata_file *file = &m->files[m->count++];
        *file = (metadata_file){.request = 0};
        open_registration(file, &o->registrations[i], &set, &has_set, &o->reader);
    }
    if (o->query_info) {
        metadata_file *file = &m->files[m->count++];
        *file = (metadata_file){.request = 0};
        input_read(&file->in, o->query_info, INPUT_IDENTIFIERS);
    }
}

void metadata_files_close(metadata_files *m)
{
    for (size_t i = 0; i < m->count; i++)
        input_free(&m->files[i].in);
    free(m->files);
    *m = (metadata_files){.files = NULL};
}

pfb_chunk metadata_file_chunk(const metadata_file *file)
{
    return (pfb_chunk){.tag = file->request > 0 ? PFB_TAG_REGISTRATION : PFB_TAG_QUERY_INFO,
                       .guid = file->set,
                       .request = file->request};
}

bool metadata_files_have(const metadata_files *m, const pfb_chunk *chunk)
{
    bool has_it = false;
    for (size_t i = 0; i < m->count && !has_it; i++) {
        const pfb_chunk own = metadata_file_chunk(&m->files[i]);
        has_it = m->files[i].in.data && own.tag == chunk->tag && own.request == chunk->request &&
                 pfb_guid_equal(&own.guid, &chunk->guid);
    }
    return has_it;
}

void metadata_files_put(metadata_files *m, pfb_collector *collector)
{
    for (size_t i = 0; i < m->count; i++) {
        const metadata_file *file = &m->files[i];
        pfb_error error = {PFB_OK, 0};
        bool has_memory = true;
        if (!file->in.data)
            continue;
        if (file->request > 0)
            has_memory = pfb_collector_put_registration(collector, &file->set, file->request, file->in.data,
                                                        file->in.size, &error, NULL);
        else
            has_memory = pfb_collector_put_query_info(collector, file->in.data, file->in.size, &error, NULL);
        if (!has_memory)
            memory_exhausted();
        if (error.code != PFB_OK && !m->is_reported)
            diagnostics_malformed(file->in.name, error);
    }
    m->is_reported = true;
}
