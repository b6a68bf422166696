/* SPDX-License-Identifier: MIT */
#include "os/system.h"

#include "memory/buffer.h"
#include "memory/memory.h"
#include "os/system_private.h"
#include "perfblock/name.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include <shellapi.h> /* after windows.h */

#define PATH_SEPARATORS "/\\"

static volatile sig_atomic_t interrupted;

bool system_interrupted(void)
{
    return interrupted != 0;
}

void system_prepare(void)
{
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
    setvbuf(stderr, NULL, _IONBF, 0); /* some C libraries for Windows buffer it, but messages must appear at once */
    SetConsoleOutputCP(CP_UTF8);
}

/* Converts UTF-16 to UTF-8. Free with free(). An unpaired surrogate becomes U+FFFD, so a file with one in its name
 * cannot be opened. */
static char *narrow(const WCHAR *wide)
{
    size_t units = wcslen(wide);
    size_t size = 3 * units + 1;
    char *utf8 = memory_get(size, 1);
    pfb_name name = pfb_utf16_name(wide, units);
    pfb_name_to_utf8(&name, utf8, size);
    return utf8;
}

/* Converts UTF-8 to UTF-16. Free with free(). */
static WCHAR *widen(const char *utf8)
{
    size_t size = strlen(utf8);
    WCHAR *wide = memory_get(size + 1, sizeof *wide);
    pfb_name name = pfb_utf8_name(utf8, size);
    pfb_name_to_utf16(&name, (uint8_t *)wide, size);
    return wide;
}

char **system_arguments(int argc, char **argv, int *count)
{
    *count = argc;
    WCHAR **wide = CommandLineToArgvW(GetCommandLineW(), count);
    if (!wide)
        return argv;
    char **arguments = memory_get((size_t)*count + 1, sizeof *arguments);
    for (int i = 0; i < *count; i++)
        arguments[i] = narrow(wide[i]);
    LocalFree(wide);
    return arguments;
}

int system_write_error(void)
{
    bool has_no_reader = _doserrno == ERROR_NO_DATA || _doserrno == ERROR_PIPE_NOT_CONNECTED;
    return has_no_reader ? EPIPE : errno;
}

bool system_is_terminal(system_stream stream)
{
    return _isatty((int)stream) != 0;
}

size_t system_columns_of_terminal(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info))
        return 0;
    return (size_t)(info.srWindow.Right - info.srWindow.Left) + 1;
}

size_t system_rows_of_terminal(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info))
        return 0;
    return (size_t)(info.srWindow.Bottom - info.srWindow.Top) + 1;
}

bool system_enable_control_sequences(void)
{
    const DWORD virtual_terminal = 4; /* ENABLE_VIRTUAL_TERMINAL_PROCESSING, which older headers lack */
    HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD mode = 0;
    return GetConsoleMode(console, &mode) && SetConsoleMode(console, mode | virtual_terminal);
}

bool system_repeats_values(void)
{
    return true;
}

uint64_t system_now(void)
{
    LARGE_INTEGER frequency;
    LARGE_INTEGER now;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    uint64_t ticks = (uint64_t)now.QuadPart;
    uint64_t per_second = (uint64_t)frequency.QuadPart;
    return ticks / per_second * NANOSECONDS + ticks % per_second * NANOSECONDS / per_second;
}

