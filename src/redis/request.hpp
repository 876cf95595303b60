#pragma once

#include <boost/redis/request.hpp>
#include <boost/redis/resp3/flat_tree.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/script.hpp"

namespace rollcall::redis {

/// Commands that are sent together and answered in order.
///
/// Reusable: `clear()` keeps the memory.
class Request {
public:
    using Args = std::span<std::string_view const>;

    Request();

    /// Adds a command.
    void push(std::string_view command, Args args);
    void push(std::string_view command, std::initializer_list<std::string_view> args = {}) {
        push(command, Args{args.begin(), args.size()});
    }

    /// Adds a script call. The session runs it by its SHA-1 and, on exactly NOSCRIPT, by its text.
    void push_script(Script const& script, Args keys, Args args);

    std::size_t size() const noexcept;  ///< Commands.
    bool empty() const noexcept { return size() == 0; }
    void clear();

private:
    friend class Session;
    boost::redis::request impl_;
    std::vector<ScriptCall> scripts_;
};

/// One value of a reply: a cursor into the response that holds it.
class Value {
public:
    bool is_error() const noexcept;  ///< Redis refused; `text()` is its message.
    bool is_null() const noexcept;
    bool is_aggregate() const noexcept;  ///< Array, set, map or push.

    std::string_view text() const noexcept;  ///< Bytes of a string, number or error; else empty.
    /// The number of an integer reply or of decimal text; `otherwise` for anything else.
    std::int64_t integer(std::int64_t otherwise = 0) const noexcept;

    /// Direct elements; a map counts its keys and its values.
    std::size_t size() const noexcept;
    class iterator;
    iterator begin() const noexcept;
    iterator end() const noexcept;
};

/// The replies to a request, in order. Values are valid while it lives and is not reused.
class Response {
public:
    std::size_t size() const noexcept;
    Value operator[](std::size_t index) const;
    void clear();

private:
    friend class Session;
};

}  // namespace rollcall::redis
