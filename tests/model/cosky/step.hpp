#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/cosky_reference_model.hpp"

namespace rollcall::cosky::test {

/// Where the sequences happen: few names, so that they meet often.
inline constexpr std::string_view model_services[] = {"a", "b_\xc3\xa9"};
inline constexpr std::string_view model_ids[] = {
    "a@http#h#80", "a@http#h#81", "b_\xc3\xa9@http#h#80", "b_\xc3\xa9@https#[::1]#443"};

/// The processes of a sequence. No lease is so short that it could end within one.
std::vector<Process> model_processes();

/// Seconds between the rounds of renewals that a sequence has.
inline constexpr long long model_periods[] = {1, 10, 100};

/// One thing that somebody does to the namespace. What a kind does not need is left empty.
struct Step {
    enum class Kind {
        register_instance,
        renew,
        renew_round,
        deregister,
        set_metadata,
        merge_metadata,
        set_service,
        remove_service,
        expire,  ///< The Hash goes as if its TTL had run out; `flag`: by PEXPIRE, not DEL.
        set_ttl,
        set_renewal,  ///< The system field, of a Hash that is there.
        stat,         ///< `flag`: of all services.
        count,
        stats,
        instances,
        instance,
        sweep,
        clean_up,       ///< Of ids that somebody else may have cleaned up: here of all.
        stray_member,   ///< On any list; `flag`: removed instead.
        stale_service,  ///< In the index; `flag`: removed instead.
        stale_stat,
        set_field,  ///< Of a Hash that is there.
        remove_field,
        headless,  ///< A Hash with the system field alone.
        text,      ///< A key of another type.
    } kind = Kind::instances;

    std::size_t process = 0;
    std::string service = {};
    std::string id = {};
    ServiceInstance instance = {};
    Metadata metadata = {};
    long long seconds = 0;
    bool flag = false;
    std::string field = {};
    std::string value = {};
};

/// The step as one line that says everything.
std::string to_string(Step const& step);

/// What a caller is told.
struct Answer {
    std::string text = {};
    /// Of each instance that was found, in order; expected ones may be marks.
    std::vector<std::string> ttl_at = {};
};
std::string describe(ServiceInstance const& instance);
std::string told(ReferenceModel::Told told);
std::string joined(std::vector<std::string> const& parts);

/// Does the step to the model; what the callers of the code under test should be told.
Answer apply(Step const& step, ReferenceModel& model);

/// Draws steps. The same seed gives the same sequence with every compiler, apart from the times.
class StepGenerator {
public:
    explicit StepGenerator(std::uint64_t seed) : random_(seed) {}

    /// The next step; times are chosen with regard to `now`, epoch seconds, so that bounds are met
    /// exactly.
    Step next(long long now);

private:
    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
    bool chance(unsigned percent) { return below(100) < percent; }

    Step::Kind kind();
    ServiceInstance instance(std::string const& id);
    Metadata metadata();
    void fill(Step& step, long long now);
    std::string renewal(long long now);

    std::mt19937_64 random_;
    /// Whose lease or system field was just set: likely to be renewed next.
    std::string prepared_ = {};
};

}  // namespace rollcall::cosky::test
