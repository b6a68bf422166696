/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_STREAM_H
#define PERFBLOCK_STREAM_H

#include "perfblock/sample.h"
#include "perfblock/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any input as one sequence of records: recordings (.pfb), V1 blocks (also as numbers in a text), V2 replies, perfmon
 * logs (.blg, CSV, TSV), one file or many, pipes, memory, and sources. docs/stream.md describes what is read how.
 *
 *     pfb_stream *stream = pfb_stream_new();
 *     pfb_stream_add_file(stream, "day.blg");
 *     while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD)
 *         ...                                         (or pfb_collector_read of collect.h, which returns values)
 *     while (pfb_stream_problem(stream, &problem))
 *         fprintf(stderr, "%s\n", problem.sentence);
 *     pfb_stream_close(stream);
 *
 * Handles are opaque; each is used by one thread at a time, different ones are independent. Close functions accept
 * null. The caller sets `size` of a struct to its sizeof; later versions only append members. Texts are UTF-8, times
 * 100 ns since 1601-01-01. */

typedef struct pfb_stream pfb_stream;
typedef struct pfb_selection pfb_selection;

/* ---- Problems -------------------------------------------------------------------------------------------- */

enum {
    PFB_PROBLEM_NOTE = 0,  /* tolerated or left out; nothing that was read is wrong */
    PFB_PROBLEM_ERROR = 1, /* the input is malformed: `code` */
    PFB_PROBLEM_FILE = 2,  /* a file cannot be read, or a source failed: `system` */
    PFB_PROBLEM_NAME = 3,  /* metadata without its counterset, or a name table among the files; of a source, a term of
                            * the selection that matches nothing. In files, terms may match nothing */
    PFB_PROBLEM_MEMORY = 4 /* memory is exhausted; or, with `code` and `offset`, the budget of PFB_STREAM_MEMORY */
};

/* What went wrong, and where. Problems are a queue: one record may have several, each is returned once. If the caller
 * takes none, at most 4096 are kept. */
typedef struct pfb_problem {
    uint32_t size;
    uint32_t kind;   /* PFB_PROBLEM_ */
    uint32_t code;   /* pfb_code; PFB_OK: none */
    uint32_t system; /* Win32 code; 0: none */
    uint32_t file;   /* number of the file; PFB_NONE: none */
    int32_t term;    /* of the selection; -1: none */
    uint32_t has_offset;
    uint64_t offset;      /* of the field to blame in the file, 64 bits on every system */
    const char *sentence; /* for users: what failed or was left out; no final period. Valid until the next call */
} pfb_problem;

/* ---- What is chosen -------------------------------------------------------------------------------------- */

/* Counters and a range of time. Terms have numbers from 0 in the order of adding; without terms everything is chosen.
 * Given to a stream, it reduces what is asked of a source and what is returned: a stream may return more than is
 * chosen, never less. Given to a collector, it decides which values there are. Both copy it: pass it again after a
 * change. */
PFB_API pfb_selection *pfb_selection_new(void); /* null: memory is exhausted */
PFB_API void pfb_selection_close(pfb_selection *selection);

/* Adds a term by path, [\\machine]\counterset[(instance)]\counter, as described at pfb_path_parse; "*" as counter means
 * all. If data has the names of another way to split the path (pfb_path_next_split; the first 256 are tried), the term
 * chooses these, too: a path that was written for a series always chooses it. So it does with escapes as the program
 * prints them (\u0007), and with U+FFFD for an unpaired surrogate. Spaces and tabs at the end do not count unless a
 * name has them. Returns its number, -1 if this is no path, -2 if memory is exhausted. */
PFB_API int32_t pfb_selection_add(pfb_selection *selection, const char *path);

/* Adds a term by parts, each a pattern with * and ?, or null for all. `counterset` may be a GUID or a title index,
 * `counter` an id or a title index; the instance "a#1" also matches the second instance called "a", and "a/b" instances
 * called "b" whose parent is "a". The case of A to Z is ignored. Returns its number or -2. */
