/* SPDX-License-Identifier: MIT */
/* Opens the live source of a Linux machine whose files are in the input, reads everything that it offers, and collects
 * samples while the files change. Checks that all replies are valid for a strict reader, that two samples of the same
 * files are the same, that values are finite, and that all files and folders are closed.
 *
 * Input: files, each with a line before it. "@/proc/stat" is a file with this name; several with one name are its
 * contents from one reading to the next, of which the last stays. "@/proc/stat!X" fails to open, with an error that the
 * letter X chooses (`errors`), or for a capital letter while it is read. "@?" is an instance to ask for. The file with
 * the name of a mount point has the size of a block, the number of blocks, and that of free ones.
 *
 * The linker replaces open() and the other functions of files (--wrap), also in the engine, for which they do what they
 * always do. */
#include "perfblock/collect.h"
#include "perfblock/live.h"
#include "perfblock/query.h"
#include "readers.h"
#include "steady.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- The machine ----------------------------------------------------------------------------------------- */

enum { MAX_FILES = 256, FIRST_FILE = 1 << 20, MAX_OPEN = 16 };

static const int errors[] = {ENOENT, EACCES, EIO, EINVAL, EMFILE, ENOMEM, ESRCH, ENODEV, EINTR};

/* A file, or one of its contents. */
typedef struct content {
    const char *name;
    size_t name_size;
    const char *text;
    size_t size;
    int error; /* of opening or reading; 0: none */
    bool fails_to_open;
    bool was_interrupted; /* EINTR was returned once */
    bool was_read;
} content;

typedef struct open_file {
    content *file; /* null: not open */
    size_t at;
    uint32_t pieces;
} open_file;

/* The functions of files read this machine while it is running; otherwise they are those of the system. */
static struct {
    bool is_running;
    content files[MAX_FILES];
    size_t file_count;
    open_file open[MAX_OPEN];
    size_t open_count, folder_count;
    bool has_changed; /* a file had another content than before */
    const char *instance;
    size_t instance_size;
    uint64_t now; /* nanoseconds */
} machine;

static bool is_named(const content *file, const char *name)
{
    return strlen(name) == file->name_size && memcmp(name, file->name, file->name_size) == 0;
}

/* Returns the content that is read next, or null. */
static content *next_content(const char *name)
{
    content *last = NULL;
    for (size_t i = 0; i < machine.file_count; i++) {
        content *file = &machine.files[i];
        if (!is_named(file, name))
            continue;
        machine.has_changed = machine.has_changed || !file->was_read;
        last = file;
        if (!file->was_read)
            break;
    }
    if (last)
        last->was_read = true;
    return last;
}

/* Returns the part of the name after "FOLDER/"; null if the file is not in the folder. */
static const char *name_inside(const content *file, const char *folder)
{
    size_t size = strlen(folder);
    bool is_inside = file->name_size > size && memcmp(file->name, folder, size) == 0 && file->name[size] == '/';
    return is_inside ? file->name + size + 1 : NULL;
}

static void take_error(content *file)
{
    const char *mark = memchr(file->name, '!', file->name_size);
    const char *end = file->name + file->name_size;
    if (!mark || end - mark != 2) /* names of disks have exclamation marks, too */
        return;
    char letter = mark[1];
    file->fails_to_open = letter >= 'a' && letter <= 'z';
    if (file->fails_to_open || (letter >= 'A' && letter <= 'Z')) {
        file->error = errors[(size_t)(letter | 0x20) % (sizeof errors / sizeof errors[0])];
        file->name_size = (size_t)(mark - file->name);
    }
}

/* Reads the input. */
static void make_machine(const char *text, size_t size)
{
    memset(&machine, 0, sizeof machine);
    machine.now = UINT64_C(1700000000) * 1000000000;
    for (size_t at = 0; at < size && machine.file_count < MAX_FILES;) {
        const char *line = text + at;
        const char *line_end = memchr(line, '\n', size - at);
        size_t begin = line_end ? (size_t)(line_end - text) + 1 : size;
        size_t end = begin;
        while (end < size && !(text[end] == '@' && text[end - 1] == '\n'))
            end++;
        content file = {.name = line + 1, .text = text + begin, .size = end - begin};
        file.name_size = line_end ? (size_t)(line_end - line) - 1 : size - at - 1;
        at = end;
        if (*line != '@')
            continue;
        if (file.name_size > 0 && *file.name == '?') {
            machine.instance = file.text;
            machine.instance_size = file.size > 0 && file.text[file.size - 1] == '\n' ? file.size - 1 : file.size;
            continue;
        }
        take_error(&file);
        machine.files[machine.file_count++] = file;
    }
}

