#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/feed/scene.hpp"

namespace rollcall::test::feed {

class Fingerprint;

/// The feed as its driver sees it, or one that is broken on purpose.
class Reader {
public:
    Reader(Scene const& scene, Time now) : feed_(options_of(scene), now), defect_(scene.defect) {}

    void connecting(Time now);  ///< The connection is made; the server has confirmed nothing yet.
    void confirmed(Time now);
    void lost(Time now) { feed_.lost(now); }
    void doubt(Time now) { feed_.doubt(now); }
    void message(std::string_view id, News news, Time now) { feed_.message(id, news, now); }
    std::optional<FeedRead> next_read(Time now);
    FeedOutcome answer(FeedAnswer answer, Time now);

    ServiceFeed const& feed() const noexcept { return feed_; }
    void add_to(Fingerprint& fingerprint) const;
    /// Draws the same random numbers again, which are thus no part of the state.
    void rewind_random();

private:
    FeedAnswer nothing_new(std::uint64_t number) const;

    ServiceFeed feed_;
    Defect defect_;
};

}  // namespace rollcall::test::feed
