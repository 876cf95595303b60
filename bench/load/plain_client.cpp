#include "load/plain_client.hpp"

#include <array>
#include <stdexcept>

namespace rollcall::bench {

PlainClient::PlainClient(std::string const& socket)
    : context_(::redisConnectUnix(socket.c_str()), ::redisFree) {
    if (!context_ || context_->err != 0) throw std::runtime_error{"cannot connect"};
}

void PlainClient::send(std::span<std::string_view const> arguments) {
    std::array<char const*, 8> texts{};
    std::array<std::size_t, 8> sizes{};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        texts.at(i) = arguments[i].data();
        sizes.at(i) = arguments[i].size();
    }
    ::redisAppendCommandArgv(context_.get(), static_cast<int>(arguments.size()), texts.data(),
                             sizes.data());
}

PlainClient::Reply PlainClient::receive() {
    void* raw = nullptr;
    if (::redisGetReply(context_.get(), &raw) != REDIS_OK) {
        throw std::runtime_error{context_->errstr};
    }
    Reply reply{static_cast<redisReply*>(raw), ::freeReplyObject};
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error{reply->str};
    return reply;
}

std::size_t PlainClient::read_pipelined(std::vector<std::string> const& keys,
                                        std::span<std::string_view const> commands) {
    for (auto const& key : keys) {
        for (auto const name : commands) {
            std::array<std::string_view, 2> const command{name, key};
            send(command);
        }
    }
    std::size_t found = 0;
    for (std::size_t i = 0; i < keys.size() * commands.size(); ++i) {
        if (receive()->elements > 0) ++found;
    }
    return found;
}

}  // namespace rollcall::bench
