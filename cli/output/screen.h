/* SPDX-License-Identifier: MIT */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include "output/text.h"

/* Pictures on a terminal, each of which replaces the previous one. A picture is written by one call and leaves the
 * cursor visible below it, so the terminal stays usable if the program ends at any moment. */

/* Appends the control sequences and text that replace the last picture with `lines`. Lines that do not fit are replaced
 * by one line with their number. */
void screen_compose(buffer *out, const buffer *lines);

/* Ends the pictures. After an interrupt it appends what makes the terminal continue below the last one. */
void screen_leave(buffer *out);

#endif
