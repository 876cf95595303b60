// A filter: its key, and behind the first NUL its value.

#include <boost/json/parse.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "require.hpp"
#include "streaming/filter_document.hpp"

namespace {

using namespace rollcall;
using namespace rollcall::streaming;
using fuzz::require;

void check_document(std::string const& key, std::string const& value) {
    Filters const filters{{key, value}, {"other", "x"}};
    bool const sound = is_utf8(key) && is_utf8(value);
    std::string document;
    try {
        document = filter_document(filters, {});
    } catch (std::invalid_argument const&) {
        require(!sound, "filters of UTF-8 are accepted");
        return;
    }
    require(sound, "other filters are refused");
    auto const sections = boost::json::parse(document);
    require(sections.at("metrics").as_object().empty(), "sections are apart");
    auto const& section = sections.at("metadata").as_object();
    if (key == "other") {
        require(section.at(key).as_array().size() == 2, "no value is lost");
    } else {
        require(section.at(key).as_string() == value, "values are kept");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const bytes{reinterpret_cast<char const*>(data), size};
    auto const nul = bytes.find('\0');
    auto const key = bytes.substr(0, nul);
    auto const value = nul == std::string::npos ? std::string{} : bytes.substr(nul + 1);

    auto const parsed = parse_filter_key(key);
    auto const written = filter_key(parsed.field, parsed.comparison);
    require(parse_filter_key(written) == parsed, "keys are read back as they were written");
    require(written == key || parsed.field == key, "nothing but an operator is taken off");
    check_document(key, value);
    return 0;
}
