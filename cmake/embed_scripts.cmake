# Writes OUT/scripts.hpp and OUT/scripts.cpp from the list SCRIPTS.
set(header "#pragma once\n\n#include \"redis/script.hpp\"\n\nnamespace ${NAMESPACE} {\n\n")
set(source "#include \"${ROOM}/scripts.hpp\"\n\nnamespace ${NAMESPACE} {\n\n")
foreach(script IN LISTS SCRIPTS)
    get_filename_component(name "${script}" NAME_WE)
    file(READ "${script}" text)
    file(SHA1 "${script}" sha1)
    string(APPEND header "extern redis::Script const ${name};\n")
    string(APPEND source
        "redis::Script const ${name}{\"${name}\", R\"lua(${text})lua\",\n    \"${sha1}\"};\n")
endforeach()
file(WRITE "${OUT}/scripts.hpp" "${header}\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}/scripts.cpp" "${source}\n}  // namespace ${NAMESPACE}\n")