/* ---- Functions of the system ----------------------------------------------------------------------------- */

/* Declares __wrap_NAME, which is called instead of NAME, and __real_NAME, which is NAME. */
#define WRAP(result, name, ...)                                                                                        \
    result __real_##name(__VA_ARGS__);                                                                                 \
    result __wrap_##name(__VA_ARGS__);

WRAP(int, open, const char *path, int flags, ...)
WRAP(ssize_t, read, int file, void *to, size_t size)
WRAP(int, close, int file)
WRAP(int, access, const char *path, int mode)
WRAP(DIR *, opendir, const char *path)
WRAP(struct dirent *, readdir, DIR *folder)
WRAP(void, rewinddir, DIR *folder)
WRAP(int, closedir, DIR *folder)
WRAP(int, statvfs, const char *path, struct statvfs *space)
WRAP(int, clock_gettime, clockid_t clock, struct timespec *time)

static int fail(int error)
{
    errno = error;
    return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
    if (!machine.is_running) {
        va_list arguments;
        va_start(arguments, flags);
        unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
        va_end(arguments);
        return __real_open(path, flags, mode);
    }
    content *file = next_content(path);
    if (!file)
        return fail(ENOENT);
    if (file->fails_to_open && !(file->error == EINTR && file->was_interrupted)) {
        file->was_interrupted = true;
        return fail(file->error);
    }
    open_file *slot = NULL;
    for (size_t i = 0; i < MAX_OPEN && !slot; i++)
        slot = machine.open[i].file ? NULL : &machine.open[i];
    require(slot != NULL);
    *slot = (open_file){.file = file};
    machine.open_count++;
    return FIRST_FILE + (int)(slot - machine.open);
}

static open_file *opened(int number)
{
    require(number >= FIRST_FILE && number < FIRST_FILE + MAX_OPEN && machine.open[number - FIRST_FILE].file);
    return &machine.open[number - FIRST_FILE];
}

ssize_t __wrap_read(int number, void *to, size_t size)
{
    if (!machine.is_running)
        return __real_read(number, to, size);
    open_file *o = opened(number);
    size_t left = o->file->size - o->at;
    size_t count = left < size ? left : size;
    if (o->file->error == EINTR && !o->file->was_interrupted) {
        o->file->was_interrupted = true;
        return fail(EINTR);
    }
    if (count == 0 && o->file->error != 0 && o->file->error != EINTR)
        return fail(o->file->error);
    if (o->pieces++ == 0 && count > 1) /* the first piece is short */
        count = (count + 1) / 2;
    memcpy(to, o->file->text + o->at, count);
    o->at += count;
    return (ssize_t)count;
}

int __wrap_close(int number)
{
    if (!machine.is_running)
        return __real_close(number);
    opened(number)->file = NULL;
    machine.open_count--;
    return 0;
}

int __wrap_access(const char *path, int mode)
{
    if (!machine.is_running)
        return __real_access(path, mode);
    for (size_t i = 0; i < machine.file_count; i++) {
        const content *file = &machine.files[i];
        if (is_named(file, path) && file->fails_to_open && file->error != EINTR)
            return fail(file->error);
        if (is_named(file, path) || name_inside(file, path))
            return 0;
    }
    return fail(ENOENT);
}

/* A folder that is listed. */
typedef struct listing {
    char *path;
    size_t next;
    struct dirent entry;
} listing;

DIR *__wrap_opendir(const char *path)
{
    if (!machine.is_running)
        return __real_opendir(path);
    if (__wrap_access(path, F_OK) != 0)
        return NULL;
    listing *l = calloc(1, sizeof *l);
    require(l && (l->path = strdup(path)));
    machine.folder_count++;
    return (DIR *)(void *)l;
}

/* Returns true if a file before position `end` has the same name in the folder. */
static bool is_listed(const listing *l, size_t end, const char *name, size_t size)
{
    for (size_t i = 0; i < end; i++) {
        const char *inside = name_inside(&machine.files[i], l->path);
        size_t left = inside ? machine.files[i].name_size - (size_t)(inside - machine.files[i].name) : 0;
        if (inside && left >= size && memcmp(inside, name, size) == 0 && (left == size || inside[size] == '/'))
            return true;
    }
    return false;
}

