#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rollcall/streaming/registry_admin_service.hpp"

namespace rollcall::streaming {

/// The members of a JSON object with their types; none when `text` does not begin with a JSON
/// object. Integers above 63 bits become doubles; what follows the object is ignored. Any bytes may
/// be given.
std::optional<AdminValues> read_admin_values(std::string_view text);

/// Sums up the numeric metrics of the instances of a service. Members of nested objects are named
/// with `.`; all that then have the same name are pooled, also within one instance. Everything that
/// is not a finite number is passed over.
class MetricPool {
public:
    void add(AdminValues const& metrics);

    std::map<std::string, MetricSummary, std::less<>> summaries() const;

private:
    struct Sum {
        double total = 0;
        MetricSummary summary = {};
    };
    void add(std::string const& name, double value);
    void add(std::string const& name, AdminValue const& value);

    std::map<std::string, Sum, std::less<>> sums_ = {};
};

}  // namespace rollcall::streaming
