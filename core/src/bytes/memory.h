/* SPDX-License-Identifier: MIT */
#ifndef PFB_MEMORY_H
#define PFB_MEMORY_H

/* The only functions that core imports. Declared here because a freestanding build has no <string.h>. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *left, const void *right, size_t size);

#endif
