/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_PERFLIB_H
#define PFB_TEST_SUPPORT_PERFLIB_H

/* The live source of Windows over nine functions of ours, which answer out of a capture or as the test sets them. */
#include "perfblock/capture.h"
#include "windows/fake_perflib.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* ---- A system ------------------------------------------------------------------------------------------------- */

extern fake_perflib *fake;

/* Has the functions answer out of that capture. */
void start_fake(const void *capture, size_t size);
void stop_fake(void);

pfb_perflib system_of_nine(void);
extern char v1_machine[PFB_MACHINE_UNITS + 1]; /* of the last V1 query, whose reply is the query itself */

pfb_source *open_over(const pfb_perflib *system, const char *machine);
pfb_source *open_local(void);

/* Every source is closed here, inside its test, where a check can fail: all handles were closed by then, each of them
 * once. */
void close_source(pfb_source *source);

/* ---- A capture ------------------------------------------------------------------------------------------------ */

enum { COUNTERSETS = 300 };

/* Replies of all kinds, whose bytes mean nothing: the countersets, and `size` bytes of each other kind. */
pfb_bytes make_capture(size_t size);
void add_chunk(pfb_bytes *capture, const pfb_chunk *chunk, size_t size, uint8_t fill);

void start_fake_with(size_t size);
void start_small_fake(void); /* with 96 bytes */

pfb_guid guid_of(size_t number);

/* The identifier block of all counters and instances of that counterset; its size. */
size_t make_block(uint8_t *out, size_t capacity, size_t set);

/* ---- Any call -------------------------------------------------------------------------------------------------- */

/* The functions that give replies, the one that counts GUIDs first. */
enum { REPLYING = 5 };
extern const fake_function replying[REPLYING];

extern const char *const function_names[FAKE_FUNCTIONS];

/* One call of that function, by the operation that needs it; `reply` for those that reply. */
bool ask(pfb_source *source, fake_function function, pfb_bytes *reply, pfb_source_failure *failure);

/* Fresh counts, and this script for that function. */
void tell(fake_function function, const fake_script *script);

bool starts_with(const char *text, const char *start);

/* The call fails with that code and a sentence that begins with the function and ends as given, and no bytes come out;
 * then it is made once more. */
void expect_failure(pfb_source *source, fake_function function, uint32_t code, const char *end_of_sentence);

/* The call gives what make_capture has. */
void expect_honest(pfb_source *source, fake_function function, size_t size);

#endif
