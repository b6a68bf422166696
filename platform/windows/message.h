/* SPDX-License-Identifier: MIT */
#ifndef PFB_MESSAGE_H
#define PFB_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* The system's message for a Win32 code in UTF-8, in the language of the user, on one line and without a final dot.
 * Always ends with NUL; cut between two characters when it is too long. */
void pfb_windows_message(uint32_t code, char *out, size_t capacity);

#endif
