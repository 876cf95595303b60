#include "cli/commands/change.hpp"
#include "cli/commands/commands.hpp"
#include "cli/parse.hpp"

namespace rollcall::cli {

namespace {

class ChangeMetadata final : public Command {
public:
    enum class Kind { set, merge, clear };

    explicit ChangeMetadata(Kind kind) : kind_(kind) {}

    void declare(OptionSet& options) override {
        instance_.declare(options);
        if (kind_ == Kind::clear) return;
        options.positionals("KEY=VALUE", pairs_, "one or more labels");
    }

    Exit run(Context& context) override {
        auto const metadata = parse_metadata("metadata", pairs_);
        auto const& backend = context.backend();
        auto const written = kind_ == Kind::merge ? backend.merge_metadata(instance_.id(), metadata)
                                                  : backend.set_metadata(instance_.id(), metadata);
        return report_change(context, instance_, written, "updated");
    }

private:
    Kind kind_;
    InstanceOption instance_;
    std::vector<std::string> pairs_;
};

}  // namespace

std::unique_ptr<Command> make_metadata_set() {
    return std::make_unique<ChangeMetadata>(ChangeMetadata::Kind::set);
}
std::unique_ptr<Command> make_metadata_merge() {
    return std::make_unique<ChangeMetadata>(ChangeMetadata::Kind::merge);
}
std::unique_ptr<Command> make_metadata_clear() {
    return std::make_unique<ChangeMetadata>(ChangeMetadata::Kind::clear);
}

}  // namespace rollcall::cli
