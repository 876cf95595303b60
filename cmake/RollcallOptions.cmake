# Compiler settings shared by every target of this project.
include(GNUInstallDirs)

add_library(rollcall_options INTERFACE)
target_compile_features(rollcall_options INTERFACE cxx_std_20)
# g++ 12 reports a mismatched new and delete in every coroutine: a known false positive.
target_compile_options(rollcall_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
    -Wno-missing-field-initializers
    $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
    $<$<BOOL:${ROLLCALL_WERROR}>:-Werror>)
if(ROLLCALL_SANITIZE)
    target_compile_options(rollcall_options INTERFACE -fsanitize=${ROLLCALL_SANITIZE}
        -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(rollcall_options INTERFACE -fsanitize=${ROLLCALL_SANITIZE})
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_program(ROLLCALL_CCACHE ccache)
if(ROLLCALL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${ROLLCALL_CCACHE}")
endif()
find_program(ROLLCALL_MOLD mold)
if(ROLLCALL_MOLD)
    add_link_options(-fuse-ld=mold)
endif()