/* Lists "." and each file or folder once. A file without a name in the folder fails. */
struct dirent *__wrap_readdir(DIR *folder)
{
    if (!machine.is_running)
        return __real_readdir(folder);
    listing *l = (listing *)(void *)folder;
    strcpy(l->entry.d_name, ".");
    if (l->next == 0) {
        l->next++;
        return &l->entry;
    }
    while (l->next <= machine.file_count) {
        size_t i = l->next++ - 1;
        const content *file = &machine.files[i];
        const char *name = name_inside(file, l->path);
        size_t left = name ? file->name_size - (size_t)(name - file->name) : 0;
        const char *slash = name ? memchr(name, '/', left) : NULL;
        size_t size = slash ? (size_t)(slash - name) : left;
        if (name && size == 0 && file->error != 0) {
            errno = file->error;
            return NULL;
        }
        if (!name || size == 0 || size >= sizeof l->entry.d_name || memchr(name, '\0', size) ||
            is_listed(l, i, name, size))
            continue;
        memcpy(l->entry.d_name, name, size);
        l->entry.d_name[size] = '\0';
        return &l->entry;
    }
    return NULL;
}

void __wrap_rewinddir(DIR *folder)
{
    if (machine.is_running)
        ((listing *)(void *)folder)->next = 0;
    else
        __real_rewinddir(folder);
}

int __wrap_closedir(DIR *folder)
{
    if (!machine.is_running)
        return __real_closedir(folder);
    listing *l = (listing *)(void *)folder;
    free(l->path);
    free(l);
    machine.folder_count--;
    return 0;
}

int __wrap_statvfs(const char *path, struct statvfs *space)
{
    if (!machine.is_running)
        return __real_statvfs(path, space);
    char text[64] = "";
    const content *file = next_content(path);
    if (!file || file->error != 0)
        return fail(file ? file->error : ENOENT);
    memcpy(text, file->text, file->size < sizeof text ? file->size : sizeof text - 1);
    char *at = text;
    memset(space, 0, sizeof *space);
    space->f_frsize = strtoul(at, &at, 10);
    space->f_blocks = strtoul(at, &at, 10);
    space->f_bavail = strtoul(at, &at, 10);
    return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!machine.is_running)
        return __real_clock_gettime(clock, time);
    *time =
        (struct timespec){.tv_sec = (time_t)(machine.now / 1000000000), .tv_nsec = (long)(machine.now % 1000000000)};
    return 0;
}

/* ---- Replies --------------------------------------------------------------------------------------------- */

static void check_v2(const pfb_bytes *reply)
{
    reading strict = read_input(SUBJECT_V2, reply->data, reply->size_bytes, STRICT);
    require(!strict.broken && strict.error.code == PFB_OK && strict.notes == 0);
}

/* Checks a reply of metadata; `kind` as in readers.h. */
static void check_metadata(uint8_t kind, const pfb_bytes *reply)
{
    uint8_t *copy = malloc(reply->size_bytes + 1);
    require(copy != NULL);
    copy[0] = kind;
    if (reply->size_bytes > 0)
        memcpy(copy + 1, reply->data, reply->size_bytes);
    reading strict = read_input(SUBJECT_METADATA, copy, reply->size_bytes + 1, STRICT);
    require(!strict.broken && strict.error.code == PFB_OK && strict.notes == 0);
    free(copy);
}

static void check_failure(const pfb_source_failure *failure)
{
    require(failure->code != PFB_WIN32_SUCCESS && failure->sentence[0] != '\0');
}

static void describe(pfb_source *source, const pfb_guid *set)
{
    enum { GUIDS = 11, INSTANCES = 13 };
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    for (uint32_t request = 0; request <= 11; request++) {
        if (!pfb_source_registration(source, set, request, 0, &reply, &failure))
            check_failure(&failure);
        else
            check_metadata((uint8_t)request, &reply);
    }
    if (pfb_source_instances(source, set, &reply, &failure))
        check_metadata(INSTANCES, &reply);
    else
        check_failure(&failure);
    pfb_bytes_free(&reply);
}

/* ---- Queries --------------------------------------------------------------------------------------------- */

static void add_block(pfb_source_query *query, const pfb_guid *set, uint32_t counter, pfb_name name)
{
    uint8_t block[40 + 2 * PFB_QUERY_NAME_UNITS + 16];
    pfb_source_failure failure = {0};
    const pfb_query wanted = {.counterset = *set, .counter_id = counter, .instance_id = PFB_NO_ID, .name = name};
    size_t size = pfb_query_write(&wanted, block, sizeof block);
    if (size > 0 && !pfb_source_query_add(query, block, size, &failure))
        check_failure(&failure);
}

