#include "rollcall/change.hpp"

namespace rollcall {

std::string_view to_string(ChangeKind kind) noexcept {
    switch (kind) {
        case ChangeKind::current:
            return "current";
        case ChangeKind::added:
            return "added";
        case ChangeKind::updated:
            return "updated";
        case ChangeKind::removed:
            return "removed";
        case ChangeKind::suspect:
            return "suspect";
        case ChangeKind::resync:
            return "resync";
    }
    return "";
}

std::string_view to_string(RemovalReason reason) noexcept {
    switch (reason) {
        case RemovalReason::none:
            return "none";
        case RemovalReason::deregistered:
            return "deregistered";
        case RemovalReason::expired:
            return "expired";
        case RemovalReason::absent_after_resync:
            return "absent_after_resync";
        case RemovalReason::lost:
            return "lost";
    }
    return "";
}

}  // namespace rollcall
