#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "model/streaming/step.hpp"
#include "redis/client_core.hpp"
#include "redis/task.hpp"
#include "streaming/instance_reader.hpp"
#include "streaming/registry_lua_script_executor.hpp"

namespace rollcall::test {

/// The code under test with one prefix of its own, driven with explicit times.
///
/// Thread safety: the I/O thread only, construction aside.
class Subject {
public:
    Subject(std::shared_ptr<redis::ClientCore> core, std::string const& prefix);

    /// Does the step; what its caller was told, in the words of `apply`, or what went wrong.
    Task<std::string> perform(Step const& step) const;

    /// What Redis holds under this prefix, and what it should not hold there.
    struct Contents {
        RegistryState state;
        std::vector<std::string> odd;
    };
    Task<Contents> contents() const;

private:
    using Executor = streaming::RegistryLuaScriptExecutor;

    Executor const& scripts(long long lease) const;
    Deadline deadline() const { return core_->deadline(); }

    Task<std::string> register_instances(Step const& step) const;
    Task<std::string> deregister(Step const& step) const;
    Task<std::string> heartbeat(Step const& step) const;
    Task<std::string> cleanup(Step const& step) const;
    Task<std::string> members(Step const& step) const;
    Task<std::string> list(Step const& step) const;
    Task<std::string> update(Step const& step) const;
    Task<std::string> interfere(Step const& step) const;

    std::shared_ptr<redis::ClientCore> core_;
    std::string prefix_;
    std::vector<Executor> scripts_;  // One for each lease.
    std::unique_ptr<streaming::InstanceReader> reader_;
};

/// Every way in which `actual` is not `expected`, one line each.
std::vector<std::string> differences(RegistryState const& expected,
                                     Subject::Contents const& actual);

}  // namespace rollcall::test