static ULONGLONG filetime_value(FILETIME time)
{
    return (ULONGLONG)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

bool system_local_offset(int64_t moment, int32_t *minutes)
{
    const int64_t seconds_to_1970 = INT64_C(11644473600); /* from 1601 */
    const int64_t units_per_minute = INT64_C(600000000);
    ULONGLONG units = (ULONGLONG)(moment + seconds_to_1970) * 10000000;
    FILETIME time = {.dwLowDateTime = (DWORD)units, .dwHighDateTime = (DWORD)(units >> 32)};
    SYSTEMTIME utc;
    SYSTEMTIME local;
    if (!FileTimeToSystemTime(&time, &utc) || !SystemTimeToFileTime(&utc, &time))
        return false;
    units = filetime_value(time); /* after conversion to SYSTEMTIME and back, like the local time below */
    if (!SystemTimeToTzSpecificLocalTime(NULL, &utc, &local) || !SystemTimeToFileTime(&local, &time))
        return false;
    *minutes = (int32_t)((int64_t)(filetime_value(time) - units) / units_per_minute);
    return true;
}

bool system_zone_name(int64_t moment, buffer *name)
{
    TIME_ZONE_INFORMATION zone;
    int32_t minutes = 0;
    if (!system_local_offset(moment, &minutes) || GetTimeZoneInformation(&zone) == TIME_ZONE_ID_INVALID)
        return false;
    bool is_daylight = zone.DaylightBias != zone.StandardBias && minutes == -(zone.Bias + zone.DaylightBias);
    char *utf8 = narrow(is_daylight ? zone.DaylightName : zone.StandardName);
    bool has_name = *utf8 != '\0';
    buffer_string(name, utf8);
    free(utf8);
    return has_name;
}

bool system_sleep_until(uint64_t moment)
{
    for (uint64_t now = system_now(); now < moment && !interrupted; now = system_now()) {
        uint64_t sleep_time = moment - now < MAX_SLEEP ? moment - now : MAX_SLEEP;
        Sleep((DWORD)(sleep_time / 1000000 + 1)); /* milliseconds, rounded up so as not to wake before the moment */
    }
    return !interrupted;
}

static volatile sig_atomic_t is_caught; /* console events do not end the program */

/* Path of the file that is removed if they do; empty: none. A fixed array, because events are handled by another
 * thread. */
static WCHAR removed[1 << 15];

static BOOL WINAPI on_interrupt(DWORD kind)
{
    interrupted = 1;
    if (!is_caught) {
        if (*removed != L'\0')
            DeleteFileW(removed); /* takes effect when the process ends and so closes it */
        return FALSE;
    }
    /* If the console is closed, the process ends when this function returns, or after some seconds: waits for the main
     * thread, which ends the process before. */
    if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT)
        Sleep(INFINITE);
    return TRUE;
}

void system_catch_interrupts(void)
{
    is_caught = 1;
    SetConsoleCtrlHandler(on_interrupt, FALSE); /* it may have been added before */
    SetConsoleCtrlHandler(on_interrupt, TRUE);
}

void system_remove_at_signal(const char *path)
{
    WCHAR *wide = widen(path ? path : "");
    size_t units = wcslen(wide) + 1;
    *removed = L'\0';
    if (units <= sizeof removed / sizeof *removed)
        memcpy(removed, wide, units * sizeof *wide);
    free(wide);
    if (path && !is_caught) {
        SetConsoleCtrlHandler(on_interrupt, FALSE);
        SetConsoleCtrlHandler(on_interrupt, TRUE);
    }
}

/* Appends an argument so that CommandLineToArgvW() returns it unchanged. Arguments that are empty or have blanks or
 * quotation marks are put in quotation marks. A quotation mark of the argument is escaped by a backslash; backslashes
 * directly before any quotation mark are doubled. */
static void put_argument(buffer *line, const char *argument)
{
    bool is_unquoted = *argument != '\0' && !strpbrk(argument, " \t\n\v\"");
    size_t backslashes = 0;
    buffer_string(line, line->size == 0 ? "" : " ");
    buffer_string(line, is_unquoted ? "" : "\"");
    for (const char *c = argument; *c != '\0'; c++) {
        for (; *c == '"' && backslashes > 0; backslashes--)
            buffer_string(line, "\\");
        buffer_string(line, *c == '"' ? "\\" : "");
        buffer_bytes(line, c, 1);
        backslashes = *c == '\\' ? backslashes + 1 : 0;
    }
    for (; !is_unquoted && backslashes > 0; backslashes--)
        buffer_string(line, "\\");
    buffer_string(line, is_unquoted ? "" : "\"");
}

/* Sets errno from GetLastError(). */
static void set_errno(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
        errno = ENOENT;
        break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        errno = EACCES;
        break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
        errno = EEXIST;
        break;
    case ERROR_BAD_EXE_FORMAT:
        errno = ENOEXEC;
        break;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
        errno = ENOMEM;
        break;
    default:
        errno = EINVAL;
    }
}

/* Handles Ctrl+C and Ctrl+Break while a command runs. Windows sends them to every process of the console; this one
 * ignores them. */
