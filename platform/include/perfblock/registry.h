/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_REGISTRY_H
#define PERFBLOCK_REGISTRY_H

/* The registry functions for performance data: RegQueryValueEx of HKEY_PERFORMANCE_DATA and what belongs to it, so that
 * a consumer of V1 blocks can be compiled and tested on any system. See docs/registry.md.
 *
 *     DWORD size = 65536;
 *     void *block = malloc(size);
 *     LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, "238 2", NULL, NULL, block, &size);
 *
 * The functions return what Microsoft documents for those without the prefix pfb_, on the source of perfblock/pdh.h:
 * this machine, the recording or log that the environment variable PERFBLOCK_CAPTURE names, or that of pfb_pdh_use.
 * There are the keys of performance data and the Perflib keys below HKEY_LOCAL_MACHINE, no others. A strings are UTF-8,
 * W strings UTF-16. Any thread may call any function; calls wait for each other. Handles are numbers: a closed or
 * foreign one is ERROR_INVALID_HANDLE.
 *
 * On Windows these names are the system's functions. Define PFB_REGISTRY_OVER_SOURCE before including this header to
 * use the functions of this library there, too. */

#include "perfblock/pdh.h"

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(_WIN32)

typedef struct HKEY__ *HKEY;
typedef HKEY *PHKEY;
typedef DWORD REGSAM;
typedef LONG LSTATUS;
typedef FILETIME *PFILETIME;

/* Windows extends the sign in programs of 64 bits. Numbers without it are the same keys. */
#define PFB_HKEY(number) ((HKEY)(intptr_t)(int32_t)(number))
#define HKEY_LOCAL_MACHINE PFB_HKEY(0x80000002)
#define HKEY_USERS PFB_HKEY(0x80000003)
#define HKEY_PERFORMANCE_DATA PFB_HKEY(0x80000004)
#define HKEY_PERFORMANCE_TEXT PFB_HKEY(0x80000050)
#define HKEY_PERFORMANCE_NLSTEXT PFB_HKEY(0x80000060)

#define REG_NONE 0
#define REG_SZ 1
#define REG_EXPAND_SZ 2
#define REG_BINARY 3
#define REG_DWORD 4
#define REG_MULTI_SZ 7
#define REG_QWORD 11

#define KEY_QUERY_VALUE 0x0001
#define KEY_ENUMERATE_SUB_KEYS 0x0008
#define KEY_NOTIFY 0x0010
#define KEY_READ 0x20019
#define KEY_WOW64_64KEY 0x0100
#define KEY_WOW64_32KEY 0x0200

#endif

/* Data: a NULL buffer is ERROR_MORE_DATA with size 0; a buffer that is too small is ERROR_MORE_DATA, the size stays,
 * and the sample is kept for the next call with this value name. Name tables and other values: a NULL buffer asks for
 * the size, and a size that is too small becomes the one needed. After the last sample: ERROR_NO_MORE_ITEMS, or
 * ERROR_FILE_CORRUPT if the file is damaged there. */
PFB_API LSTATUS pfb_RegQueryValueExA(HKEY key, LPCSTR name, DWORD *reserved, DWORD *type, BYTE *data, DWORD *size);
PFB_API LSTATUS pfb_RegQueryValueExW(HKEY key, LPCWSTR name, DWORD *reserved, DWORD *type, BYTE *data, DWORD *size);
PFB_API LSTATUS pfb_RegCloseKey(HKEY key);
PFB_API LSTATUS pfb_RegOpenKeyExA(HKEY key, LPCSTR name, DWORD options, REGSAM access, HKEY *result);
PFB_API LSTATUS pfb_RegOpenKeyExW(HKEY key, LPCWSTR name, DWORD options, REGSAM access, HKEY *result);
PFB_API LSTATUS pfb_RegOpenKeyA(HKEY key, LPCSTR name, HKEY *result);
PFB_API LSTATUS pfb_RegOpenKeyW(HKEY key, LPCWSTR name, HKEY *result);
PFB_API LSTATUS pfb_RegConnectRegistryA(LPCSTR machine, HKEY key, HKEY *result);
PFB_API LSTATUS pfb_RegConnectRegistryW(LPCWSTR machine, HKEY key, HKEY *result);
PFB_API LSTATUS pfb_RegQueryInfoKeyA(HKEY key, LPSTR class_name, DWORD *class_size, DWORD *reserved, DWORD *key_count,
                                     DWORD *max_key_size, DWORD *max_class_size, DWORD *value_count,
                                     DWORD *max_name_size, DWORD *max_value_size, DWORD *security_size,
                                     FILETIME *write_time);