PFB_API int32_t pfb_selection_add_names(pfb_selection *selection, const char *machine, const char *counterset,
                                        const char *counter, const char *instance);

/* Chooses samples from `from` to `to`, both included, in UTC (INT64_MIN and INT64_MAX: no limit), and each `every`-th
 * of them (0 and 1: all). Samples that are left out are not compared: with `every` 10, rates cover ten intervals. */
PFB_API void pfb_selection_range(pfb_selection *selection, int64_t from, int64_t to, uint64_t every);

/* ---- Opening --------------------------------------------------------------------------------------------- */

/* The default of PFB_STREAM_MEMORY: the memory in bytes for all files of a stream, whatever they say about their sizes.
 */
#define PFB_STREAM_BUDGET 0x10000000ull /* 256 MiB */

/* Options of a stream; 0 is the default of each. */
enum {
    PFB_STREAM_STRICT = 1, /* 1: deviations that real providers are known for are errors */
    /* 1: files grow: reads on at their ends; files are read one after the other, not merged */
    PFB_STREAM_FOLLOW = 2,
    PFB_STREAM_NO_WAIT = 3,  /* 1: pfb_stream_next returns PFB_NEXT_WAIT instead of sleeping */
    PFB_STREAM_INTERVAL = 4, /* of samples of a live source, in 100 ns; 0: 1 s */
    PFB_STREAM_MEMORY = 5,   /* bytes for windows and indexes of all files; 0: PFB_STREAM_BUDGET. What needs more is a
                              * problem with the code PFB_CALLER_LIMIT, and the rest of its file is left out */
    PFB_STREAM_BIAS = 6,     /* minutes, UTC = local time + bias, for local times of unknown zone */
    PFB_STREAM_VERSION = 7,  /* of data of a source: 0 choose, 1 V1, 2 V2 */
    PFB_STREAM_METADATA = 8, /* of a source: 0 what the chosen counters need; 1 all of their countersets; 2 all of
                              * all countersets, and no samples. 2 with files: no note says that a file has no
                              * samples */
    /* 1: also returns samples that another file has, byte for byte and with the same time */
    PFB_STREAM_REPEATED = 9,
    PFB_STREAM_DATE_ORDER = 10, /* of text logs: PFB_DATE_MDY, _DMY or _YMD of pdh_text.h; 0: as the log shows */
    PFB_STREAM_DECIMAL = 11,    /* of text logs: '.' or ','; 0: as the log shows */
    PFB_STREAM_FORCE_BIAS = 12, /* 1: PFB_STREAM_BIAS is the bias of all logs, in place of that of their headers.
                                 * Offsets from UTC beside times, and UTC in the values of a .blg, take precedence */
    PFB_STREAM_CODE_PAGE = 13   /* of names in text logs, unless they are UTF-16 or have a byte order mark: one of
                                 * code_page.h or an encoding of name.h; 0: as the log shows */
};

/* An input. Of `data`, `read` and neither (a file of the name `label`), one is used. */
typedef struct pfb_input {
    uint32_t size;
    uint32_t kind;     /* 0: recognised by content; else PFB_RECORD_V1, _V2 or _LOG: the bytes are one or more of these;
                        * or _BEGIN: a recording, in which parts begin; or _REGISTRATION, _QUERY_INFO or _NAMES: one of
                        * these, for all files that lack it */
    const char *label; /* path of the file ("-": standard input), or a name for messages; copied */
    const void *data;  /* bytes in memory, which stay valid and unchanged until the stream is closed */
    uint64_t byte_count;
    void *context; /* bytes that the caller reads: a socket, an archive */
    int64_t (*read)(void *context, uint64_t offset, void *to, uint64_t byte_count); /* bytes read; 0: end, -1: error */
    void (*close)(void *context); /* may be null; called when the stream is closed, and if adding fails */
    uint32_t can_seek; /* `read` accepts any offset; 0: offsets ascend, as in a pipe: metadata that follows its samples
                        * is then found too late, which is a note */
    pfb_guid set;      /* of a registration; all zero: as in the reply */
    uint32_t request, language; /* of a registration; language also of names */
} pfb_input;

