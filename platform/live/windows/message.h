/* SPDX-License-Identifier: MIT */
#ifndef PFB_MESSAGE_H
#define PFB_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the system's message for a Win32 code in UTF-8, in the user's language, on one line and without a final
 * period; or, in English, that the system has no message for it. Always writes a NUL. A message that does not fit is
 * cut between two characters. */
void pfb_windows_message(uint32_t code, char *out, size_t capacity);

#endif
