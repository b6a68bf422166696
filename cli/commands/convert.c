/* SPDX-License-Identifier: MIT */
#include "commands/convert_files.h"

#include "commands.h"
#include "commands/output_file.h"

typedef struct capture_output {
    const options *o;
    output out;
    bool is_open;
} capture_output;

/* Opens the output when the first chunk is written, so that an input that cannot be read does not replace an existing
 * file. */
static bool write_capture(void *context, const void *bytes, size_t byte_count)
{
    capture_output *c = context;
    c->is_open = c->is_open || output_file_open(c->o);
    if (c->is_open)
        output_raw(&c->out, bytes, byte_count);
    return c->is_open && !output_failed(&c->out);
}

void command_convert(const options *o)
{
    capture_output c = {.o = o};
    output_open(&c.out, OUTPUT_TEXT, false);
    convert_files(o, &(recording_target){.context = &c, .write = write_capture}, -1);
    output_file_close(o, &c.out);
}
