/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_FORMATS_H
#define PFB_STREAM_FORMATS_H

/* The formats of files: how they are recognised and read. */
#include "stream/window.h"

typedef struct file_input file_input;

/* How a format is read. The first function is called at the start of the file, when the window has its first bytes. */
typedef struct stream_format {
    /* Opens the file. PFB_NEXT_RECORD: it is open, and `begin` of the file has what the first record says besides the
     * kind. PFB_NEXT_END: it cannot be read; a problem was reported unless reading was stopped. */
    int32_t (*open)(file_input *file);

    /* Stores the next record in *record. PFB_NEXT_END: the file has ended, or cannot be read further; problems were
     * reported. */
    int32_t (*next)(file_input *file, pfb_record *record);

    void (*close)(file_input *file); /* frees what the state has; may be null */

    /* The offset in the file of a byte of the latest record; null if records are in the file as they are. */
    uint64_t (*offset)(const file_input *file, const pfb_record *record, uint64_t at);

    size_t state_bytes;
    bool has_parts; /* `next` returns the ends of all parts, and the begins of all but the first */
} stream_format;

extern const stream_format pfb_format_capture, pfb_format_v1, pfb_format_v2, pfb_format_numbers, pfb_format_log,
    pfb_format_text, pfb_format_samples;

/* Describes a text log in another form, which pfb_format_samples reads; null if the file is none. */
const char *pfb_format_samples_recognise(const uint8_t *data, size_t available);

/* What a file is. */
typedef struct recognised_format {
    const stream_format *format; /* null: it cannot be read */
    const char *description;     /* completes "the file ..."; static */
    uint32_t kind;               /* as pfb_stream_recognise returns it */
} recognised_format;

/* Recognises the format by the first `available` bytes of a file of `file_size` bytes. Examines a bounded number of
 * them, and in addition all zeros at the start. */
recognised_format pfb_format_recognise(const uint8_t *data, size_t available, uint64_t file_size);

/* Returns true if the format is known, whatever follows these bytes. */
bool pfb_format_is_certain(const uint8_t *data, size_t available);

/* Returns true for bytes, or none, with which a recording begins, but too few to recognise it: a recorder may have
 * written so many until now. */
bool pfb_format_is_begun(const uint8_t *data, size_t available);

/* Returns the format of a file that has records of this kind: PFB_RECORD_V1, as bytes or as numbers, _V2, a recording
 * for PFB_RECORD_BEGIN, or that of a log. */
const stream_format *pfb_format_of_kind(uint32_t kind, const uint8_t *data, size_t available);

/* A file that is read. */
struct file_input {
    stream_input *input;
    pfb_input given; /* what the caller has added; `label` is that of the input */
    byte_source bytes;
    stream_window window;
    const stream_format *format;
    void *state;                    /* of the format */
    pfb_record begin;               /* its flags and bias_minutes */
    uint32_t part;                  /* of the latest record, counted from first_part */
    uint32_t first_part, next_part; /* they grow when a followed file is opened again */
    bool has_source, has_begun, has_ended;
    bool is_reopened; /* it is being opened again */
    bool
        is_incomplete; /* the file is malformed or has chunks of a later version, so a lack of samples is no surprise */
};

/* Reports that the file is malformed at an offset in its window. Nothing if the code is PFB_OK. */
void pfb_file_malformed(file_input *file, uint64_t offset, pfb_code code);

/* Reports that the bytes from an offset of the file on belong to no block: an error in strict mode. */
void pfb_file_trailing(file_input *file, uint64_t offset);

/* Notes how many parts of a text were lost, and the line of the first one; nothing if there are none. */
void pfb_file_lost(file_input *file, uint64_t count, uint64_t line, const char *what);

/* Reads all of a file with metadata. PFB_NEXT_RECORD: *bytes are valid until the stream is closed; PFB_NEXT_END: they
 * cannot be read, a problem was reported. */
int32_t pfb_file_read_all(stream_input *input, const uint8_t **bytes, size_t *size);

/* What the caller has added as this input, which is a file. */
const pfb_input *pfb_file_given(const stream_input *input);

#endif