PFB_API LSTATUS pfb_RegQueryInfoKeyW(HKEY key, LPWSTR class_name, DWORD *class_size, DWORD *reserved, DWORD *key_count,
                                     DWORD *max_key_size, DWORD *max_class_size, DWORD *value_count,
                                     DWORD *max_name_size, DWORD *max_value_size, DWORD *security_size,
                                     FILETIME *write_time);
PFB_API LSTATUS pfb_RegEnumKeyExA(HKEY key, DWORD index, LPSTR name, DWORD *name_size, DWORD *reserved,
                                  LPSTR class_name, DWORD *class_size, FILETIME *write_time);
PFB_API LSTATUS pfb_RegEnumKeyExW(HKEY key, DWORD index, LPWSTR name, DWORD *name_size, DWORD *reserved,
                                  LPWSTR class_name, DWORD *class_size, FILETIME *write_time);
PFB_API LSTATUS pfb_RegEnumValueA(HKEY key, DWORD index, LPSTR name, DWORD *name_size, DWORD *reserved, DWORD *type,
                                  BYTE *data, DWORD *size);
PFB_API LSTATUS pfb_RegEnumValueW(HKEY key, DWORD index, LPWSTR name, DWORD *name_size, DWORD *reserved, DWORD *type,
                                  BYTE *data, DWORD *size);

#if (!defined(_WIN32) || defined(PFB_REGISTRY_OVER_SOURCE)) && !defined(PFB_REGISTRY_NO_NAMES)
#undef RegConnectRegistry
#undef RegEnumKeyEx
#undef RegEnumValue
#undef RegOpenKey
#undef RegOpenKeyEx
#undef RegQueryInfoKey
#undef RegQueryValueEx
#ifdef UNICODE
#define RegConnectRegistry pfb_RegConnectRegistryW
#define RegEnumKeyEx pfb_RegEnumKeyExW
#define RegEnumValue pfb_RegEnumValueW
#define RegOpenKey pfb_RegOpenKeyW
#define RegOpenKeyEx pfb_RegOpenKeyExW
#define RegQueryInfoKey pfb_RegQueryInfoKeyW
#define RegQueryValueEx pfb_RegQueryValueExW
#else
#define RegConnectRegistry pfb_RegConnectRegistryA
#define RegEnumKeyEx pfb_RegEnumKeyExA
#define RegEnumValue pfb_RegEnumValueA
#define RegOpenKey pfb_RegOpenKeyA
#define RegOpenKeyEx pfb_RegOpenKeyExA
#define RegQueryInfoKey pfb_RegQueryInfoKeyA
#define RegQueryValueEx pfb_RegQueryValueExA
#endif
#define RegCloseKey pfb_RegCloseKey
#define RegConnectRegistryA pfb_RegConnectRegistryA
#define RegConnectRegistryW pfb_RegConnectRegistryW
#define RegEnumKeyExA pfb_RegEnumKeyExA
#define RegEnumKeyExW pfb_RegEnumKeyExW
#define RegEnumValueA pfb_RegEnumValueA
#define RegEnumValueW pfb_RegEnumValueW
#define RegOpenKeyA pfb_RegOpenKeyA
#define RegOpenKeyW pfb_RegOpenKeyW
#define RegOpenKeyExA pfb_RegOpenKeyExA
#define RegOpenKeyExW pfb_RegOpenKeyExW
#define RegQueryInfoKeyA pfb_RegQueryInfoKeyA
#define RegQueryInfoKeyW pfb_RegQueryInfoKeyW
#define RegQueryValueExA pfb_RegQueryValueExA
#define RegQueryValueExW pfb_RegQueryValueExW
#endif

#ifdef __cplusplus
}
#endif

#endif
