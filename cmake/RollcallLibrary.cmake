# The two libraries that are installed, `rollcall::shared` and `rollcall::static`, and
# `rollcall::rollcall`, which is the shared one unless BUILD_SHARED_LIBS is off.
#
# A program may use a Boost of its own beside ours, and Boost gives thousands of its symbols default
# visibility: two copies that meet crash. So all rooms and what they use of Boost are joined to one
# object, in which only what the public headers declare stays visible: they push default visibility,
# everything else is compiled hidden. Both libraries hold that object.
set(ROLLCALL_LIBRARY_ROOMS core balance redis registry streaming cosky invoke health)

# Consumers see the public headers, and nothing of the rooms.
add_library(rollcall_headers INTERFACE)
file(GLOB_RECURSE _headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.hpp")
target_sources(rollcall_headers INTERFACE FILE_SET HEADERS
    BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${_headers})
target_compile_features(rollcall_headers INTERFACE cxx_std_20)
set_target_properties(rollcall_headers PROPERTIES EXPORT_NAME headers
    VERIFY_INTERFACE_HEADER_SETS ON)

if(ROLLCALL_SANITIZE)
    # Sanitizers keep tables by address of every object: programs are linked from the rooms.
    add_library(rollcall INTERFACE)
    target_link_libraries(rollcall INTERFACE rollcall_streaming rollcall_cosky rollcall_invoke
        rollcall_health)
    add_library(rollcall::rollcall ALIAS rollcall)
    return()
endif()

find_program(ROLLCALL_LD NAMES ld.bfd REQUIRED)
set(_joined "${CMAKE_CURRENT_BINARY_DIR}/rollcall.o")
list(TRANSFORM ROLLCALL_LIBRARY_ROOMS REPLACE "(.+)" "$<TARGET_FILE:rollcall_\\1>"
    OUTPUT_VARIABLE _archives)
list(TRANSFORM ROLLCALL_LIBRARY_ROOMS PREPEND rollcall_ OUTPUT_VARIABLE _rooms)
add_custom_command(OUTPUT "${_joined}"
    COMMAND "${ROLLCALL_LD}" -r --force-group-allocation -o "${_joined}"
        --whole-archive ${_archives} --no-whole-archive $<TARGET_FILE:rollcall_boost>
    # Also hidden: Asio's C functions, and what public classes declare but keep to themselves.
    COMMAND "${CMAKE_OBJCOPY}" --localize-hidden --wildcard --localize-symbol=*5boost*
        --localize-symbol=*asio_* --localize-symbol=*8rollcall5redis* --localize-symbol=*4Impl*
        "${_joined}"
    DEPENDS ${_rooms} rollcall_boost
    COMMENT "Joining the rooms to one object" VERBATIM)
add_custom_target(rollcall_joined DEPENDS "${_joined}")
set_source_files_properties("${_joined}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

# The rest of the process is not to see our copies of the standard library's templates either.
set(_exports "${CMAKE_CURRENT_BINARY_DIR}/exports.map")
file(CONFIGURE OUTPUT "${_exports}" CONTENT "{
    global: _ZN8rollcall*; _ZNK8rollcall*; _ZNKR8rollcall*; _ZNO8rollcall*;
        _ZT?N8rollcall*; _ZT*_N8rollcall*; _ZT*_NK8rollcall*;
    local: *;
};
")

foreach(_kind shared static)
    string(TOUPPER ${_kind} _type)
    add_library(rollcall_${_kind} ${_type} "${_joined}")
    add_library(rollcall::${_kind} ALIAS rollcall_${_kind})
    add_dependencies(rollcall_${_kind} rollcall_joined)
    target_link_libraries(rollcall_${_kind} PUBLIC rollcall_headers
        PRIVATE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
    set_target_properties(rollcall_${_kind} PROPERTIES OUTPUT_NAME rollcall EXPORT_NAME ${_kind}
        LINKER_LANGUAGE CXX)
endforeach()
target_link_options(rollcall_shared PRIVATE "-Wl,--version-script=${_exports}" -Wl,-z,defs)
set_target_properties(rollcall_shared PROPERTIES LINK_DEPENDS "${_exports}"
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

if(NOT DEFINED BUILD_SHARED_LIBS OR BUILD_SHARED_LIBS)
    add_library(rollcall::rollcall ALIAS rollcall_shared)
    set(_other rollcall_static)
else()
    add_library(rollcall::rollcall ALIAS rollcall_static)
    set(_other rollcall_shared)
endif()

if(NOT ROLLCALL_INSTALL)
    set_target_properties(${_other} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
endif()
include(CMakePackageConfigHelpers)
set(_config "${CMAKE_INSTALL_LIBDIR}/cmake/rollcall")
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
install(TARGETS rollcall_headers rollcall_shared rollcall_static EXPORT rollcall
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT rollcall FILE rollcallTargets.cmake NAMESPACE rollcall:: DESTINATION "${_config}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/rollcallConfig.cmake.in"
    "${CMAKE_CURRENT_BINARY_DIR}/rollcallConfig.cmake" INSTALL_DESTINATION "${_config}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/rollcallConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/rollcallConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/rollcallConfigVersion.cmake" DESTINATION "${_config}")

# For who has no CMake. It finds the rest from where it lies itself, so that the prefix may be moved,
# unless one of the folders was given with its whole path.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(_pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
    set(_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
else()
    file(RELATIVE_PATH _up "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /p)
    string(REGEX REPLACE "/$" "" _pc_prefix "\${pcfiledir}/${_up}")
    set(_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
    set(_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/rollcall.pc.in"
    "${CMAKE_CURRENT_BINARY_DIR}/rollcall.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/rollcall.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