static BOOL WINAPI ignore_interrupt(DWORD kind)
{
    return kind == CTRL_C_EVENT || kind == CTRL_BREAK_EVENT;
}

bool system_is_batch(const char *name)
{
    enum { ENDING = 4 };
    size_t size = strlen(name);
    while (size > 0 && (name[size - 1] == '.' || name[size - 1] == ' ')) /* Windows ignores them at the end */
        size--;
    const char *ending = name + size - (size < ENDING ? size : ENDING);
    return _strnicmp(ending, ".bat", ENDING) == 0 || _strnicmp(ending, ".cmd", ENDING) == 0;
}

static bool start_process(WCHAR *line, bool stdout_to_stderr, HANDLE *process)
{
    STARTUPINFOW setup = {.cb = sizeof setup, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION started;
    setup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    setup.hStdOutput = GetStdHandle(stdout_to_stderr ? STD_ERROR_HANDLE : STD_OUTPUT_HANDLE);
    setup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &setup, &started)) {
        set_errno();
        return false;
    }
    CloseHandle(started.hThread);
    *process = started.hProcess;
    return true;
}

/* False and errno on failure. */
static bool wait_for(HANDLE process, system_ending *ending)
{
    DWORD status = 0;
    bool is_ok = WaitForSingleObject(process, INFINITE) != WAIT_FAILED && GetExitCodeProcess(process, &status);
    if (!is_ok)
        set_errno();
    *ending = (system_ending){.number = status};
    return is_ok;
}

bool system_run(char *const *arguments, bool stdout_to_stderr, system_ending *ending)
{
    buffer line = {0};
    HANDLE process = NULL;
    buffer_clear(&line);
    for (size_t i = 0; arguments[i]; i++)
        put_argument(&line, arguments[i]);
    WCHAR *wide = widen(line.data);
    buffer_free(&line);
    SetConsoleCtrlHandler(ignore_interrupt, TRUE);
    bool is_ok = start_process(wide, stdout_to_stderr, &process);
    if (is_ok) {
        is_ok = wait_for(process, ending);
        CloseHandle(process);
    }
    int reason = errno;
    SetConsoleCtrlHandler(ignore_interrupt, FALSE);
    free(wide);
    errno = reason;
    return is_ok;
}

