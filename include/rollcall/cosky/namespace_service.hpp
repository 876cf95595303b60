#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rollcall/client.hpp"

#pragma GCC visibility push(default)

namespace rollcall::cosky {

/// The list of namespaces, in `cosky-{system}:ns_idx`. Only names: registering does not add one,
/// and removing one touches no instance. Source: spec 10.
class NamespaceService {
public:
    virtual ~NamespaceService() = default;

    virtual std::vector<std::string> namespaces() = 0;  ///< Ordered by name.
    virtual std::vector<std::string> namespaces(std::error_code& error) = 0;
    virtual bool set_namespace(std::string_view ns) = 0;  ///< True: it was not there.
    virtual bool set_namespace(std::string_view ns, std::error_code& error) = 0;
    /// True: it was there. Any name that a peer may have added can be removed: `ns` as of
    /// `validate_stored_name`.
    virtual bool remove_namespace(std::string_view ns) = 0;
    virtual bool remove_namespace(std::string_view ns, std::error_code& error) = 0;
};

/// Cost: one command each. Thread safety: all members, from any thread.
class RedisNamespaceService final : public NamespaceService {
public:
    explicit RedisNamespaceService(Client const& client);
    ~RedisNamespaceService() override;

    std::vector<std::string> namespaces() override;
    std::vector<std::string> namespaces(std::error_code& error) override;
    bool set_namespace(std::string_view ns) override;
    bool set_namespace(std::string_view ns, std::error_code& error) override;
    bool remove_namespace(std::string_view ns) override;
    bool remove_namespace(std::string_view ns, std::error_code& error) override;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace rollcall::cosky

#pragma GCC visibility pop
