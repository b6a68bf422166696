/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h under Windows' own names, for the shared library: ctypes, P/Invoke and cgo bind by name. Each
 * W function also has the name without the letter, because .NET outside of Windows does not try the letters. Windows
 * itself exports only PdhOpenQuery so, and this library does the same there: it is a pdh.dll. docs/pdh.md says how to
 * bind. */
#define PFB_PDH_NO_NAMES

#if defined(_WIN32)
#define PFB_API __declspec(dllexport)
#endif

/* The calling convention of Windows' functions, which differs from that of C on 32-bit x86 only. */
#if defined(_WIN32) && defined(__i386__)
#define WINDOWS_CALL __stdcall
#else
#define WINDOWS_CALL
#endif

#define pfb_PdhAdd009CounterA WINDOWS_CALL PdhAdd009CounterA
#define pfb_PdhAdd009CounterW WINDOWS_CALL PdhAdd009CounterW
#define pfb_PdhAddCounterA WINDOWS_CALL PdhAddCounterA
#define pfb_PdhAddCounterW WINDOWS_CALL PdhAddCounterW
#define pfb_PdhAddEnglishCounterA WINDOWS_CALL PdhAddEnglishCounterA
#define pfb_PdhAddEnglishCounterW WINDOWS_CALL PdhAddEnglishCounterW
#define pfb_PdhAddRelogCounter WINDOWS_CALL PdhAddRelogCounter
#define pfb_PdhBindInputDataSourceA WINDOWS_CALL PdhBindInputDataSourceA
#define pfb_PdhBindInputDataSourceW WINDOWS_CALL PdhBindInputDataSourceW
#define pfb_PdhBrowseCountersA WINDOWS_CALL PdhBrowseCountersA
#define pfb_PdhBrowseCountersHA WINDOWS_CALL PdhBrowseCountersHA
#define pfb_PdhBrowseCountersHW WINDOWS_CALL PdhBrowseCountersHW
#define pfb_PdhBrowseCountersW WINDOWS_CALL PdhBrowseCountersW
#define pfb_PdhCalculateCounterFromRawValue WINDOWS_CALL PdhCalculateCounterFromRawValue
#define pfb_PdhCloseLog WINDOWS_CALL PdhCloseLog
#define pfb_PdhCloseQuery WINDOWS_CALL PdhCloseQuery
#define pfb_PdhCollectQueryData WINDOWS_CALL PdhCollectQueryData
#define pfb_PdhCollectQueryDataEx WINDOWS_CALL PdhCollectQueryDataEx
#define pfb_PdhCollectQueryDataWithTime WINDOWS_CALL PdhCollectQueryDataWithTime
#define pfb_PdhComputeCounterStatistics WINDOWS_CALL PdhComputeCounterStatistics
#define pfb_PdhConnectMachineA WINDOWS_CALL PdhConnectMachineA
#define pfb_PdhConnectMachineW WINDOWS_CALL PdhConnectMachineW
#define pfb_PdhCreateSQLTablesA WINDOWS_CALL PdhCreateSQLTablesA
#define pfb_PdhCreateSQLTablesW WINDOWS_CALL PdhCreateSQLTablesW
#define pfb_PdhEnumLogSetNamesA WINDOWS_CALL PdhEnumLogSetNamesA
#define pfb_PdhEnumLogSetNamesW WINDOWS_CALL PdhEnumLogSetNamesW
#define pfb_PdhEnumMachinesA WINDOWS_CALL PdhEnumMachinesA
#define pfb_PdhEnumMachinesHA WINDOWS_CALL PdhEnumMachinesHA
#define pfb_PdhEnumMachinesHW WINDOWS_CALL PdhEnumMachinesHW
#define pfb_PdhEnumMachinesW WINDOWS_CALL PdhEnumMachinesW
#define pfb_PdhEnumObjectItemsA WINDOWS_CALL PdhEnumObjectItemsA
#define pfb_PdhEnumObjectItemsHA WINDOWS_CALL PdhEnumObjectItemsHA
#define pfb_PdhEnumObjectItemsHW WINDOWS_CALL PdhEnumObjectItemsHW
#define pfb_PdhEnumObjectItemsW WINDOWS_CALL PdhEnumObjectItemsW
#define pfb_PdhEnumObjectsA WINDOWS_CALL PdhEnumObjectsA
#define pfb_PdhEnumObjectsHA WINDOWS_CALL PdhEnumObjectsHA
#define pfb_PdhEnumObjectsHW WINDOWS_CALL PdhEnumObjectsHW
#define pfb_PdhEnumObjectsW WINDOWS_CALL PdhEnumObjectsW
#define pfb_PdhExpandCounterPathA WINDOWS_CALL PdhExpandCounterPathA
#define pfb_PdhExpandCounterPathW WINDOWS_CALL PdhExpandCounterPathW
#define pfb_PdhExpandWildCardPathA WINDOWS_CALL PdhExpandWildCardPathA
#define pfb_PdhExpandWildCardPathHA WINDOWS_CALL PdhExpandWildCardPathHA
#define pfb_PdhExpandWildCardPathHW WINDOWS_CALL PdhExpandWildCardPathHW
#define pfb_PdhExpandWildCardPathW WINDOWS_CALL PdhExpandWildCardPathW
#define pfb_PdhFormatFromRawValue WINDOWS_CALL PdhFormatFromRawValue
#define pfb_PdhGetCounterInfoA WINDOWS_CALL PdhGetCounterInfoA
#define pfb_PdhGetCounterInfoW WINDOWS_CALL PdhGetCounterInfoW
#define pfb_PdhGetCounterTimeBase WINDOWS_CALL PdhGetCounterTimeBase
#define pfb_PdhGetDataSourceTimeRangeA WINDOWS_CALL PdhGetDataSourceTimeRangeA
#define pfb_PdhGetDataSourceTimeRangeH WINDOWS_CALL PdhGetDataSourceTimeRangeH
#define pfb_PdhGetDataSourceTimeRangeW WINDOWS_CALL PdhGetDataSourceTimeRangeW
#define pfb_PdhGetDefaultPerfCounterA WINDOWS_CALL PdhGetDefaultPerfCounterA
#define pfb_PdhGetDefaultPerfCounterHA WINDOWS_CALL PdhGetDefaultPerfCounterHA
#define pfb_PdhGetDefaultPerfCounterHW WINDOWS_CALL PdhGetDefaultPerfCounterHW
#define pfb_PdhGetDefaultPerfCounterW WINDOWS_CALL PdhGetDefaultPerfCounterW
#define pfb_PdhGetDefaultPerfObjectA WINDOWS_CALL PdhGetDefaultPerfObjectA
#define pfb_PdhGetDefaultPerfObjectHA WINDOWS_CALL PdhGetDefaultPerfObjectHA
#define pfb_PdhGetDefaultPerfObjectHW WINDOWS_CALL PdhGetDefaultPerfObjectHW
#define pfb_PdhGetDefaultPerfObjectW WINDOWS_CALL PdhGetDefaultPerfObjectW
#define pfb_PdhGetDllVersion WINDOWS_CALL PdhGetDllVersion
#define pfb_PdhGetExplainText WINDOWS_CALL PdhGetExplainText
#define pfb_PdhGetFormattedCounterArrayA WINDOWS_CALL PdhGetFormattedCounterArrayA
#define pfb_PdhGetFormattedCounterArrayW WINDOWS_CALL PdhGetFormattedCounterArrayW
#define pfb_PdhGetFormattedCounterValue WINDOWS_CALL PdhGetFormattedCounterValue
#define pfb_PdhGetLogFileSize WINDOWS_CALL PdhGetLogFileSize
#define pfb_PdhGetLogFileTypeA WINDOWS_CALL PdhGetLogFileTypeA
#define pfb_PdhGetLogFileTypeW WINDOWS_CALL PdhGetLogFileTypeW
#define pfb_PdhGetLogSetGUID WINDOWS_CALL PdhGetLogSetGUID
#define pfb_PdhGetRawCounterArrayA WINDOWS_CALL PdhGetRawCounterArrayA
#define pfb_PdhGetRawCounterArrayW WINDOWS_CALL PdhGetRawCounterArrayW
#define pfb_PdhGetRawCounterValue WINDOWS_CALL PdhGetRawCounterValue
#define pfb_PdhIsRealTimeQuery WINDOWS_CALL PdhIsRealTimeQuery
#define pfb_PdhListLogFileHeaderA WINDOWS_CALL PdhListLogFileHeaderA
#define pfb_PdhListLogFileHeaderW WINDOWS_CALL PdhListLogFileHeaderW
#define pfb_PdhLookupPerfIndexByNameA WINDOWS_CALL PdhLookupPerfIndexByNameA
#define pfb_PdhLookupPerfIndexByNameW WINDOWS_CALL PdhLookupPerfIndexByNameW
#define pfb_PdhLookupPerfNameByIndexA WINDOWS_CALL PdhLookupPerfNameByIndexA
#define pfb_PdhLookupPerfNameByIndexW WINDOWS_CALL PdhLookupPerfNameByIndexW
#define pfb_PdhMakeCounterPathA WINDOWS_CALL PdhMakeCounterPathA
#define pfb_PdhMakeCounterPathW WINDOWS_CALL PdhMakeCounterPathW
#define pfb_PdhOpenLogA WINDOWS_CALL PdhOpenLogA
#define pfb_PdhOpenLogW WINDOWS_CALL PdhOpenLogW
#define pfb_PdhOpenQueryA WINDOWS_CALL PdhOpenQueryA
#define pfb_PdhOpenQueryH WINDOWS_CALL PdhOpenQueryH
#define pfb_PdhOpenQueryW WINDOWS_CALL PdhOpenQueryW
#define pfb_PdhParseCounterPathA WINDOWS_CALL PdhParseCounterPathA
#define pfb_PdhParseCounterPathW WINDOWS_CALL PdhParseCounterPathW
#define pfb_PdhParseInstanceNameA WINDOWS_CALL PdhParseInstanceNameA
#define pfb_PdhParseInstanceNameW WINDOWS_CALL PdhParseInstanceNameW
#define pfb_PdhReadRawLogRecord WINDOWS_CALL PdhReadRawLogRecord
#define pfb_PdhRelogA WINDOWS_CALL PdhRelogA
#define pfb_PdhRelogW WINDOWS_CALL PdhRelogW
#define pfb_PdhRemoveCounter WINDOWS_CALL PdhRemoveCounter
#define pfb_PdhResetRelogCounterValues WINDOWS_CALL PdhResetRelogCounterValues
#define pfb_PdhSelectDataSourceA WINDOWS_CALL PdhSelectDataSourceA
#define pfb_PdhSelectDataSourceW WINDOWS_CALL PdhSelectDataSourceW
#define pfb_PdhSetCounterScaleFactor WINDOWS_CALL PdhSetCounterScaleFactor
#define pfb_PdhSetCounterValue WINDOWS_CALL PdhSetCounterValue
#define pfb_PdhSetDefaultRealTimeDataSource WINDOWS_CALL PdhSetDefaultRealTimeDataSource
#define pfb_PdhSetLogSetRunID WINDOWS_CALL PdhSetLogSetRunID
#define pfb_PdhSetQueryTimeRange WINDOWS_CALL PdhSetQueryTimeRange
#define pfb_PdhTranslate009CounterA WINDOWS_CALL PdhTranslate009CounterA
#define pfb_PdhTranslate009CounterW WINDOWS_CALL PdhTranslate009CounterW
#define pfb_PdhTranslateLocaleCounterA WINDOWS_CALL PdhTranslateLocaleCounterA
#define pfb_PdhTranslateLocaleCounterW WINDOWS_CALL PdhTranslateLocaleCounterW
#define pfb_PdhUpdateLogA WINDOWS_CALL PdhUpdateLogA
#define pfb_PdhUpdateLogFileCatalog WINDOWS_CALL PdhUpdateLogFileCatalog
#define pfb_PdhUpdateLogW WINDOWS_CALL PdhUpdateLogW
#define pfb_PdhValidatePathA WINDOWS_CALL PdhValidatePathA
#define pfb_PdhValidatePathExA WINDOWS_CALL PdhValidatePathExA
#define pfb_PdhValidatePathExW WINDOWS_CALL PdhValidatePathExW
#define pfb_PdhValidatePathW WINDOWS_CALL PdhValidatePathW
#define pfb_PdhVerifySQLDBA WINDOWS_CALL PdhVerifySQLDBA
#define pfb_PdhVerifySQLDBW WINDOWS_CALL PdhVerifySQLDBW
#define pfb_PdhWriteRelogSample WINDOWS_CALL PdhWriteRelogSample

