/* SPDX-License-Identifier: MIT */
#include "live/windows/message.h"

#include "perfblock/name.h"

#include <stdio.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

void pfb_windows_message(uint32_t code, char *out, size_t capacity)
{
    WCHAR text[512];
    /* Replace line ends by spaces. Do not expand placeholders such as %1: there are no arguments. */
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
    DWORD units = FormatMessageW(flags, NULL, code, 0, text, sizeof text / sizeof text[0], NULL);
    while (units > 0 && (text[units - 1] <= L' ' || text[units - 1] == L'.'))
        units--;
    pfb_name message = pfb_utf16_name(text, units);
    if (units > 0)
        pfb_name_to_utf8(&message, out, capacity);
    else
        snprintf(out, capacity, "the system has no message for it");
}
