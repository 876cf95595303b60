#include "common/redis_info.hpp"

#include <chrono>
#include <stdexcept>

namespace rollcall::bench {

std::string info_text(std::string const& info, std::string const& name) {
    auto const at = info.find(name + ':');
    if (at == std::string::npos) throw std::runtime_error{"INFO tells no " + name};
    auto const begin = at + name.size() + 1;
    return info.substr(begin, info.find('\r', begin) - begin);
}

double info_number(std::string const& info, std::string const& name) {
    return std::stod(info_text(info, name));
}

Microseconds redis_cpu(std::string const& info) {
    return std::chrono::duration<double>{info_number(info, "used_cpu_user") +
                                         info_number(info, "used_cpu_sys")};
}

}  // namespace rollcall::bench
