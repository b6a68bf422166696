/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_PERFLIB_H
#define PFB_TEST_SUPPORT_PERFLIB_H

/* The live source of Windows on simulated versions of the nine PerfLib functions, which answer from a capture or as the
 * test defines. */
#include "perfblock/capture.h"
#include "windows/fake_perflib.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* ---- A system ------------------------------------------------------------------------------------------------- */

extern fake_perflib *fake;

/* Makes the functions answer from that capture. */
void start_fake(const void *capture, size_t size);
void stop_fake(void);

/* Returns a system with all nine functions. The reply to a V1 query is the text of the query; v1_machine is the machine
 * name of the last one. */
pfb_perflib simulated_system(void);
extern char v1_machine[PFB_MACHINE_UNITS + 1];

/* Open a source on that system and machine, or on simulated_system() and the local machine. */
pfb_source *open_over(const pfb_perflib *system, const char *machine);
pfb_source *open_local(void);

/* Closes a source inside its test, where a check can fail: all handles must be closed by then, each of them once. */
void close_source(pfb_source *source);
void expect_closed(void); /* the same for the calls of a stream, which has closed its source */

/* ---- A capture ------------------------------------------------------------------------------------------------ */

enum { COUNTERSETS = 300 };

/* Makes a capture with replies of all kinds: the countersets, 8 bytes for each registration after the first, and `size`
 * bytes, at least 48 and a multiple of 8, for the first registration, an instance list, query information and a sample
 * of that query. Most bytes have no meaning. */
pfb_bytes make_capture(size_t size);

/* Adds the blocks of the query information of the last capture. Samples are then returned as they were recorded. */
bool add_recorded(pfb_source_query *query, pfb_source_failure *failure);
void add_chunk(pfb_bytes *capture, const pfb_chunk *chunk, size_t size, uint8_t fill);

void start_fake_with(size_t size);
void start_small_fake(void); /* with 96 bytes */

pfb_guid guid_of(size_t number);

/* Writes an identifier block for that counterset without counter id, instance id and name; returns its size. */
size_t make_block(uint8_t *out, size_t capacity, size_t set);

/* ---- Calls by function ------------------------------------------------------------------------------------------ */

/* The functions that return replies. The size of the reply is counted in GUIDs for the first one, and in bytes for the
 * others. */
enum { REPLYING = 5 };
extern const fake_function replying[REPLYING];

extern const char *const function_names[FAKE_FUNCTIONS];

/* Performs the operation that calls that function; `reply` is for functions with a reply. Query information and samples
 * are those of add_recorded. */
bool ask(pfb_source *source, fake_function function, pfb_bytes *reply, pfb_source_failure *failure);

/* Sets the answers of that function to those of the script, removes all other scripts and sets the numbers of calls to
 * 0. */
void set_script(fake_function function, const fake_script *script);

bool starts_with(const char *text, const char *start);

/* Checks that the call fails with that code and without bytes; the sentence begins with the function and ends with
 * `end_of_sentence`. Then repeats the call with a null pointer for the failure. */
void expect_failure(pfb_source *source, fake_function function, uint32_t code, const char *end_of_sentence);

/* Checks that the call returns the data of make_capture. */
void expect_capture_reply(pfb_source *source, fake_function function, size_t size);

#endif
