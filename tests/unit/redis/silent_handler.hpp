#pragma once

#include "redis/push_handler.hpp"

namespace rollcall::redis::test {

/// Is told much and does nothing.
struct SilentHandler final : PushHandler {
    void confirmed(Topic const&) override {}
    void message(Message const&) override {}
    void unreadable(Topic const&, std::string_view) override {}
    void refused(Topic const&, Failure const&) override {}
    void invalidated(std::string_view) override {}
    void lost(std::string_view) override {}
};

}  // namespace rollcall::redis::test
