/* SPDX-License-Identifier: MIT */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends one chunk to the capture at `path`, which begins here when there is none. False after a sentence. */
bool recording_store(const char *path, uint32_t tag, const void *body, size_t size);

#endif
