#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "redis/client_core.hpp"
#include "redis/request.hpp"
#include "registry/outcome.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/namespace_service.hpp"
#include "rollcall/cosky/namespaced.hpp"

namespace rollcall::cosky {
namespace {

Task<Result<redis::Response>> ask(redis::ClientCore& core, std::string_view command,
                                  std::span<std::string_view const> arguments, Deadline deadline) {
    redis::Request request;
    redis::Response response;
    request.push(command, arguments);
    auto const outcome = co_await core.session().exec(request, response, deadline);
    if (outcome.has_error()) co_return outcome.error();
    if (response[0].is_error()) co_return redis::failure_of(response[0], "the list of namespaces");
    co_return std::move(response);
}

}  // namespace

struct RedisNamespaceService::Impl {
    explicit Impl(std::shared_ptr<redis::ClientCore> client) : core(std::move(client)) {}

    Result<std::vector<std::string>> list() const;
    Result<bool> change(std::string_view command, std::string_view ns) const;

    std::shared_ptr<redis::ClientCore> core;
};

Result<std::vector<std::string>> RedisNamespaceService::Impl::list() const {
    auto const key = DiscoveryKeyGenerator::namespace_idx_key();
    std::array<std::string_view, 1> const arguments{key};
    auto const response =
        core->run([&] { return ask(*core, "SMEMBERS", arguments, core->deadline()); });
    if (response.has_error()) return response.error();
    std::vector<std::string> names;
    for (auto const name : (*response)[0]) names.emplace_back(name.text());
    std::ranges::sort(names);
    return names;
}

Result<bool> RedisNamespaceService::Impl::change(std::string_view command,
                                                 std::string_view ns) const {
    auto const key = DiscoveryKeyGenerator::namespace_idx_key();
    std::array<std::string_view, 2> const arguments{key, ns};
    auto const response =
        core->run([&] { return ask(*core, command, arguments, core->deadline()); });
    if (response.has_error()) return response.error();
    return (*response)[0].integer() == 1;
}

RedisNamespaceService::RedisNamespaceService(Client const& client)
    : impl_(std::make_shared<Impl>(client.core())) {}

RedisNamespaceService::~RedisNamespaceService() = default;

std::vector<std::string> RedisNamespaceService::namespaces() { return outcome(impl_->list()); }
std::vector<std::string> RedisNamespaceService::namespaces(std::error_code& error) {
    return outcome(impl_->list(), error);
}

bool RedisNamespaceService::set_namespace(std::string_view ns) {
    validate_namespace(ns);
    return outcome(impl_->change("SADD", ns));
}
bool RedisNamespaceService::set_namespace(std::string_view ns, std::error_code& error) {
    validate_namespace(ns);
    return outcome(impl_->change("SADD", ns), error);
}

bool RedisNamespaceService::remove_namespace(std::string_view ns) {
    validate_stored_name("namespace", ns);
    return outcome(impl_->change("SREM", ns));
}
bool RedisNamespaceService::remove_namespace(std::string_view ns, std::error_code& error) {
    validate_stored_name("namespace", ns);
    return outcome(impl_->change("SREM", ns), error);
}

}  // namespace rollcall::cosky
