# SPDX-License-Identifier: MIT
# Settings of the targets of this project. The warning flags do not affect programs that link them.

# C11 without extensions, hidden symbols, and optional warning flags.
function(perfblock_setup_target target)
    target_compile_features(${target} PRIVATE c_std_11) # programs in older C and in C++ use the headers as well
    set_target_properties(${target} PROPERTIES C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
    if(PERFBLOCK_WARNINGS AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
        target_compile_options(
            ${target}
            PRIVATE -Wall
                    -Wextra
                    -Wpedantic
                    -Wconversion
                    -Wsign-conversion
                    -Wshadow
                    -Wcast-align
                    -Wvla
                    $<$<BOOL:${PERFBLOCK_WERROR}>:-Werror>
        )
    endif()
endfunction()

# The same settings for a library, and also its name in the exported package, its version, the folder of its public
# headers, and the macros of export.h. While the major version is 0, each minor version has its own ABI.
function(perfblock_setup_library target name output_name headers)
    perfblock_setup_target(${target})
    target_include_directories(
        ${target} PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/${headers}>"
                         "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    )
    set_target_properties(
        ${target}
        PROPERTIES EXPORT_NAME ${name}
                   OUTPUT_NAME ${output_name}
                   VERSION ${PROJECT_VERSION}
                   SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                   POSITION_INDEPENDENT_CODE ON # static libraries become parts of plugins
    )
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT WIN32)
        # Calls within a source are inlined, as in code that is not position-independent.
        target_compile_options(${target} PRIVATE -fno-semantic-interposition)
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        target_compile_definitions(${target} PUBLIC PERFBLOCK_SHARED PRIVATE PERFBLOCK_BUILDING)
        set_target_properties(${target} PROPERTIES INSTALL_RPATH "\$ORIGIN")
    endif()
endfunction()

# For sources that call the system: sizes of files have 64 bits, also in 32-bit builds and on Windows, and POSIX functions
# are visible, which -std=c11 would hide.
function(perfblock_use_posix target)
    # Not where it changes nothing: MemorySanitizer of clang 14 does not know the functions that it selects.
    if(WIN32 OR CMAKE_SIZEOF_VOID_P EQUAL 4)
        target_compile_definitions(${target} PRIVATE _FILE_OFFSET_BITS=64)
    endif()
    if(NOT WIN32)
        target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
    endif()
endfunction()
