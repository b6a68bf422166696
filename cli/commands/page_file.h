/* SPDX-License-Identifier: MIT */
#ifndef CLI_PAGE_FILE_H
#define CLI_PAGE_FILE_H

#include "input/options.h"

/* The destination of the page of `report` or `explain`: the file of --output, or standard output. */

/* Opens it. Returns false after an error message if the file is one of the inputs. */
bool page_file_open(const options *o);

/* Closes it, and opens it in a browser for --open. */
void page_file_close(const options *o, output *out);

#endif
