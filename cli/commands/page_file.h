/* SPDX-License-Identifier: MIT */
#ifndef CLI_PAGE_FILE_H
#define CLI_PAGE_FILE_H

#include "input/options.h"

/* Where the page of `report` or `explain` goes: to the file of --output, or to standard output. */

/* Opens it. False, and a line on standard error, where the file is one of the inputs. */
bool page_file_open(const options *o);

/* Closes it, and opens it in a browser for --open. */
void page_file_close(const options *o, output *out);

#endif
