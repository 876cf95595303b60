#include "registry/script_calls.hpp"

namespace rollcall {

void note_refused(Log const& log, std::string_view channel, std::string_view pattern,
                  std::string_view why) {
    bool const by_channel = why.find("channel") != std::string_view::npos;
    std::string text{"done, but not announced on channel "};
    text.append(channel).append(": the user lacks the ACL rule ");
    text.append(by_channel ? "&" + std::string{pattern} : "+publish");
    text.append(" (").append(why).append(")");
    log.write(LogLevel::warning, "not-announced", text);
}

}  // namespace rollcall
