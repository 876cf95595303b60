#pragma once

#include <boost/redis/resp3/parser.hpp>
#include <stdexcept>
#include <string_view>

#include "redis/response.hpp"

namespace rollcall::redis::test {

/// The response that these bytes of RESP3 make.
inline void read_replies(std::string_view bytes, Response& response) {
    struct Adapter {
        Response& response;
        void on_init() { response.begin_reply(); }
        void on_node(boost::redis::resp3::node_view const& node, boost::system::error_code&) {
            response.add(node);
        }
        void on_done() { response.end_reply(); }
    } adapter{response};
    while (!bytes.empty()) {
        boost::redis::resp3::parser parser;
        boost::system::error_code error;
        if (!boost::redis::resp3::parse(parser, bytes, adapter, error) || error) {
            throw std::logic_error{"not RESP3"};
        }
        bytes.remove_prefix(parser.get_consumed());
    }
}

}  // namespace rollcall::redis::test
