#include "model/fleet/contents.hpp"

namespace rollcall::test::fleet {

std::unique_ptr<Contents> make_contents(Layout layout) {
    return layout == Layout::streaming ? make_streaming_contents() : make_cosky_contents();
}

std::string id_of(Layout layout, std::string const& service, std::size_t owner) {
    auto const port = std::to_string(first_port + static_cast<int>(owner));
    return layout == Layout::streaming ? service + '-' + port : service + "@http#h#" + port;
}

}  // namespace rollcall::test::fleet
