# Writes OUT/scripts.hpp and OUT/scripts.cpp from the list SCRIPTS. In a script the line
# `-- include PATH`, PATH below SOURCE, stands for the text of that file.
set(header "#pragma once\n\n#include \"redis/script.hpp\"\n\nnamespace ${NAMESPACE} {\n\n")
set(source "#include \"${ROOM}/scripts.hpp\"\n\nnamespace ${NAMESPACE} {\n\n")
foreach(script IN LISTS SCRIPTS)
    get_filename_component(name "${script}" NAME_WE)
    file(READ "${script}" text)
    while(text MATCHES "-- include ([^\n]+)\n")
        set(line "${CMAKE_MATCH_0}")
        file(READ "${SOURCE}/${CMAKE_MATCH_1}" part)
        string(REPLACE "${line}" "${part}" text "${text}")
    endwhile()
    string(SHA1 sha1 "${text}")
    string(APPEND header "extern redis::Script const ${name};\n")
    string(APPEND source
        "redis::Script const ${name}{\"${name}\", R\"lua(${text})lua\",\n    \"${sha1}\"};\n")
endforeach()
file(WRITE "${OUT}/scripts.hpp" "${header}\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}/scripts.cpp" "${source}\n}  // namespace ${NAMESPACE}\n")
