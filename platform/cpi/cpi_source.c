/* SPDX-License-Identifier: MIT */
#include "cpi/cpi_source_private.h"

#include <stdlib.h>

/* ---- Helpers for implementations --------------------------------------------------------------------------- */

bool pfb_cpi_fail(pfb_cpi_failure *failure, int code, const char *format, ...)
{
    if (!failure)
        return false;
    failure->code = code;
    va_list arguments;
    va_start(arguments, format);
    pfb_source_format_sentence(failure->sentence, sizeof failure->sentence, format, arguments);
    va_end(arguments);
    return false;
}

bool pfb_cpi_fail_memory(pfb_cpi_failure *failure)
{
    return pfb_cpi_fail(failure, PFB_PU_ERROR_NOT_ENOUGH_MEMORY, "memory is exhausted");
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

struct pfb_cpi_source {
    const pfb_cpi_source_operations *operations;
    void *context;
};

struct pfb_cpi_reader {
    const pfb_cpi_source_operations *operations;
    void *reader;
};

pfb_cpi_source *pfb_cpi_source_make(const pfb_cpi_source_operations *operations, void *context,
                                    pfb_cpi_failure *failure)
{
    pfb_cpi_source *source = malloc(sizeof *source);
    if (!source) {
        operations->close(context);
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    *source = (pfb_cpi_source){.operations = operations, .context = context};
    return source;
}

void pfb_cpi_source_close(pfb_cpi_source *source)
{
    if (!source)
        return;
    source->operations->close(source->context);
    free(source);
}

/* ---- Dispatch ------------------------------------------------------------------------------------------------ */

/* Clears the failure after a success: an implementation may have filled it in when an attempt was refused, before
 * another attempt succeeded. */
static void clear_failure(pfb_cpi_failure *failure)
{
    if (!failure)
        return;
    failure->code = PFB_PU_SUCCESS;
    failure->sentence[0] = '\0';
}

pfb_cpi_reader *pfb_cpi_reader_open(pfb_cpi_source *source, uint32_t mode, pfb_cpi_failure *failure)
{
    pfb_cpi_reader *reader = malloc(sizeof *reader);
    if (!reader) {
        pfb_cpi_fail_memory(failure);
        return NULL;
    }
    if (mode & PFB_CPI_THREAD_ONLY)
        mode |= PFB_CPI_ON_THREAD;
    *reader = (pfb_cpi_reader){.operations = source->operations,
                               .reader = source->operations->reader_open(source->context, mode, failure)};
    if (!reader->reader) {
        free(reader);
        return NULL;
    }
    clear_failure(failure);
    return reader;
}

void pfb_cpi_reader_close(pfb_cpi_reader *reader)
{
    if (!reader)
        return;
    reader->operations->reader_close(reader->reader);
    free(reader);
}

bool pfb_cpi_reader_read(pfb_cpi_reader *reader, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                         pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    *reading = (pfb_cpi_reading){.snapshot = {.cpus = cpus}};
    if (!reader->operations->read(reader->reader, moment, cpus, capacity, reading, failure))
        return false;
    clear_failure(failure);
    return true;
}

bool pfb_cpi_reader_unhalted(const pfb_cpi_reader *reader, size_t position, uint64_t *cycles)
{
    return reader->operations->unhalted(reader->reader, position, cycles);
}