static int open_file(const char *path, int flags)
{
    WCHAR *wide = widen(path);
    int file = _wopen(wide, flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    free(wide);
    return file;
}

bool system_names_regular(const char *path)
{
    struct _stat64 status;
    WCHAR *wide = widen(path);
    bool is_regular = _wstat64(wide, &status) == 0 && (status.st_mode & _S_IFMT) == _S_IFREG;
    free(wide);
    return is_regular;
}

bool system_names_special(const char *path)
{
    struct _stat64 status;
    WCHAR *wide = widen(path);
    bool is_special = _wstat64(wide, &status) == 0 && (status.st_mode & _S_IFMT) != _S_IFREG;
    free(wide);
    return is_special;
}

int system_read_open(const char *path)
{
    return open_file(path, _O_RDONLY);
}

long long system_read_some(int file, void *bytes, size_t size)
{
    const size_t limit = 1u << 30; /* _read() returns the number of bytes as an int */
    return _read(file, bytes, (unsigned)(size < limit ? size : limit));
}

bool system_seek(int file, uint64_t offset)
{
    return _lseeki64(file, (__int64)offset, SEEK_SET) >= 0;
}

void system_read_close(int file)
{
    _close(file);
}

int system_write_open(const char *path)
{
    return open_file(path, _O_WRONLY | _O_CREAT | _O_TRUNC);
}

bool system_write_close(int file)
{
    return _close(file) == 0;
}

/* Appends the path that a symbolic link leads to. False if the path names none, or if its target cannot be opened. */
static bool follow_link(const WCHAR *path, buffer *target)
{
    enum { MAX_UNITS = 1 << 15 };
    DWORD attributes = GetFileAttributesW(path);
    if (attributes == INVALID_FILE_ATTRIBUTES || !(attributes & FILE_ATTRIBUTE_REPARSE_POINT))
        return false;
    HANDLE file =
        CreateFileW(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    WCHAR *name = memory_get(MAX_UNITS, sizeof *name);
    DWORD units = GetFinalPathNameByHandleW(file, name, MAX_UNITS, 0);
    CloseHandle(file);
    if (units > 0 && units < MAX_UNITS) {
        char *utf8 = narrow(name);
        buffer_string(target, utf8);
        free(utf8);
    }
    free(name);
    return target->size > 0;
}

bool system_find_target(const char *path, buffer *target)
{
    WCHAR *wide = widen(path);
    buffer_clear(target);
    if (!follow_link(wide, target))
        buffer_string(target, path);
    free(wide);
    return !system_names_special(path);
}

bool system_names_output(const char *path)
{
    (void)path; /* no path names a descriptor */
    return false;
}

/* The target keeps its attributes and rights, see system_replace(). The file may be deleted while it is open, for
 * system_remove_at_signal(). */
int system_create(const char *path, const char *target)
{
    if (system_names_regular(target)) {
        int old = open_file(target, _O_WRONLY);
        if (old < 0)
            return -1;
        _close(old);
    }
    WCHAR *wide = widen(path);
    HANDLE created = CreateFileW(wide, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                 CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    free(wide);
    if (created == INVALID_HANDLE_VALUE) {
        set_errno();
        return -1;
    }
    system_remove_at_signal(path);
    int file = _open_osfhandle((intptr_t)created, _O_BINARY | _O_NOINHERIT);
    if (file < 0) {
        CloseHandle(created);
        system_remove(path);
    }
    return file;
}

/* Returns true for the errors that functions report, among other reasons, if a process has the file open. */
static bool is_in_use(DWORD error)
{
    return error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION || error == ERROR_UNABLE_TO_REMOVE_REPLACED;
}

/* ReplaceFileW() keeps the attributes and rights of an existing file, but some file systems lack it. */
static bool replace_once(const WCHAR *from, const WCHAR *to)
{
    if (ReplaceFileW(to, from, NULL, REPLACEFILE_IGNORE_MERGE_ERRORS, NULL, NULL))
        return true;
    return !is_in_use(GetLastError()) && MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING);
}

/* Windows does not replace a file that a reader has open. Readers close it soon, so this function retries for 1 s. */
bool system_replace(const char *from, const char *to)
{
    enum { MAX_TRIES = 100, PAUSE = 10 /* milliseconds */ };
    WCHAR *wide_from = widen(from);
    WCHAR *wide_to = widen(to);
    bool is_replaced = replace_once(wide_from, wide_to);
    for (int i = 0; i < MAX_TRIES && !is_replaced && is_in_use(GetLastError()); i++) {
        Sleep(PAUSE);
        is_replaced = replace_once(wide_from, wide_to);
    }
    if (!is_replaced)
        set_errno();
    free(wide_from);
    free(wide_to);
    return is_replaced;
}

void system_remove(const char *path)
{
    WCHAR *wide = widen(path);
    DeleteFileW(wide);
    free(wide);
}

uint32_t system_process(void)
{
    return GetCurrentProcessId();
}

bool system_open_page(const char *path)
{
    enum { MAX_ERROR = 32 }; /* ShellExecute returns an error up to this number */
    WCHAR *wide = widen(path);
    INT_PTR result = (INT_PTR)ShellExecuteW(NULL, L"open", wide, NULL, NULL, SW_SHOWNORMAL);
    free(wide);
    return result > MAX_ERROR;
}

static HANDLE handle_of(int file)
{
    return (HANDLE)_get_osfhandle(file); /* NOLINT(performance-no-int-to-ptr): a handle as an integer */
}

/* The offset of the byte that is locked. It is far past the data, since Windows lets no other process read a locked
 * byte. */
static const OVERLAPPED lock_place = {.OffsetHigh = 0x40000000};

bool system_is_locked(int file)
{
    OVERLAPPED place = lock_place;
    if (!LockFileEx(handle_of(file), LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place))
        return GetLastError() == ERROR_LOCK_VIOLATION;
    UnlockFileEx(handle_of(file), 0, 1, 0, &place);
    return false;
}

/* Locks a file for a recorder. False if another recorder holds the lock. Waits for readers, which hold a shared lock
 * for a moment in system_is_locked(). On file systems without locks, returns true although nothing is locked. */
static bool lock_file(int file)
{
    OVERLAPPED place = lock_place;
    for (int tries = LOCK_TRIES; tries > 0; tries--) {
        if (LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) ||
            GetLastError() != ERROR_LOCK_VIOLATION)
            return true;
        if (system_is_locked(file))
            return false;
        Sleep(1);
    }
    return false;
}

int system_append_open(const char *path, uint32_t mode, bool *is_created)
{
    (void)mode;
    const int flags = _O_WRONLY | _O_CREAT | _O_APPEND;
    int file = open_file(path, flags | _O_EXCL);
    *is_created = file >= 0;
    if (file < 0)
        file = open_file(path, flags);
    if (file >= 0 && system_is_regular(file) && !lock_file(file)) {
        _close(file);
        file = -1;
        errno = EAGAIN;
    }
    return file;
}

uint32_t system_mode(int file)
{
    (void)file;
    return SYSTEM_PRIVATE;
}

/* All folders share one mutex, since the critical sections are short. */
intptr_t system_folder_enter(const char *path, uint64_t *wait)
{
    (void)path;
    HANDLE mutex = CreateMutexW(NULL, FALSE, L"perfblock-files");
    uint64_t begin = system_now();
    DWORD outcome = mutex ? WaitForSingleObject(mutex, (DWORD)(*wait / 1000000)) : WAIT_FAILED;
    system_subtract_elapsed(wait, begin);
    if (outcome == WAIT_OBJECT_0 || outcome == WAIT_ABANDONED)
        return (intptr_t)mutex;
    if (mutex)
        CloseHandle(mutex);
    return 0;
}

void system_folder_leave(intptr_t section)
{
    HANDLE mutex = (HANDLE)section; /* NOLINT(performance-no-int-to-ptr): a handle as an integer */
    if (!mutex)
        return;
    ReleaseMutex(mutex);
    CloseHandle(mutex);
}

bool system_is_same_file(int left, int right)
{
    BY_HANDLE_FILE_INFORMATION a;
    BY_HANDLE_FILE_INFORMATION b;
    return GetFileInformationByHandle(handle_of(left), &a) && GetFileInformationByHandle(handle_of(right), &b) &&
           a.dwVolumeSerialNumber == b.dwVolumeSerialNumber && a.nFileIndexHigh == b.nFileIndexHigh &&
           a.nFileIndexLow == b.nFileIndexLow;
}

size_t system_unit(int file)
{
    (void)file;
    return SIZE_MAX;
}

bool system_wait_writable(int file)
{
    (void)file;
    return true;
}

bool system_wait_empty(int file)
{
    (void)file;
    return true;
}

long long system_write_some(int file, const char *bytes, size_t size)
{
    const size_t limit = 1u << 30; /* _write() returns the number of bytes as an int */
    return _write(file, bytes, (unsigned)(size < limit ? size : limit));
}

bool system_append_cut(int file, uint64_t size)
{
    return _chsize_s(file, (int64_t)size) == 0;
}

bool system_append_close(int file)
{
    bool is_synced = !system_is_regular(file) || _commit(file) == 0;
    return _close(file) == 0 && is_synced;
}

/* `path` need not be compared with the file: Windows does not rename open files. */
void system_append_discard(int file, const char *path)
{
    bool is_empty = system_file_size(file) == 0;
    _close(file);
    if (is_empty) {
        WCHAR *wide = widen(path);
        _wunlink(wide);
        free(wide);
    }
}

bool system_last_number(const char *path, uint64_t *number)
{
    struct _wfinddata_t found;
    buffer pattern = {0};
    *number = 0;
    buffer_format(&pattern, "%s.*", path);
    WCHAR *wide = widen(pattern.data);
    buffer_free(&pattern);
    intptr_t search = _wfindfirst(wide, &found);
    free(wide);
    if (search < 0)
        return errno == ENOENT;
    do {
        char *name = narrow(found.name);
        system_raise_number(name, system_file_name(path, PATH_SEPARATORS), number);
        free(name);
    } while (_wfindnext(search, &found) == 0);
    _findclose(search);
    return true;
}

bool system_rename(const char *from, const char *to)
{
    WCHAR *wide_from = widen(from);
    WCHAR *wide_to = widen(to);
    bool is_renamed = _wrename(wide_from, wide_to) == 0; /* fails if the new name exists */
    free(wide_from);
    free(wide_to);
    return is_renamed;
}
