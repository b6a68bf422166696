/* SPDX-License-Identifier: MIT */
#include "output/name.h"

#include "perfblock/code_page.h"

#include <stdbool.h>

/* Writes a name as UTF-8 to reserved memory, at *at. Returns its size; the caller commits it. */
static size_t put_name(buffer *out, const pfb_name *name, char **at)
{
    size_t size = pfb_code_page_to_utf8(name, NULL, 0);
    *at = buffer_reserve(out, size);
    pfb_code_page_to_utf8(name, *at, size + 1);
    return size;
}

void name_text(buffer *out, pfb_name name)
{
    char *at;
    if (name.bytes)
        buffer_commit(out, put_name(out, &name, &at));
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

void name_cut(buffer *out, pfb_name name, size_t max_characters)
{
    enum { LONGEST_CHARACTER = 4 }; /* bytes, in any encoding */
    char *at;
    if (!name.bytes)
        return;
    if (name.size_bytes / LONGEST_CHARACTER > max_characters)
        name.size_bytes = LONGEST_CHARACTER * (max_characters + 1);
    size_t size = put_name(out, &name, &at);
    size_t end = 0;
    for (size_t count = 0; end < size && (is_continuation(at[end]) || count++ < max_characters);)
        end++;
    buffer_commit(out, end);
    if (end < size)
        buffer_string(out, "\xE2\x80\xA6");
}
