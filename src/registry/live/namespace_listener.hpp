#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "redis/callback_thread.hpp"
#include "registry/live/listener.hpp"

#include "rollcall/change.hpp"

namespace rollcall::live {

class WatchedService;

/// One who wants to be told of the changes of all services: a listener at each.
///
/// Thread safety: all members.
class NamespaceListener {
public:
    using Callback = std::function<void(std::string const& service, Change const&)>;

    NamespaceListener(Callback callback, std::shared_ptr<redis::CallbackThread> thread);

    /// `is_new`: what is there now was not when the watching began.
    void attach(WatchedService& service, bool is_new);
    void detach(WatchedService& service);

    /// As of `Listener::stop`.
    void stop() noexcept;

private:
    std::shared_ptr<Callback const> const callback_;
    std::shared_ptr<redis::CallbackThread> const thread_;
    std::mutex mutex_;  // Guards what is below.
    std::map<std::string, std::shared_ptr<Listener>, std::less<>> listeners_;
    bool stopped_ = false;
};

}  // namespace rollcall::live
