/* SPDX-License-Identifier: MIT */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include "output/text.h"

/* Pictures on a terminal, each of which replaces the one before. A picture is one write that leaves the cursor visible
 * and below it, so the terminal stays usable whatever ends the program. */

/* Appends what makes the terminal replace the last picture with `lines`: as many as fit, and the number of the others.
 */
void screen_compose(buffer *out, const buffer *lines);

/* Appends what makes the terminal continue below the last picture. */
void screen_leave(buffer *out);

#endif
