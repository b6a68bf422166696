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

static void report_error(const char *file, size_t base, pfb_error error)
{
    error.offset += base;
    if (error.code != PFB_OK)
        diagnostics_malformed(file, error);
}

size_t v1_report_errors(const char *file, size_t base, const uint8_t *data, size_t size,
                        const pfb_read_options *options)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_open(&block, data, size, options);
    report_error(file, base, block.error);
    if (block.total_size_bytes == 0) /* the header is malformed */
        return 0;
    while (pfb_v1_next_object(&block, &object)) {
        read_object(&block);
        report_error(file, base, block.object_error);
    }
    report_error(file, base, block.end_error);
    return block.total_size_bytes;
}
