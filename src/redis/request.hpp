#pragma once

#include <boost/redis/request.hpp>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "redis/response.hpp"
#include "redis/script.hpp"

namespace rollcall::redis {

/// Commands that are sent together and answered in order.
///
/// Reusable: `clear()` keeps the memory. Arguments are copied when pushed.
class Request {
public:
    using Args = std::span<std::string_view const>;

    /// Adds a command. No blocking commands, no SUBSCRIBE and the like: the connection is shared.
    void push(std::string_view command, Args args);
    void push(std::string_view command, std::initializer_list<std::string_view> args = {}) {
        push(command, Args{args.begin(), args.size()});
    }

    /// Adds a script call. The session runs it by its SHA-1 and, on exactly NOSCRIPT, by its text,
    /// which must outlive the request.
    void push_script(Script const& script, Args keys, Args args);

    std::size_t size() const noexcept { return wire_.get_commands(); }  ///< Commands.
    bool empty() const noexcept { return size() == 0; }
    void clear();

    // For the session.
    struct ScriptCall {
        std::size_t command;  ///< Its index among the commands.
        std::size_t begin;    ///< Where it stands in the payload.
        std::string_view text;
    };
    std::vector<ScriptCall> const& scripts() const noexcept { return scripts_; }
    /// Adds `call`, which belongs to `other`, as EVAL.
    void push_evaluated(Request const& other, ScriptCall const& call);
    boost::redis::request const& wire() const noexcept { return wire_; }

private:
    boost::redis::request wire_;
    std::vector<ScriptCall> scripts_;
    std::vector<std::string_view> arguments_;  // Of the command being added; kept for its memory.
};

}  // namespace rollcall::redis
