#pragma once

#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include "registry/disk/saved_service.hpp"

namespace rollcall::disk::test {

inline Origin origin() {
    Origin result;
    result.server = "redis://127.0.0.1:6379";
    result.layout = "streaming";
    result.name_space = "registry";
    return result;
}

inline std::chrono::system_clock::time_point now() {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

inline SavedInstance saved_instance(std::size_t number) {
    ServiceInstance instance;
    instance.service_name = "web";
    instance.instance_id = "web-" + std::to_string(100 + number);
    instance.scheme = "grpc";
    instance.host = std::string{"h\0st\xff", 5};  // Whatever Redis holds.
    instance.port = 8080;
    instance.weight = -7;
    instance.ephemeral = number % 2 == 0;
    instance.enabled = number % 3 == 0;
    instance.healthy = number % 5 == 0;
    for (std::size_t i = 0; i < number; ++i) {
        instance.metadata.emplace("key " + std::to_string(i), std::string(i, 'v'));
    }
    SavedInstance saved;
    saved.instance = std::make_shared<ServiceInstance const>(std::move(instance));
    saved.registered_at = now() - std::chrono::hours{1};
    if (number % 2 == 0) saved.lease_until = now() + std::chrono::seconds{90};
    return saved;
}

inline SavedService saved_service(std::size_t size = 3) {
    SavedService saved;
    saved.service = "web";
    saved.confirmed_at = now() - std::chrono::seconds{5};
    for (std::size_t i = 0; i < size; ++i) saved.instances.push_back(saved_instance(i));
    return saved;
}

/// As a file of this user alone.
inline void put(std::string const& file, std::string_view bytes) {
    std::ofstream out{file, std::ios::binary | std::ios::trunc};
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    ::chmod(file.c_str(), 0600);
}

}  // namespace rollcall::disk::test
