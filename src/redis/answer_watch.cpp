#include "redis/answer_watch.hpp"

#include <algorithm>

namespace rollcall::redis {

void AnswerWatch::begin(Arrived arrived, Deadline now) {
    before_ = arrived;
    since_ = now;
    begun_ = now;
    oldest_.reset();
}

AnswerWatch::Verdict AnswerWatch::look(Arrived arrived, std::optional<Deadline> owed_since,
                                       Deadline now) {
    if (!owed_since) {
        if (oldest_ || arrived.answers != before_.answers) begin(arrived, now);
        return now - since_ >= limit_ / 3 ? Verdict::ask : Verdict::well;
    }
    if (oldest_ != owed_since) {
        oldest_ = owed_since;
        before_ = arrived;
        since_ = std::max(*owed_since, begun_);
    }
    if (now - since_ < limit_) return Verdict::well;
    if (!enough(arrived, now)) return Verdict::dead;
    before_ = arrived;
    since_ = now;
    return Verdict::well;
}

bool AnswerWatch::enough(Arrived arrived, Deadline now) const {
    auto const came =
        arrived.bytes - before_.bytes + worth_of_answer * (arrived.answers - before_.answers);
    auto const seconds = std::chrono::duration<double>(now - since_).count();
    return static_cast<double>(came) >= static_cast<double>(bytes_in_second) * seconds;
}

}  // namespace rollcall::redis