PFB_API pfb_stream *pfb_stream_new(void); /* null: memory is exhausted */
PFB_API void pfb_stream_close(pfb_stream *stream);
PFB_API uint32_t pfb_stream_set(pfb_stream *stream, uint32_t option,
                                int64_t value); /* pfb_code: PFB_CALLER_ if invalid */

/* Adds an input, before the first record is read. Returns its number, from 0 and never reused, or -1 if memory is
 * exhausted or the kind is another one. Files are opened when they are needed, in the order of time; one that cannot be
 * opened is a problem, and the others are read. */
PFB_API int32_t pfb_stream_add(pfb_stream *stream, const pfb_input *input);
PFB_API int32_t pfb_stream_add_file(pfb_stream *stream, const char *path);
/* Takes ownership of the source, live or recorded; null is ignored with -1, so that a failed open can be passed. The
 * selection that the stream has at the first pfb_stream_next decides what is asked. A term that cannot be collected is
 * a problem, and the others are; one that lacks only instances is a problem, too, and collected, because they may
 * appear; if none can be collected, the result is PFB_NEXT_FAILED, or the other inputs are read. The same for a
 * recording of several files (pfb_source_file): add it as a file. */
PFB_API int32_t pfb_stream_add_source(pfb_stream *stream, pfb_source *source);
PFB_API bool pfb_stream_select(pfb_stream *stream, const pfb_selection *selection); /* false: memory is exhausted */

/* Recognises a file by its first `available` bytes, of which a bounded number and all zeros at the start are examined.
 * Returns a static text that completes "the file ...". *kind becomes PFB_RECORD_BEGIN of a recording, PFB_RECORD_V1 (as
 * bytes, or as numbers in a text), PFB_RECORD_V2, PFB_RECORD_LOG of a .blg, PFB_RECORD_ROW of a log in text (also as
 * JSON, as Get-Counter's CSV or in an HTML page), PFB_RECORD_NAMES, or 0 if streams do not read it. */
PFB_API const char *pfb_stream_recognise(const void *data, size_t available, uint64_t file_size, uint32_t *kind);

/* ---- Records --------------------------------------------------------------------------------------------- */

enum {
    PFB_RECORD_BEGIN = 1,    /* of a file, or of a part of a recording that is another file; bytes: the body of the
                              * part's chunk FILE (pfb_capture_read_file), if it has one */
    PFB_RECORD_REGISTRATION, /* bytes: a reply of PerfQueryCounterSetRegistrationInfo; set, request, language */
    PFB_RECORD_QUERY_INFO,   /* bytes: a reply of PerfQueryCounterInfo, for the V2 replies that follow */
    PFB_RECORD_NAMES,        /* bytes: a V1 name table; language */
    PFB_RECORD_INSTANCES,    /* bytes: an instance list; set */
    PFB_RECORD_PATHS,        /* bytes: the joined list of paths of a .blg, or a header line of a text log (form) */
    PFB_RECORD_V2,           /* bytes: a reply of PerfQueryCounterData */
    PFB_RECORD_V1,           /* bytes: a PERF_DATA_BLOCK */
    PFB_RECORD_LOG,          /* bytes: a joined sample of a .blg */
    PFB_RECORD_ROW,          /* bytes: a line of a text log, without its end (form) */
    PFB_RECORD_NOTE,         /* bytes: a comment */
    PFB_RECORD_OTHER,        /* bytes: a chunk that a collector does not read (tag), or the summary of a .blg */
    PFB_RECORD_END           /* of a file or part: what belonged to it is forgotten */
};
enum {
    PFB_RECORD_HAS_TIME = 1,
    PFB_RECORD_LOCAL_TIME = 2, /* the offset of `time` from UTC is unknown */
    PFB_RECORD_HAS_BIAS = 4,   /* BEGIN of a log: `bias_minutes` is that of its header */
    PFB_RECORD_EARLY = 8,      /* metadata that was read in advance, because it follows its samples in the file. Where
                                * it is in the file, registrations and query information are returned again */
    PFB_RECORD_CONTINUES = 16, /* BEGIN of a part inside a recording */
    PFB_RECORD_LIVE = 32,      /* of a source */
    PFB_RECORD_GIVEN = 64,     /* metadata of an input of its own, which has its problems. Names take precedence over
                                * those of the file, other metadata does not */
    PFB_RECORD_CONVERTED = 128 /* PATHS, ROW: the line was made from what begins at `offset` of the file */
};

