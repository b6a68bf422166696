/* SPDX-License-Identifier: MIT */
#include "perfblock/source.h"

/* Ascending by code. The texts of the last four describe their meaning in performance data; the system's messages for
 * these codes are about WMI. */
static const pfb_win32_code rows[] = {
    {PFB_WIN32_FILE_NOT_FOUND, "ERROR_FILE_NOT_FOUND", "not found"},
    {PFB_WIN32_PATH_NOT_FOUND, "ERROR_PATH_NOT_FOUND", "path not found"},
    {PFB_WIN32_TOO_MANY_OPEN_FILES, "ERROR_TOO_MANY_OPEN_FILES", "too many open files"},
    {PFB_WIN32_ACCESS_DENIED, "ERROR_ACCESS_DENIED", "access denied"},
    {PFB_WIN32_INVALID_HANDLE, "ERROR_INVALID_HANDLE", "invalid handle"},
    {PFB_WIN32_NOT_ENOUGH_MEMORY, "ERROR_NOT_ENOUGH_MEMORY", "not enough memory"},
    {PFB_WIN32_INVALID_DATA, "ERROR_INVALID_DATA", "malformed data"},
    {PFB_WIN32_OUTOFMEMORY, "ERROR_OUTOFMEMORY", "out of memory"},
    {PFB_WIN32_NOT_READY, "ERROR_NOT_READY", "not ready"},
    {PFB_WIN32_READ_FAULT, "ERROR_READ_FAULT", "cannot be read"},
    {PFB_WIN32_NOT_SUPPORTED, "ERROR_NOT_SUPPORTED", "not supported"},
    {PFB_WIN32_BAD_NETPATH, "ERROR_BAD_NETPATH", "no such machine"},
    {PFB_WIN32_INVALID_PARAMETER, "ERROR_INVALID_PARAMETER", "invalid parameter"},
    {PFB_WIN32_LOCK_FAILED, "ERROR_LOCK_FAILED", "lock failed"},
    {PFB_WIN32_BUSY, "ERROR_BUSY", "busy"},
    {PFB_WIN32_ALREADY_EXISTS, "ERROR_ALREADY_EXISTS", "already exists"},
    {PFB_WIN32_MORE_DATA, "ERROR_MORE_DATA", "more data"},
    {PFB_WIN32_WAIT_TIMEOUT, "WAIT_TIMEOUT", "timed out"},
    {PFB_WIN32_NO_MORE_ITEMS, "ERROR_NO_MORE_ITEMS", "no more items"},
    {PFB_WIN32_NOT_FOUND, "ERROR_NOT_FOUND", "element not found"},
    {PFB_WIN32_FILE_CORRUPT, "ERROR_FILE_CORRUPT", "the file is damaged"},
    {PFB_WIN32_NO_SYSTEM_RESOURCES, "ERROR_NO_SYSTEM_RESOURCES", "no system resources"},
    {PFB_WIN32_COUNTERSET_NOT_FOUND, "ERROR_WMI_GUID_NOT_FOUND", "no such counterset"},
    {PFB_WIN32_INSTANCE_NOT_FOUND, "ERROR_WMI_INSTANCE_NOT_FOUND", "no such instance"},
    {PFB_WIN32_COUNTER_NOT_FOUND, "ERROR_WMI_ITEMID_NOT_FOUND", "no such counter"},
    {PFB_WIN32_REGISTRATION_MISMATCH, "ERROR_WMI_INVALID_REGINFO", "registration does not fit the data"},
};

const pfb_win32_code *pfb_win32_find(uint32_t code)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].code == code)
            return &rows[i];
    }
    return NULL;
}
