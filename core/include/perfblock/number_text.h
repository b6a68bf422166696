/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_NUMBER_TEXT_H
#define PERFBLOCK_NUMBER_TEXT_H

#include "perfblock/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* V1 blocks whose bytes are written as numbers in a text: the initialiser of an array, a JSON array, or a hex dump.
 * docs/v1.md has the grammar.
 *
 *     pfb_number_text text;
 *     uint8_t bytes[4096];
 *     size_t count;
 *     pfb_number_text_open(&text, data, size);
 *     for (size_t at = 0; (count = pfb_number_text_read(&text, data + at, size - at, true, bytes, sizeof bytes)) > 0;
 *          at += text.used)
 *         keep(bytes, count);
 *     if (text.error.code != PFB_OK)
 *         report(pfb_code_name(text.error.code), text.window_offset + text.error.offset);
 *
 * The text may be hostile: nothing outside of it is read, nothing is allocated, and the work is linear in its size. If
 * another thread changes the bytes meanwhile, the decoded bytes are unspecified but these guarantees hold. */

/* Decodes a text in memory, or window by window: a window is the part of the text that is in memory. Windows follow
 * each other without a gap and may have any size. Callers may read the fields above the line; those below are private.
 */
typedef struct pfb_number_text {
    pfb_error error;        /* the first failure; its offset counts from the start of the window */
    uint64_t window_offset; /* offset in the text of the window of the latest call */
    size_t used;            /* size of the part of this window that was decoded: the next window begins after it */
    /* ------------------------------------------------------------------------------------------ */
    bool is_dump;    /* numbers are two hexadecimal digits */
    bool is_hex;     /* the current number has the prefix 0x */
    uint8_t state;   /* what was read last */
    uint8_t bracket; /* the byte that closes the list; 0: the list has no brackets */
    uint8_t digits;  /* of the current number */
    uint8_t skipped; /* bytes to skip: of the byte order mark */
    uint16_t value;  /* the current number */
} pfb_number_text;

/* Returns true if the text begins with eight numbers that are the signature of a V1 block, little-endian or big-endian.
 * Reads at most the first 1024 bytes. */
PFB_API bool pfb_number_text_recognise(const void *data, size_t size);

/* Starts decoding a text that begins with these bytes, which are not decoded yet: pass them to pfb_number_text_read.
 * Returns false with PFB_UNKNOWN_FORMAT if they are not recognised. */
PFB_API bool pfb_number_text_open(pfb_number_text *text, const void *data, size_t size);

/* Decodes a window: writes the numbers to `out`, at most `capacity` of them, and sets `used`. Returns the number of
 * bytes written. If it is less than `capacity`, the window is used up or there is an error, and bytes before the error
 * are written. `is_last`: the text ends with this window. The error is PFB_BAD_NUMBER_LIST, at the first byte that the
 * grammar does not allow; at the end of the text if the closing bracket or a digit is missing. */
PFB_API size_t pfb_number_text_read(pfb_number_text *text, const void *data, size_t size, bool is_last, uint8_t *out,
                                    size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
