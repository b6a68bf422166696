/* SPDX-License-Identifier: MIT */
#ifndef PFB_MEMORY_H
#define PFB_MEMORY_H

/* The only functions that core imports. Declared here because a freestanding build has no <string.h>. */
#include <stddef.h>

void *memcpy(void *restrict target, const void *restrict source, size_t size);
void *memmove(void *target, const void *source, size_t size);
void *memset(void *target, int byte, size_t size);
int memcmp(const void *left, const void *right, size_t size);

#endif