#include "pdh/pdh.c" /* NOLINT(bugprone-suspicious-include) */

#if defined(_WIN32)

PFB_API PDH_STATUS WINDOWS_CALL PdhOpenQuery(LPCWSTR source, DWORD_PTR user, PDH_HQUERY *query);

PDH_STATUS WINDOWS_CALL PdhOpenQuery(LPCWSTR source, DWORD_PTR user, PDH_HQUERY *query)
{
    return PdhOpenQueryW(source, user, query);
}

/* The functions for Visual Basic, which headers do not declare. A program that imports one starts. On 32-bit x86 a
 * function removes its arguments, so their number counts. */
#define ARGUMENT(name) DWORD_PTR name __attribute__((unused))
#define FOR_VISUAL_BASIC(name, ...)                                                                                    \
    PFB_API PDH_STATUS WINDOWS_CALL PdhVb##name(__VA_ARGS__);                                                          \
    PDH_STATUS WINDOWS_CALL PdhVb##name(__VA_ARGS__)                                                                   \
    {                                                                                                                  \
        return (PDH_STATUS)PDH_NOT_IMPLEMENTED;                                                                        \
    }

FOR_VISUAL_BASIC(AddCounter, ARGUMENT(a), ARGUMENT(b), ARGUMENT(c))
FOR_VISUAL_BASIC(CreateCounterPathList, ARGUMENT(a), ARGUMENT(b))
FOR_VISUAL_BASIC(GetCounterPathElements, ARGUMENT(a), ARGUMENT(b), ARGUMENT(c), ARGUMENT(d), ARGUMENT(e), ARGUMENT(f),
                 ARGUMENT(g))