/* How the lines of a text log are read (pdh_text.h). */
typedef struct pfb_record_form {
    uint8_t separator;  /* ',', '\t' or ';' */
    uint8_t decimal;    /* '.' or ',' */
    uint8_t date_order; /* PFB_DATE_ bits of pdh_text.h; 0: as perfmon writes dates */
    uint8_t thousands;  /* '.' or ',' between groups of digits; 0: none */
    uint32_t encoding;  /* of names: PFB_ENCODING_ */
    uint32_t column_count;
} pfb_record_form;

/* One thing that was read, complete in itself: of a stream, or made by the caller. */
typedef struct pfb_record {
    uint32_t size, kind;  /* PFB_RECORD_ */
    uint32_t file;        /* number of the input */
    uint32_t part;        /* parts of a recording are numbered from 0 */
    uint32_t flags;       /* PFB_RECORD_HAS_TIME ... */
    uint32_t tag;         /* of a recording's chunk, else 0 */
    uint64_t offset;      /* of `bytes` in the file; of joined and decoded bytes see pfb_stream_offset */
    const uint8_t *bytes; /* valid until the next call for the stream */
    uint64_t byte_count;
    int64_t time;         /* of a sample; UTC unless LOCAL_TIME */
    int32_t bias_minutes; /* UTC = local time + bias: a log has the local time `time` - bias, or `time` if it is
                           * LOCAL_TIME. Without HAS_TIME the log has a time after the year 16000 */
    pfb_guid set;
    uint32_t request, language;
    pfb_record_form form;
    const char *label; /* BEGIN: of the input; else null */
    uint64_t line;     /* of a text log: number of the line in the file, from 1; 0: unknown */
    const char
        *zone; /* of a sample of a log: name of the time zone with this bias in the log's header; null: unknown */
} pfb_record;

enum { PFB_NEXT_FAILED = -1, PFB_NEXT_END = 0, PFB_NEXT_RECORD = 1, PFB_NEXT_WAIT = 2 };

/* Stores the next record in *record. Files are merged by the time of their samples; within a file records keep their
 * order. PFB_NEXT_FAILED: memory is exhausted, or no source can be used; a file that is malformed ends with a problem,
 * and the others go on. */
PFB_API int32_t pfb_stream_next(pfb_stream *stream, pfb_record *record);

PFB_API int64_t pfb_stream_wait(const pfb_stream *stream); /* after PFB_NEXT_WAIT: 100 ns until a call is worthwhile */
PFB_API void pfb_stream_stop(pfb_stream *stream);          /* from any thread or signal handler: what follows is END */

/* Begins again: everything is returned and reported a second time. Returns false if an input was read that cannot be
 * read again, such as a pipe. A stopped stream stays stopped. */
PFB_API bool pfb_stream_rewind(pfb_stream *stream);

/* The offset in the file of byte `at` of a record's bytes: a record of a .blg may have several parts, and the bytes of
 * a block may be numbers in a text. Of the latest record only. */
PFB_API uint64_t pfb_stream_offset(const pfb_stream *stream, const pfb_record *record, uint64_t at);

PFB_API const char *pfb_stream_label(const pfb_stream *stream, uint32_t file); /* "" if there is no such file */
PFB_API bool pfb_stream_problem(pfb_stream *stream, pfb_problem *problem);

