# Building this makes all sources that are not written by hand.
add_custom_target(rollcall_generated)

# rollcall_embed_scripts(ROOM NAMESPACE): embeds ROOM/lua/*.lua into the room's target as
# `<ROOM>/scripts.hpp` with one redis::Script a file, in NAMESPACE. What several scripts share is in
# lua/parts/.
function(rollcall_embed_scripts room namespace)
    file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/lua/*.lua")
    file(GLOB parts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/lua/parts/*.lua")
    set(target rollcall_${room})
    set(out "${PROJECT_BINARY_DIR}/generated/${room}")
    add_custom_command(
        OUTPUT "${out}/scripts.hpp" "${out}/scripts.cpp"
        COMMAND "${CMAKE_COMMAND}" "-DSCRIPTS=${scripts}" -DNAMESPACE=${namespace} -DROOM=${room}
                "-DOUT=${out}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}"
                -P "${PROJECT_SOURCE_DIR}/cmake/embed_scripts.cmake"
        DEPENDS ${scripts} ${parts} "${PROJECT_SOURCE_DIR}/cmake/embed_scripts.cmake"
        COMMENT "Embedding ${room}/lua" VERBATIM)
    add_custom_target(${target}_scripts DEPENDS "${out}/scripts.hpp" "${out}/scripts.cpp")
    add_dependencies(rollcall_generated ${target}_scripts)
    target_sources(${target} PRIVATE "${out}/scripts.hpp" "${out}/scripts.cpp")
    target_include_directories(${target} PUBLIC "${PROJECT_BINARY_DIR}/generated")
endfunction()
