/* SPDX-License-Identifier: MIT */
#include "names/v1.h"

#include "output/diagnostics.h"

/* Reads the rest of the object, so that object_error also covers its counters and instances. pfb_v1_next_object()
 * checks them as well, but then object_error is that of the next object. */
static void read_object(pfb_v1_reader *block)
{
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    while (pfb_v1_next_counter(block, &counter))
        continue;
    while (pfb_v1_next_instance(block, &instance))
        continue;
}

static void report_error(const char *file, const pfb_stream *stream, const pfb_record *record, pfb_error error)
{
    if (error.code != PFB_OK)
        diagnostics_input(file, pfb_stream_offset(stream, record, error.offset), pfb_code_name(error.code), "%s",
                          pfb_code_text(error.code));
}

void v1_report_errors(const char *file, const pfb_stream *stream, const pfb_record *record,
                      const pfb_read_options *options)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_open(&block, record->bytes, (size_t)record->byte_count, options);
    report_error(file, stream, record, block.error);
    if (block.total_size_bytes == 0) /* the header is malformed */
        return;
    while (pfb_v1_next_object(&block, &object)) {
        read_object(&block);
        report_error(file, stream, record, block.object_error);
    }
    report_error(file, stream, record, block.end_error);
}
