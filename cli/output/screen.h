/* SPDX-License-Identifier: MIT */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include "output/text.h"

/* Pictures on a terminal, each in the place of the one before. A picture goes out in one write that leaves the cursor
 * visible and below it, so that nothing has to be put right whatever ends the program. */

/* What makes the terminal show whole lines of text in place of the last picture: as many of them as there is room for,
 * and how many are missing. */
void screen_compose(buffer *out, const buffer *lines);

/* What makes it go on below the last picture. */
void screen_leave(buffer *out);

#endif
