#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/unknown_service.hpp"
#include "cli/context.hpp"
#include "cli/parse.hpp"
#include "cli/print/distribution.hpp"
#include "cli/print/instance_table.hpp"
#include "core/text.hpp"

#include "rollcall/error.hpp"
#include "rollcall/service.hpp"

namespace rollcall::cli {

namespace {

constexpr std::int64_t most_choices = 1'000'000;

/// By a live view, as callers choose: what this shows is what they get.
class Choose final : public Command {
public:
    void declare(OptionSet& options) override {
        options.positional("SERVICE", service_, "whose instances");
        options.value("--balancer", balancer_, "NAME",
                      "weighted-random (the default), round-robin, least-outstanding, "
                      "lowest-latency or consistent-hash");
        options.value("--key", key_, "KEY", "what the call is about, for consistent-hash");
        options.value("--count", count_text_, "N", "choose so often, and show who was chosen");
    }

    Exit run(Context& context) override {
        ServiceOptions options;
        options.balancer = parse_balancer();
        auto const is_by_key = std::holds_alternative<ConsistentHash>(options.balancer);
        auto const count = parse_count();
        if (is_by_key && key_.empty() && !count) {
            throw UsageError{"--balancer", balancer_, "needs --key, or --count for many keys"};
        }
        if (!is_by_key && !key_.empty()) {
            context.logger().warning("--key says nothing to " + balancer_ +
                                     "; only consistent-hash looks at it");
        }
        // A view takes what fails for passing; asked directly, Redis tells at once what it is.
        Query query;
        query.service = service_;
        (void)context.backend().instances(query);
        auto const service = context.registry().service(service_, std::move(options));
        if (count) {
            show_distribution(context, service, *count);
        } else {
            show_one(context, service);
        }
        return Exit::done;
    }

private:
    Balancer parse_balancer() const {
        if (auto const found = find_balancer(balancer_)) return *found;
        throw UsageError{"--balancer", balancer_,
                         "must be weighted-random, round-robin, least-outstanding, "
                         "lowest-latency or consistent-hash"};
    }

    std::optional<std::size_t> parse_count() const {
        if (count_text_.empty()) return std::nullopt;
        return static_cast<std::size_t>(parse_integer("--count", count_text_, 1, most_choices));
    }

    void show_one(Context& context, Service const& service) const {
        ChooseOptions options;
        if (!key_.empty()) options.key = key_;
        auto const choice = service.choose(options);
        if (!choice) refuse(context, service);
        std::vector<Found> const one{found_in(service.instances(), *choice)};
        context.print_instances(one);
    }

    /// Without a key each choice has one of its own: one key would show one instance.
    void show_distribution(Context& context, Service const& service, std::size_t count) const {
        std::map<std::string, Share, std::less<>> shares;
        for (std::size_t i = 0; i < count; ++i) {
            auto const key = key_.empty() ? std::to_string(i) : key_;
            auto const choice = service.choose({.key = key});
            if (!choice) refuse(context, service);
            auto at = shares.find(choice->instance_id);
            if (at == shares.end()) {
                Share const first{found_in(service.instances(), *choice)};
                at = shares.emplace(choice->instance_id, first).first;
            }
            ++at->second.chosen;
        }
        auto const all = service.instances();
        for (auto const& instance : all) {
            shares.try_emplace(instance.instance_id, Share{found_in(all, instance)});
        }
        print(context, shares);
    }

    static void print(Context& context, std::map<std::string, Share, std::less<>> const& shares) {
        std::vector<Share> rows;
        rows.reserve(shares.size());
        for (auto const& [id, share] : shares) rows.push_back(share);
        if (context.wants_json()) {
            context.print(distribution_json(rows));
        } else {
            context.print(distribution_table(rows));
        }
    }

    [[noreturn]] static void refuse(Context& context, Service const& service) {
        explain(context, service.name());
        throw Error{errc::no_instance, shown(service.name())};
    }

    /// Tells a service where nobody may get traffic from one that nobody knows: a typo.
    static void explain(Context& context, std::string const& name) try {
        std::vector<std::string> known;
        for (auto const& one : context.backend().services()) known.push_back(one.service);
        if (std::ranges::find(known, name) == known.end()) tell_unknown(context, name, known);
    } catch (Error const&) {
        return;  // What could not be chosen is answered all the same.
    }

    std::string service_;
    std::string balancer_{name(WeightedRandom{})};
    std::string key_;         // Empty: not given, as an option's value is never.
    std::string count_text_;  // The same.
};

}  // namespace

std::unique_ptr<Command> make_choose() { return std::make_unique<Choose>(); }

}  // namespace rollcall::cli
