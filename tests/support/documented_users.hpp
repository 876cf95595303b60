#pragma once

#include <string>
#include <vector>

namespace rollcall::test {

/// The commands `ACL SETUSER …` of a page of `docs`, each as its words; the password is `PASSWORD`.
std::vector<std::vector<std::string>> documented_users(std::string const& page);

}  // namespace rollcall::test
