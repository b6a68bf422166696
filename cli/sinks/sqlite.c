/* SPDX-License-Identifier: MIT */
/* Displayed and raw values as an SQLite file with the tables that relog and perfmon write into SQL databases
 * (docs/perfblock.md). The file is made beside its target, which it replaces when it is complete. Memory grows with the
 * number of counters and instances, not with that of samples. */
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/replacement.h"
#include "output/text.h"
#include "output/time_text.h"
#include "sinks/series.h"
#include "sinks/sink.h"
#include "sinks/value_name.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No journal: an incomplete file is removed. */
static const char schema[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE CounterDetails (CounterID INTEGER PRIMARY KEY, MachineName TEXT, ObjectName TEXT, CounterName TEXT,"
    " CounterType INTEGER, DefaultScale INTEGER, InstanceName TEXT, InstanceIndex INTEGER, ParentName TEXT,"
    " ParentObjectID INTEGER, TimeBaseA INTEGER, TimeBaseB INTEGER);"
    "CREATE TABLE CounterData (GUID TEXT, CounterID INTEGER, RecordIndex INTEGER, CounterDateTime TEXT,"
    " CounterValue REAL, FirstValueA INTEGER, FirstValueB INTEGER, SecondValueA INTEGER, SecondValueB INTEGER,"
    " MultiCount INTEGER, PRIMARY KEY (GUID, CounterID, RecordIndex)) WITHOUT ROWID;"
    "CREATE TABLE DisplayToID (GUID TEXT PRIMARY KEY, RunID INTEGER, DisplayString TEXT UNIQUE, LogStartTime TEXT,"
    " LogStopTime TEXT, NumberOfRecords INTEGER, MinutesToUTC INTEGER, TimeZoneName TEXT);"
    "CREATE TABLE CounterStatus (GUID TEXT, CounterID INTEGER, RecordIndex INTEGER, Status TEXT,"
    " PRIMARY KEY (GUID, CounterID, RecordIndex)) WITHOUT ROWID;";

enum { TIME_CHARACTERS = 23 }; /* YYYY-MM-DD hh:mm:ss.mmm */

struct sqlite_log {
    output *out;
    sqlite3 *database;
    sqlite3_stmt *details, *data, *status;
    char guid[PFB_GUID_TEXT_BYTES];
    series_list counters; /* position + 1 is the CounterID */
    size_t written_count; /* counters that have a row in CounterDetails */
    buffer key, name, safe;
    uint64_t number; /* of the current sample */
    int64_t record;  /* its RecordIndex; 0 before the first sample */
    bool has_time;
    bool is_local; /* a time is local, and its offset from UTC is unknown */
    int64_t start, stop;
};

/* Reports the first failure, after which nothing more is written. */
static void check(sqlite_log *log, int code)
{
    bool is_fine = code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW;
    if (is_fine || log->out->has_failed)
        return;
    log->out->has_failed = true;
    diagnostics_say(STATUS_FILE, log->out->path, "%s",
                    log->database ? sqlite3_errmsg(log->database) : sqlite3_errstr(code));
}

static sqlite3_stmt *prepare(sqlite_log *log, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (!log->out->has_failed)
        check(log, sqlite3_prepare_v2(log->database, sql, -1, &statement, NULL));
    return statement;
}

static void execute(sqlite_log *log, const char *sql)
{
    if (!log->out->has_failed)
        check(log, sqlite3_exec(log->database, sql, NULL, NULL, NULL));
}

/* Inserts a row with the values that were bound. */
static void insert(sqlite_log *log, sqlite3_stmt *statement)
{
    check(log, sqlite3_step(statement));
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

/* ---- Columns --------------------------------------------------------------------------------------------- */

/* Columns without a value are null. */

static void bind_text(sqlite_log *log, sqlite3_stmt *row, int column, const char *text)
{
    check(log, sqlite3_bind_text(row, column, text, -1, SQLITE_TRANSIENT));
}

/* Binds log->name, which may contain any bytes. */
static void bind_name(sqlite_log *log, int column)
{
    buffer_clear(&log->safe);
    text_safe(&log->safe, log->name.data, log->name.size);
    bind_text(log, log->details, column, log->safe.data);
}

/* Binds the low and the high 32 bits of a value. Columns of type int hold them as signed integers. */
static void bind_halves(sqlite3_stmt *row, int column, uint64_t value)
{
    sqlite3_bind_int(row, column, (int32_t)(uint32_t)value);
    sqlite3_bind_int(row, column + 1, (int32_t)(uint32_t)(value >> 32));
}

/* Binds nothing for a time outside the years 1601 to 9999. */
static void bind_time(sqlite_log *log, sqlite3_stmt *row, int column, int64_t time)
{
    buffer_clear(&log->name);
    if (!time_text_unzoned(&log->name, time))
        return;
    log->name.data[strlen("YYYY-MM-DD")] = ' ';
    check(log, sqlite3_bind_text(row, column, log->name.data, TIME_CHARACTERS, SQLITE_TRANSIENT));
}

/* The first columns of CounterData and CounterStatus. */
static void bind_key(sqlite_log *log, sqlite3_stmt *row, int64_t counter)
{
    bind_text(log, row, 1, log->guid);
    sqlite3_bind_int64(row, 2, counter);
    sqlite3_bind_int64(row, 3, log->record);
}

/* ---- The file -------------------------------------------------------------------------------------------- */

/* A random GUID (RFC 9562, version 4): logs that are joined in one database must differ. */
static void make_guid(char text[PFB_GUID_TEXT_BYTES])
{
    pfb_guid guid;
    sqlite3_randomness(sizeof guid, &guid);
    guid.bytes[7] = (uint8_t)((guid.bytes[7] & 0x0F) | 0x40);
    guid.bytes[8] = (uint8_t)((guid.bytes[8] & 0x3F) | 0x80);
    pfb_guid_format(&guid, text);
}

/* Creates the file beside its target. */
static bool create_file(const sqlite_log *log)
{
    const char *path = log->out->path;
    if (!replacement_is_possible(path)) {
        diagnostics_say(STATUS_FILE, path, "is not a regular file");
        return false;
    }
    int file = replacement_open(path);
    if (file >= 0 && system_write_close(file))
        return true;
    diagnostics_file(path, errno);
    return false;
}

static sqlite_log *open_log(output *out)
{
    sqlite_log *log = memory_get(1, sizeof *log);
    *log = (sqlite_log){.out = out};
    make_guid(log->guid);
    out->has_failed = !create_file(log);
    if (!out->has_failed)
        check(log, sqlite3_open_v2(replacement_path(), &log->database, SQLITE_OPEN_READWRITE, NULL));
    execute(log, schema);
    log->details = prepare(log, "INSERT INTO CounterDetails VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, NULL, ?, ?)");
    log->data = prepare(log, "INSERT INTO CounterData VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    log->status = prepare(log, "INSERT INTO CounterStatus VALUES (?, ?, ?, ?)");
    return log;
}

/* The part of a path after its last separator. */
static const char *name_of_file(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\')
            name = at + 1;
    }
    return name;
}

static void put_log(sqlite_log *log)
{
    sqlite3_stmt *row = prepare(log, "INSERT INTO DisplayToID VALUES (?, 0, ?, ?, ?, ?, ?, ?)");
    if (!row)
        return;
    const char *name = name_of_file(log->out->path);
    buffer_clear(&log->safe);
    text_safe(&log->safe, name, strlen(name));
    bind_text(log, row, 1, log->guid);
    bind_text(log, row, 2, log->safe.data);
    if (log->has_time) {
        bind_time(log, row, 3, log->start);
        bind_time(log, row, 4, log->stop);
    }
    sqlite3_bind_int64(row, 5, log->record);
    if (!log->is_local) {
        sqlite3_bind_int(row, 6, 0);
        bind_text(log, row, 7, "UTC");
    }
    insert(log, row);
    sqlite3_finalize(row);
}

/* Completes the file, or removes it after a failure or if it is not wanted. */
static void close_log(sqlite_log *log, bool has_values)
{
    put_log(log);
    execute(log, "COMMIT");
    sqlite3_finalize(log->details);
    sqlite3_finalize(log->data);
    sqlite3_finalize(log->status);
    sqlite3_close(log->database);
    if (!replacement_close(!log->out->has_failed && output_is_wanted(log->out->path, has_values))) {
        log->out->has_failed = true;
        diagnostics_file(log->out->path, errno);
    }
    series_free(&log->counters);
    buffer_free(&log->key);
    buffer_free(&log->name);
    buffer_free(&log->safe);
    free(log);
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

/* Makes log->name one of the names of a series. Returns false if it has none. */
static bool take_name(sqlite_log *log, bool exists, const char *text, size_t size)
{
    buffer_clear(&log->name);
    if (exists)
        text_first(&log->name, text, size, SINK_LONGEST_PART);
    return exists;
}

/* The counterset without a name is called as in paths; a counter of a log may have none. */
static bool take_set_name(sqlite_log *log, const pfb_series *s)
{
    bool has_name = take_name(log, s->has & PFB_SERIES_COUNTERSET, s->counterset, s->counterset_bytes);
    if (has_name || (s->has & PFB_SERIES_LOG))
        return has_name;
    sink_put_set_name(&log->name, s);
    return true;
}

static void put_details(sqlite_log *log, int64_t counter, const pfb_series *s, uint64_t time_base)
{
    sqlite3_stmt *row = log->details;
    bool has_instance = (s->has & PFB_SERIES_INSTANCE) != 0;
    sqlite3_bind_int64(row, 1, counter);
    buffer_clear(&log->name);
    sink_put_machine(&log->name, s, SINK_LONGEST_PART);
    if (s->has & PFB_SERIES_MACHINE)
        bind_name(log, 2);
    if (take_set_name(log, s))
        bind_name(log, 3);
    buffer_clear(&log->name);
    sink_put_counter(&log->name, s);
    bind_name(log, 4);
    if (s->has & PFB_SERIES_TYPE)
        sqlite3_bind_int(row, 5, (int32_t)s->type);
    if (take_name(log, has_instance, s->instance, s->instance_bytes)) {
        bind_name(log, 6);
        sqlite3_bind_int64(row, 7, s->occurrence);
    }
    if (take_name(log, s->has & PFB_SERIES_PARENT, s->parent, s->parent_bytes))
        bind_name(log, 8);
    if (time_base != 0)
        bind_halves(row, 9, time_base);
    insert(log, row);
}

static void put_part(buffer *key, const char *text, size_t size)
{
    size_t start = key->size;
    text_first(key, text, size, SINK_LONGEST_PART);
    size_t used = key->size - start;
    buffer_bytes(key, (const char *)&used, sizeof used); /* so that parts cannot be confused */
}

/* Returns the CounterID of a series, which gets a row in CounterDetails if it is new. */
static int64_t find_counter(sqlite_log *log, const pfb_series *s, uint64_t time_base)
{
    buffer *key = &log->key;
    const uint32_t names = PFB_SERIES_MACHINE | PFB_SERIES_COUNTERSET | PFB_SERIES_INSTANCE | PFB_SERIES_PARENT |
                           PFB_SERIES_COUNTER | PFB_SERIES_TYPE;
    buffer_clear(key);
    put_part(key, s->machine, s->machine_bytes);
    put_part(key, s->counterset, s->counterset_bytes);
    put_part(key, s->parent, s->parent_bytes);
    put_part(key, s->instance, s->instance_bytes);
    put_part(key, s->counter, s->counter_bytes);
    const uint32_t numbers[] = {s->has & names, s->occurrence, s->type, s->title, s->counter_id};
    buffer_bytes(key, (const char *)numbers, sizeof numbers);
    buffer_bytes(key, (const char *)&s->set, sizeof s->set);
    size_t at = series_find(&log->counters, key->data, key->size);
    int64_t counter = (int64_t)at + 1;
    if (at < log->written_count)
        return counter;
    log->written_count = at + 1;
    put_details(log, counter, s, time_base);
    return counter;
}

static void add_time(sqlite_log *log, const pfb_value *value)
{
    log->start = log->has_time && log->start < value->time ? log->start : value->time;
    log->stop = log->has_time && log->stop > value->time ? log->stop : value->time;
    log->has_time = true;
    log->is_local = log->is_local || (value->has & PFB_VALUE_LOCAL_TIME);
}

static void put_element(sqlite_log *log, const sink_run *run, uint32_t at, const element *e)
{
    pfb_raw_value inputs[2] = {{.has = 0}, {.has = 0}};
    char status[NAMES_STATUS_BYTES];
    sqlite3_stmt *row = log->data;
    pfb_collector_inputs(run->collector, at, inputs);
    pfb_pdh_raw raw = pfb_formula_pdh_raw(&inputs[1]);
    int64_t counter = find_counter(log, &e->series, raw.time_base);
    bind_key(log, row, counter);
    if (e->value.has & PFB_VALUE_TIME) {
        add_time(log, &e->value);
        bind_time(log, row, 4, e->value.time);
    }
    if (e->value.status == PFB_STATUS_OK)
        sqlite3_bind_double(row, 5, e->value.value);
    if (raw.status == PFB_PDH_VALID_DATA) {
        bind_halves(row, 6, raw.first);
        bind_halves(row, 8, raw.second);
        sqlite3_bind_int64(row, 10, raw.multi_count);
    }
    insert(log, row);
    if (e->value.status == PFB_STATUS_OK)
        return;
    bind_key(log, log->status, counter);
    bind_text(log, log->status, 4, sink_status_name(e, status));
    insert(log, log->status);
}

void sqlite_print(sink_run *run)
{
    element e;
    if (!run->sqlite)
        run->sqlite = open_log(run->out);
    sqlite_log *log = run->sqlite;
    if (log->record == 0 || log->number != run->frame.number) {
        log->number = run->frame.number;
        log->record++;
        series_begin_sample(&log->counters);
    }
    for (uint32_t i = 0; !run->out->has_failed && sink_element(run, i, &e); i++) {
        if (sink_is_shown(&e))
            put_element(log, run, i, &e);
    }
}

/* If there are no values because of an error, an existing file stays. */
void sqlite_end(sink_run *run)
{
    if (!run->sqlite && diagnostics_status() != STATUS_FINE)
        return;
    close_log(run->sqlite ? run->sqlite : open_log(run->out), run->has_value);
    run->sqlite = NULL;
}
