#include <algorithm>
#include <map>
#include <utility>

#include "model/fleet/contents.hpp"
#include "support/reference_model.hpp"

#include "rollcall/streaming/instance_entry_codec.hpp"
#include "rollcall/streaming/service_change_event.hpp"

namespace rollcall::test::fleet {
namespace {

using streaming::InstanceEntryCodec;
using streaming::ServiceChangeAction;

constexpr std::int64_t lease_ms = 90'000;
constexpr std::int64_t lease_s = lease_ms / 1'000;

class StreamingContents final : public Contents {
public:
    std::unique_ptr<Contents> copy() const override {
        return std::make_unique<StreamingContents>(*this);
    }

    bool pass_to(Clock now) override {
        now_ = now;
        if (now < next_end_) return false;
        next_end_ = never;
        bool any = false;
        for (auto at = ends_.begin(); at != ends_.end();) {
            if (at->second > now) {
                next_end_ = std::min(next_end_, at->second);
                ++at;
                continue;
            }
            model_.remove_hash(at->first.first, at->first.second);
            at = ends_.erase(at);
            any = true;
        }
        return any;
    }
    Clock next_end() const override { return next_end_; }

    void register_instance(ServiceInstance const& instance) override {
        model_.register_instance(instance, now_, lease_s);
        slide(instance);
    }
    void deregister(ServiceInstance const& instance) override {
        model_.deregister(instance, now_);
        ends_.erase(name_of(instance));
    }
    Beat heartbeat(ServiceInstance const& instance) override {
        if (!model_.heartbeat(instance, false, now_, lease_s)) return Beat::gone;
        slide(instance);
        return Beat::alive;
    }
    bool describe(ServiceInstance const& instance) override {
        return model_.update(instance.service_name, instance.instance_id,
                             {{"metadata", verbatim_metadata(instance.metadata)},
                              {"enabled", instance.enabled ? "true" : "false"}},
                             now_);
    }
    void announce_change(ServiceInstance const& instance) override {
        model_.announce_update(instance, now_);
    }
    bool lists(std::string const& service) const override {
        return model_.state().index.contains(service);
    }

    void register_by(ServiceInstance const& instance, milliseconds skew) override {
        model_.register_instance(instance, now_ + skew.count(), lease_s);
        slide(instance);
    }

    /// It takes any Hash for an instance, and renews only what says that it is ephemeral.
    Beat heartbeat_by(ServiceInstance const& instance, milliseconds skew) override {
        auto const* const hash = find(instance.service_name, instance.instance_id);
        if (!hash) return Beat::gone;
        auto const now = now_ + skew.count();
        model_.add_member(instance.service_name, instance.instance_id, static_cast<double>(now));
        model_.set_field(instance.service_name, instance.instance_id, "lastHeartbeatTime",
                         std::to_string(now));
        if (is_ephemeral(*hash)) slide(instance);
        return Beat::alive;
    }

    bool deregister_by(ServiceInstance const& instance) override {
        deregister(instance);
        return true;
    }

    /// It keeps what has lost its Hash, and marks it as unhealthy in a Hash that never ends.
    void clean_up_by(std::string const& service, milliseconds skew) override {
        auto const members = scores(service);
        for (auto const& [id, score] : members) {
            if (score > static_cast<double>(now_ + skew.count() - lease_ms)) continue;
            auto const* const hash = find(service, id);
            if (hash && is_ephemeral(*hash)) {
                ServiceInstance instance;
                instance.service_name = service;
                instance.instance_id = id;
                deregister(instance);
            } else {
                model_.set_field(service, id, "healthy", "false");
            }
        }
    }

    void sweep(std::string const& service) override {
        for (auto const& id : model_.cleanup(service, now_, lease_ms)) ends_.erase({service, id});
    }
    void clean_up(std::string const&, Ids const&) override {}

    void evict_hash(ServiceInstance const& instance) override {
        model_.remove_hash(instance.service_name, instance.instance_id);
        ends_.erase(name_of(instance));
    }