FOR_VISUAL_BASIC(GetCounterPathFromList, ARGUMENT(a), ARGUMENT(b), ARGUMENT(c))
FOR_VISUAL_BASIC(GetDoubleCounterValue, ARGUMENT(a), ARGUMENT(b))
FOR_VISUAL_BASIC(GetLogFileSize, ARGUMENT(a), ARGUMENT(b))
FOR_VISUAL_BASIC(GetOneCounterPath, ARGUMENT(a), ARGUMENT(b), ARGUMENT(c), ARGUMENT(d))
FOR_VISUAL_BASIC(IsGoodStatus, ARGUMENT(a))
FOR_VISUAL_BASIC(OpenLog, ARGUMENT(a), ARGUMENT(b), ARGUMENT(c), ARGUMENT(d), ARGUMENT(e), ARGUMENT(f), ARGUMENT(g))
FOR_VISUAL_BASIC(OpenQuery, ARGUMENT(a))
FOR_VISUAL_BASIC(UpdateLog, ARGUMENT(a), ARGUMENT(b))

#else

/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define WITHOUT_LETTER(name) extern __typeof__(name##W) name __attribute__((alias(#name "W"), visibility("default")))

WITHOUT_LETTER(PdhAdd009Counter);
WITHOUT_LETTER(PdhAddCounter);
WITHOUT_LETTER(PdhAddEnglishCounter);
WITHOUT_LETTER(PdhBindInputDataSource);
WITHOUT_LETTER(PdhBrowseCounters);
WITHOUT_LETTER(PdhBrowseCountersH);
WITHOUT_LETTER(PdhConnectMachine);
WITHOUT_LETTER(PdhCreateSQLTables);
WITHOUT_LETTER(PdhEnumLogSetNames);
WITHOUT_LETTER(PdhEnumMachines);
WITHOUT_LETTER(PdhEnumMachinesH);
WITHOUT_LETTER(PdhEnumObjectItems);
WITHOUT_LETTER(PdhEnumObjectItemsH);
WITHOUT_LETTER(PdhEnumObjects);
WITHOUT_LETTER(PdhEnumObjectsH);
WITHOUT_LETTER(PdhExpandCounterPath);
WITHOUT_LETTER(PdhExpandWildCardPath);
WITHOUT_LETTER(PdhExpandWildCardPathH);
WITHOUT_LETTER(PdhGetCounterInfo);
WITHOUT_LETTER(PdhGetDataSourceTimeRange);
WITHOUT_LETTER(PdhGetDefaultPerfCounter);
WITHOUT_LETTER(PdhGetDefaultPerfCounterH);
WITHOUT_LETTER(PdhGetDefaultPerfObject);
WITHOUT_LETTER(PdhGetDefaultPerfObjectH);
WITHOUT_LETTER(PdhGetFormattedCounterArray);
WITHOUT_LETTER(PdhGetLogFileType);
WITHOUT_LETTER(PdhGetRawCounterArray);
WITHOUT_LETTER(PdhListLogFileHeader);
WITHOUT_LETTER(PdhLookupPerfIndexByName);
WITHOUT_LETTER(PdhLookupPerfNameByIndex);
WITHOUT_LETTER(PdhMakeCounterPath);
WITHOUT_LETTER(PdhOpenLog);
WITHOUT_LETTER(PdhOpenQuery);
WITHOUT_LETTER(PdhParseCounterPath);
WITHOUT_LETTER(PdhParseInstanceName);
WITHOUT_LETTER(PdhRelog);
WITHOUT_LETTER(PdhSelectDataSource);
WITHOUT_LETTER(PdhTranslate009Counter);
WITHOUT_LETTER(PdhTranslateLocaleCounter);
WITHOUT_LETTER(PdhUpdateLog);
WITHOUT_LETTER(PdhValidatePath);
WITHOUT_LETTER(PdhValidatePathEx);
WITHOUT_LETTER(PdhVerifySQLDB);

#endif