/* How much of a file was read. `total` is 0 where the size is unknown. */
PFB_API void pfb_stream_progress(const pfb_stream *stream, uint32_t file, uint64_t *done, uint64_t *total);

/* ---- Replaying ------------------------------------------------------------------------------------------- */

/* A source that behaves like PerfLib, with the V2 replies, V1 blocks and metadata of a stream, all of which is read and
 * kept in memory. Takes ownership of the stream, whose inputs must end; null is a lack of memory. Queries select from
 * what was recorded: each sample is reduced to the identifiers that were added, and has their results in the order of
 * adding. Where the stream is damaged, calls fail with PFB_WIN32_FILE_CORRUPT after the samples before it. Null if it
 * cannot be read and has nothing before that. See docs/source.md. */
PFB_API pfb_source *pfb_source_open_stream(pfb_stream *stream, pfb_source_failure *failure);

/* ---- Writing a recording --------------------------------------------------------------------------------- */

typedef struct pfb_recorder pfb_recorder;

/* Writes records as a recording (.pfb), and of perfmon logs (.blg) the whole V1 objects in their samples:
 *
 *     while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && pfb_recorder_put(recorder, &record) >= 0)
 *         while (pfb_recorder_problem(recorder, &problem))
 *             ...
 *     pfb_recorder_begin(recorder);
 *
 * Metadata is written before the sample that needs it, once in each file or part. Where records of another file or part
 * follow, a chunk FILE says so: their samples are not compared unless their clocks allow it. `write` gets one whole
 * chunk with each call; after it has returned false nothing more is written. Null when memory is exhausted. */
PFB_API pfb_recorder *pfb_recorder_new(bool (*write)(void *context, const void *bytes, size_t byte_count),
                                       void *context);
PFB_API void pfb_recorder_close(pfb_recorder *recorder);

enum { PFB_RECORDER_STRICT = 1 }; /* an option, 0 by default. 1: deviations that providers are known for are problems */
PFB_API uint32_t pfb_recorder_set(pfb_recorder *recorder, uint32_t option, int64_t value); /* pfb_code */

/* Before the first record: writes only the samples in the range of the selection, and of them only its counters and
 * instances, what their formulas need, and the names of all these; no notes and no other chunks if counters are chosen.
 * Samples in which nothing is chosen are written without values after the first one that has some, so that the samples
 * around them are not compared. The range may be changed until the first sample. False: memory is exhausted. */
PFB_API bool pfb_recorder_select(pfb_recorder *recorder, const pfb_selection *selection);

/* Takes a record; its bytes are copied. Returns 1 if a sample was written that has a chosen value; 0 if not: the record
 * is kept until a sample needs it, nothing in it is chosen, or its kind has no chunk (a row of a text log); -1 when
 * memory is exhausted, or after `write` has returned false. */
PFB_API int32_t pfb_recorder_put(pfb_recorder *recorder, const pfb_record *record);

/* Writes the first chunk of a recording, unless that was done: then a recording without samples is one, too. Returns
 * false when memory is exhausted, or after `write` has returned false. */
PFB_API bool pfb_recorder_begin(pfb_recorder *recorder);

/* The next chunk begins another recording: all metadata is written again. pfb_recorder_repeat then writes the sample
 * that was put last again, into the new recording, and returns what pfb_recorder_put returns. */
PFB_API void pfb_recorder_next_file(pfb_recorder *recorder);
PFB_API int32_t pfb_recorder_repeat(pfb_recorder *recorder, const pfb_record *record);

/* Call it before the first record, or after pfb_recorder_next_file: what is written continues a recording, whose last
 * chunk belongs to the file of this number (FILE), which all higher numbers are free to follow. */
PFB_API void pfb_recorder_continue(pfb_recorder *recorder, uint32_t number);

/* The next problem of a record: malformed samples, which are written nevertheless as far as they can be read; what of a
 * log has no place in a recording, at its PFB_RECORD_END. */
PFB_API bool pfb_recorder_problem(pfb_recorder *recorder, pfb_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
