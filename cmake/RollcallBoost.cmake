# Boost's headers, and the one target that compiles its header-only libraries.
find_package(OpenSSL 3 REQUIRED)
find_package(Threads REQUIRED)

find_path(ROLLCALL_BOOST_INCLUDE boost/redis.hpp
    HINTS "${PROJECT_SOURCE_DIR}/.deps/boost/usr/include")
if(NOT ROLLCALL_BOOST_INCLUDE)
    message(FATAL_ERROR "Boost >= 1.91 is needed: run tools/deps.sh, or set CMAKE_PREFIX_PATH")
endif()
file(STRINGS "${ROLLCALL_BOOST_INCLUDE}/boost/version.hpp" _version REGEX "define BOOST_VERSION ")
string(REGEX MATCH "[0-9]+" _version "${_version}")
if(_version LESS 109100)
    message(FATAL_ERROR "Boost >= 1.91 is needed; ${ROLLCALL_BOOST_INCLUDE} has ${_version}")
endif()

file(GLOB _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/boost/*.cpp")
add_library(rollcall_boost STATIC ${_sources})
target_include_directories(rollcall_boost SYSTEM PUBLIC "${ROLLCALL_BOOST_INCLUDE}")
target_compile_definitions(rollcall_boost PUBLIC BOOST_ASIO_SEPARATE_COMPILATION
    BOOST_ASIO_NO_DEPRECATED BOOST_JSON_NO_LIB BOOST_ALL_NO_LIB)
target_compile_definitions(rollcall_boost PRIVATE ROLLCALL_BOOST_VERSION=${_version})
target_link_libraries(rollcall_boost PUBLIC OpenSSL::SSL OpenSSL::Crypto Threads::Threads
    PRIVATE rollcall_options)
# These files are never stepped into; -O1 keeps unoptimised builds usable.
target_compile_options(rollcall_boost PRIVATE -w $<$<CONFIG:Debug>:-O1>)
