#include "support/documented_users.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

namespace rollcall::test {

std::vector<std::vector<std::string>> documented_users(std::string const& page) {
    std::vector<std::vector<std::string>> commands;
    std::ifstream text{ROLLCALL_DOCS "/" + page};
    for (std::string line; std::getline(text, line);) {
        if (!line.starts_with("ACL SETUSER ")) continue;
        std::istringstream words{line};
        commands.emplace_back(std::istream_iterator<std::string>{words},
                              std::istream_iterator<std::string>{});
    }
    return commands;
}

}  // namespace rollcall::test
