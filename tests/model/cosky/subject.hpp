#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/cosky/step.hpp"

#include "rollcall/cosky.hpp"

namespace rollcall::cosky::test {

/// The code under test with one namespace of its own. Blocking.
class Subject {
public:
    Subject(Client const& client, std::string ns);

    /// Does the step; what its caller was told, in the words of `apply`.
    Answer perform(Step const& step);

    /// What Redis holds under `keys`.
    struct Contents {
        golden::LiveKeys keys;
        long long time = 0;  ///< Redis' time before it was read, in milliseconds.
        std::vector<std::string> odd;
    };
    Contents contents(std::set<std::string> const& keys) const;

    /// What the process knows of itself.
    std::map<std::string, ServiceInstance> own(std::size_t process) const;

private:
    Answer do_perform(Step const& step);
    Answer renew_round(Step const& step);
    Answer stats();
    Answer sweep();
    Answer clean_up(Step const& step);
    Answer found(DiscoveredInstances const& all) const;
    void interfere(Step const& step) const;

    std::shared_ptr<redis::ClientCore> core_;
    std::string ns_;
    std::vector<std::unique_ptr<RedisServiceRegistry>> registries_;
    RedisServiceDiscovery discovery_;
    RedisServiceStatistic statistic_;
};

}  // namespace rollcall::cosky::test
