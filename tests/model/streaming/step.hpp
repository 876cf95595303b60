#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/reference_model.hpp"

namespace rollcall::test {

/// Where the sequences happen: few names, so that they meet often.
inline constexpr std::string_view model_services[] = {"a", "b_c"};
inline constexpr std::string_view model_ids[] = {"i-1", "box_80", "\xc3\xa9"};

/// TTLs that a sequence can give, far apart so that one read can tell them from each other.
inline constexpr long long model_leases[] = {900, 1'800, 0};
inline constexpr long long short_ttl = 300;

/// One thing that somebody does to the registry. What a kind does not need is left empty.
struct Step {
    enum class Kind {
        register_instances,
        deregister,
        heartbeat,
        describe,  ///< Heartbeats that write metadata.
        expire,    ///< The Hash goes as if its TTL had run out; `flag`: by PEXPIRE, not DEL.
        shorten_ttl,
        cleanup,       ///< Of all services in the index.
        phantom,       ///< A Hash of `fields` in place of what was there; `flag`: with a member.
        stray_member,  ///< A member with any score.
        stale_index,   ///< An index entry; `flag`: it is removed instead.
        set_field,
        remove_field,
        discover,
        query,
        list,
        update,
        remove_phantom,
    } kind = Kind::list;

    std::string service = {};
    std::string id = {};
    std::vector<ServiceInstance> instances = {};
    long long now = 0;
    long long lease = 0;
    long long timeout = 0;
    double score = 0;
    bool flag = false;
    std::map<std::string, std::string> fields = {};
    std::string field = {};
    ReferenceModel::Filters metadata_filters = {};
    ReferenceModel::Filters metrics_filters = {};
};

std::string describe(std::vector<ServiceInstance> const& instances);

/// The step as one line that says everything.
std::string to_string(Step const& step);

/// Does the step to the model; what the callers of the code under test should be told.
std::string apply(Step const& step, ReferenceModel& model);

/// Draws steps. The same seed gives the same sequence with every compiler.
class StepGenerator {
public:
    explicit StepGenerator(std::uint64_t seed) : random_(seed) {}

    /// The next step; times are chosen with regard to the scores in `model`, so that bounds are
    /// met exactly.
    Step next(ReferenceModel const& model);

private:
    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
    bool chance(unsigned percent) { return below(100) < percent; }

    std::string service();
    std::string id();
    ServiceInstance instance();
    Metadata metadata();
    void fill(Step& step, ReferenceModel const& model);
    void fill_phantom(Step& step);
    void fill_field(Step& step);
    long long timeout(ReferenceModel const& model, std::string const& service);
    ReferenceModel::Filters filters(bool metrics);

    std::mt19937_64 random_;
    long long now_ = 1'760'000'000'123;
};

}  // namespace rollcall::test
