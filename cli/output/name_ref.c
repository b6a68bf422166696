/* SPDX-License-Identifier: MIT */
#include "output/name_ref.h"

#include "output/code_page.h"
#include "perfblock/v1.h"

name_ref name_ref_utf16(const uint8_t *utf16, size_t units)
{
    return (name_ref){utf16, 2 * units, PFB_CODE_PAGE_UTF16LE};
}

void name_ref_text(buffer *out, name_ref name)
{
    if (name.bytes)
        code_page_text(out, name.code_page, name.bytes, name.size);
}

void name_ref_cut(buffer *out, name_ref name, size_t most)
{
    size_t size = 0;
    for (size_t i = 0; i < most && size < name.size; i++)
        size += code_page_character(name.code_page, name.bytes + size, name.size - size);
    bool is_cut = size < name.size;
    name.size = size;
    name_ref_text(out, name);
    if (is_cut)
        buffer_string(out, "\xE2\x80\xA6");
}