    std::vector<Member> list(std::string const& service) const override {
        std::vector<Member> members;
        for (auto const& [id, score] : scores(service)) {
            members.push_back({id, static_cast<Clock>(score) + lease_ms});
        }
        return members;
    }

    Sighting look(std::string const& service, Member const& member,
                  bool descriptions) const override {
        Sighting sighting;
        sighting.id = member.id;
        sighting.presence = *member.lease_end > now_ ? Presence::alive : Presence::expired;
        sighting.state.lease_until = moment(std::max(now_, *member.lease_end));
        if (descriptions) describe(sighting, service, find(service, member.id));
        return sighting;
    }

    Sighting look(std::string const& service, std::string const& id,
                  bool descriptions) const override {
        auto const members = model_.state().heartbeats.find(service);
        auto const* const hash = find(service, id);
        bool const listed =
            members != model_.state().heartbeats.end() && members->second.contains(id);
        if (!listed) return {id, hash ? Presence::unlisted : Presence::absent, {}, {}};
        auto const end = static_cast<Clock>(members->second.at(id)) + lease_ms;
        auto sighting = look(service, Member{id, end}, descriptions);
        if (!hash) miss_hash(sighting);
        return sighting;
    }

    bool serves(ServiceInstance const& instance) const override {
        auto const* const hash = find(instance.service_name, instance.instance_id);
        return hash && hash->contains("host") && lease_end(instance) > now_;
    }
    Clock lease_end(ServiceInstance const& instance) const override {
        auto const& all = model_.state().heartbeats;
        auto const service = all.find(instance.service_name);
        if (service == all.end()) return 0;
        auto const member = service->second.find(instance.instance_id);
        if (member == service->second.end()) return 0;
        return static_cast<Clock>(member->second) + lease_ms;
    }

    std::vector<Said> said() override {
        std::vector<Said> all;
        for (auto const& message : model_.take_messages()) {
            auto const event = streaming::parse_message(message.payload);
            if (!event) continue;
            bool const removed = event->action == ServiceChangeAction::removed;
            all.push_back({event->service_name,
                           {event->instance_id, removed ? News::removed : News::changed, {}}});
        }
        return all;
    }

private:
    using Fields = std::map<std::string, std::string>;
    using Name = RegistryState::InstanceName;

    static Name name_of(ServiceInstance const& instance) {
        return {instance.service_name, instance.instance_id};
    }
    static bool is_ephemeral(Fields const& fields) {
        auto const found = fields.find("ephemeral");
        return found != fields.end() && found->second == "true";
    }
    Fields const* find(std::string const& service, std::string const& id) const {
        auto const found = model_.state().hashes.find({service, id});
        return found == model_.state().hashes.end() ? nullptr : &found->second.fields;
    }
    std::map<std::string, double> scores(std::string const& service) const {
        auto const found = model_.state().heartbeats.find(service);
        return found == model_.state().heartbeats.end() ? std::map<std::string, double>{}
                                                        : found->second;
    }
    void slide(ServiceInstance const& instance) {
        ends_[name_of(instance)] = now_ + lease_ms;
        next_end_ = std::min(next_end_, now_ + lease_ms);
    }
    static void miss_hash(Sighting& sighting) {
        if (sighting.presence == Presence::alive) sighting.presence = Presence::hollow;
    }
    static void describe(Sighting& sighting, std::string const& service, Fields const* hash) {
        if (!hash || !hash->contains("host")) return miss_hash(sighting);
        std::vector<InstanceEntryCodec::Field> const fields{hash->begin(), hash->end()};
        auto stored = InstanceEntryCodec::parse_instance(service, sighting.id, fields);
        if (!stored) {
            sighting.presence = Presence::unreadable;
            return;
        }
        sighting.instance = std::make_shared<ServiceInstance const>(std::move(stored->instance));
    }

    ReferenceModel model_{"p"};
    std::map<Name, Clock> ends_;  // Of Hashes.
    Clock next_end_ = never;      // None of them ends before.
    Clock now_ = 0;
};

}  // namespace

std::unique_ptr<Contents> make_streaming_contents() {
    return std::make_unique<StreamingContents>();
}

}  // namespace rollcall::test::fleet