/* Collects samples. Two in a row for which no file has changed are the same. */
static void collect(pfb_source_query *query)
{
    enum { IDENTIFIERS = 12, SAMPLES = 5 };
    pfb_bytes replies[2] = {{0}, {0}};
    pfb_source_failure failure = {0};
    bool was_steady = false;
    if (pfb_source_query_info(query, &replies[0], &failure))
        check_metadata(IDENTIFIERS, &replies[0]);
    for (int i = 0; i < SAMPLES; i++) {
        pfb_bytes *reply = &replies[i % 2];
        const pfb_bytes *older = &replies[1 - i % 2];
        machine.has_changed = false;
        bool is_collected = pfb_source_query_collect(query, reply, &failure);
        if (is_collected)
            check_v2(reply);
        else
            check_failure(&failure);
        bool is_steady = is_collected && !machine.has_changed;
        if (was_steady && is_steady)
            require(reply->size_bytes == older->size_bytes && memcmp(reply->data, older->data, older->size_bytes) == 0);
        machine.now += is_steady ? 0 : 1234567890;
        was_steady = is_steady;
    }
    pfb_bytes_free(&replies[0]);
    pfb_bytes_free(&replies[1]);
}

static void query_sets(pfb_source *source, const pfb_bytes *sets)
{
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    require(query != NULL);
    for (size_t at = 0; at < sets->size_bytes; at += sizeof(pfb_guid)) {
        pfb_guid set;
        memcpy(&set, sets->data + at, sizeof set);
        describe(source, &set);
        add_block(query, &set, PFB_NO_ID, (pfb_name){0});
        add_block(query, &set, PFB_NO_ID, pfb_utf8_name("*", 1));
        add_block(query, &set, 1, pfb_utf8_name("_Total", 6));
        if (machine.instance)
            add_block(query, &set, 3, pfb_utf8_name(machine.instance, machine.instance_size));
    }
    collect(query);
    pfb_source_query_close(query);
}

/* ---- The stream ------------------------------------------------------------------------------------------ */

static void read_frame(pfb_collector *c)
{
    pfb_frame f = {.size = sizeof f};
    pfb_series s = {.size = sizeof s};
    require(pfb_collector_frame(c, &f));
    for (uint32_t i = 0; i < f.count; i++) {
        bool is_ok = f.statuses[i] == PFB_STATUS_OK;
        require(pfb_collector_series(c, i, &s) && (s.has & PFB_SERIES_COUNTER));
        require(is_ok ? f.values[i] - f.values[i] == 0 : f.values[i] != f.values[i]);
    }
}

/* Reads a few samples of everything, a second apart. */
static void read_stream(pfb_source *source)
{
    enum { SAMPLES = 3 };
    pfb_stream *stream = open_steady_stream();
    pfb_collector *c = pfb_collector_new();
    pfb_problem problem = {.size = sizeof problem};
    require(stream && c && pfb_stream_set(stream, PFB_STREAM_NO_WAIT, 1) == PFB_OK);
    require(pfb_stream_add_source(stream, source) == 0);
    int32_t step = PFB_NEXT_WAIT;
    for (int count = 0; count < SAMPLES && step > 0;) {
        step = pfb_collector_read(c, stream);
        if (step == PFB_NEXT_WAIT)
            machine.now += 100 * (uint64_t)pfb_stream_wait(stream) + 1;
        if (step != PFB_NEXT_RECORD)
            continue;
        read_frame(c);
        count++;
    }
    while (pfb_stream_problem(stream, &problem) || pfb_collector_take_problem(c, &problem))
        require(problem.sentence[0] != '\0');
    pfb_collector_close(c);
    pfb_stream_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { GUIDS = 11 };
    make_machine((const char *)data, size);
    machine.is_running = true;
    pfb_source_failure failure = {0};
    pfb_bytes sets = {0};
    pfb_source *source = pfb_source_open_linux("", &failure);
    if (source) {
        require(pfb_source_countersets(source, &sets, NULL));
        check_metadata(GUIDS, &sets);
        query_sets(source, &sets);
        pfb_bytes_free(&sets);
        read_stream(source);
    } else {
        check_failure(&failure);
    }
    machine.is_running = false;
    require(machine.open_count == 0 && machine.folder_count == 0);
    return 0;
}
