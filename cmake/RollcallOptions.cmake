# Compiler settings shared by every target of this project.
include(GNUInstallDirs)

# Warnings are errors with the compilers that CI knows; a newer one may warn of more.
set(_werror OFF)
if(PROJECT_IS_TOP_LEVEL AND ((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
        CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13) OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND
        CMAKE_CXX_COMPILER_VERSION VERSION_LESS 20)))
    set(_werror ON)
endif()
option(ROLLCALL_WERROR "Treat warnings as errors" ${_werror})

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
    set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
    set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
endif()

add_library(rollcall_options INTERFACE)
target_compile_features(rollcall_options INTERFACE cxx_std_20)
# g++ 12 reports a mismatched new and delete in every coroutine, and overlapping memory where a
# string literal is joined to a string: known false positives.
# A symbol that is unique in the process cannot be made local, which the libraries need.
target_compile_options(rollcall_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
    -Wno-missing-field-initializers
    $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
    $<$<BOOL:${ROLLCALL_WERROR}>:-Werror>)
if(ROLLCALL_SANITIZE)
    target_compile_options(rollcall_options INTERFACE -fsanitize=${ROLLCALL_SANITIZE}
        -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(rollcall_options INTERFACE -fsanitize=${ROLLCALL_SANITIZE})
endif()

find_program(ROLLCALL_CCACHE ccache)
if(ROLLCALL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Without these a file that uses a precompiled header is never found in the cache.
    set(_sloppiness)
    if(NOT ROLLCALL_PCH STREQUAL "none")
        set(_sloppiness "${CMAKE_COMMAND}" -E env
            CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
    endif()
    set(CMAKE_CXX_COMPILER_LAUNCHER ${_sloppiness} "${ROLLCALL_CCACHE}")
endif()
find_program(ROLLCALL_MOLD mold)
if(ROLLCALL_MOLD)
    add_link_options(-fuse-ld=mold)
endif()

# rollcall_precompile(TARGET HEADER… | REUSE_FROM OTHER): parses the HEADERs once for all files of
# TARGET and of the targets that reuse its result, which must be compiled with the same options.
# Builds without it show missing includes: release for src/, lint for everything.
function(rollcall_precompile target)
    if(NOT ROLLCALL_PRECOMPILE)
        return()
    endif()
    if(ARGV1 STREQUAL "REUSE_FROM")
        target_precompile_headers(${target} ${ARGN})
    else()
        target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
    # What the compiler cache needs.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
        "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# Boost.Redis' adapter/result.hpp compiles only in front of the rest of that library.
set(ROLLCALL_USUAL_HEADERS <boost/redis/adapter/result.hpp>
    <algorithm> <chrono> <functional> <map> <memory> <optional> <string> <vector>
    <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp>
    <boost/asio/io_context.hpp> <boost/asio/post.hpp> <boost/asio/steady_timer.hpp>
    <boost/asio/use_awaitable.hpp> <boost/json.hpp> <boost/redis/request.hpp>
    <boost/redis/resp3/flat_tree.hpp> <boost/system/result.hpp>)
