/* SPDX-License-Identifier: MIT */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include "output/text.h"

/* Frames on a terminal, each of which replaces the previous one. A frame is written by one call and leaves the
 * cursor visible below it, so the terminal stays usable even if the program ends without screen_leave(). */

/* Appends the control sequences and text that replace the last frame with `lines`. If not all lines fit, the last line
 * of the frame says how many are left out. */
void screen_compose(buffer *out, const buffer *lines);

/* Ends the frames. After an interrupt it appends the control sequences that make later output begin below the last
 * frame. */
void screen_leave(buffer *out);

#endif
