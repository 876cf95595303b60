#include "cli/commands/change.hpp"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "cli/print/json_output.hpp"

namespace rollcall::cli {

Exit report_change(Context& context, InstanceOption const& instance, Written const& written,
                   std::string_view done) {
    instance.require_existed(written);
    auto const stored = context.backend().port()->validated(instance.id());
    if (context.wants_json()) {
        context.print(boost::json::object{{"service", json_text(stored.service)},
                                          {"id", json_text(stored.id)},
                                          {"done", json_text(done)},
                                          {"announced", written.announced}});
    } else {
        context.print_line(fmt::format("{} {}", done, stored.id));
    }
    return Exit::done;
}

}  // namespace rollcall::cli
