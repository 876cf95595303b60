#include <algorithm>
#include <utility>

#include "model/fleet/contents.hpp"
#include "support/cosky_reference_model.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/instance_changed_event.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"

namespace rollcall::test::fleet {
namespace {

using cosky::DiscoveryKeyGenerator;
using cosky::InstanceEvent;
using cosky::ServiceInstanceCodec;
using cosky::test::ReferenceModel;
using golden::Expiry;

constexpr std::int64_t lease_s = 60;
constexpr long long our_period = 10;
// With this one renewals are announced as CoSky's own programs do: 5 s before the end.
constexpr long long period_of_cosky = 1;
constexpr std::string_view ns = "n";

News news_of(std::string_view payload) {
    switch (cosky::parse_instance_event(payload).value_or(InstanceEvent::registered)) {
        case InstanceEvent::renewed:
            return News::renewed;
        case InstanceEvent::deregistered:
            return News::deregistered;
        case InstanceEvent::expired:
            return News::expired;
        default:
            return News::changed;
    }
}

class CoskyContents final : public Contents {
public:
    std::unique_ptr<Contents> copy() const override {
        return std::make_unique<CoskyContents>(*this);
    }

    bool pass_to(Clock now) override {
        now_ = now;
        model_.set_clock(now);
        if (now < next_end_) return false;
        model_.expire();
        note_ends();
        return true;
    }
    Clock next_end() const override { return next_end_; }

    void register_instance(ServiceInstance const& instance) override {
        model_.register_instance(0, instance);
        settle();
    }
    void deregister(ServiceInstance const& instance) override { deregister_by(instance); }
    Beat heartbeat(ServiceInstance const& instance) override {
        bool const alive = model_.renew_only(0, instance, our_period);
        if (alive) settle();
        return alive ? Beat::alive : Beat::gone;
    }
    bool describe(ServiceInstance const& instance) override {
        auto const told = model_.set_metadata(0, instance.service_name, instance.instance_id,
                                              instance.metadata, false);
        return told && *told;
    }
    void announce_change(ServiceInstance const&) override {}
    bool lists(std::string const&) const override { return true; }

    void register_by(ServiceInstance const& instance, milliseconds) override {
        register_instance(instance);
    }
    /// It does not look at the list: what is not on it is renewed unseen.
    Beat heartbeat_by(ServiceInstance const& instance, milliseconds) override {
        bool alive = model_.renew_only(0, instance, period_of_cosky);
        if (!alive && hash(instance.instance_id) && !listed(instance)) {
            model_.set_ttl(instance.instance_id, lease_s);
            alive = true;
        }
        if (alive) settle();
        return alive ? Beat::alive : Beat::gone;
    }
    bool deregister_by(ServiceInstance const& instance) override {
        auto const told = model_.deregister(0, instance.service_name, instance.instance_id);
        return told && *told;
    }
    void clean_up_by(std::string const& service, milliseconds) override {
        model_.clean_up(service);
    }

    void sweep(std::string const& service) override { model_.clean_up(service); }
    void clean_up(std::string const& service, Ids const& ids) override {
        for (auto const& id : ids) (void)model_.instance(service, id);
    }

    void evict_hash(ServiceInstance const& instance) override {
        model_.remove_hash(instance.instance_id);
    }

    std::vector<Member> list(std::string const& service) const override {
        std::vector<Member> members;
        auto const set = model_.keys().find(model_.list_key(service));
        if (set == model_.keys().end()) return members;
        for (auto const& id : set->second.members) members.push_back({id, std::nullopt});
        return members;
    }

    Sighting look(std::string const&, Member const& member, bool descriptions) const override {
        return sighting(member.id, true, descriptions);
    }
    Sighting look(std::string const& service, std::string const& id,
                  bool descriptions) const override {
        auto const set = model_.keys().find(model_.list_key(service));
        bool const is_listed = set != model_.keys().end() && set->second.members.contains(id);
        return sighting(id, is_listed, descriptions);
    }

    bool serves(ServiceInstance const& instance) const override {
        return listed(instance) && hash(instance.instance_id);
    }
    Clock lease_end(ServiceInstance const& instance) const override {
        auto const* const stored = hash(instance.instance_id);
        return stored && stored->expiry.kind == Expiry::Kind::at ? stored->expiry.value : 0;
    }

    std::vector<Said> said() override {
        std::vector<Said> all;
        for (auto const& message : model_.take_messages()) {
            auto const id = DiscoveryKeyGenerator::instance_id_of_key(ns, message.channel);
            if (!id) continue;
            all.push_back({id->substr(0, id->rfind('@')), {*id, news_of(message.payload), {}}});
        }
        return all;
    }

private:
    golden::LiveKey const* hash(std::string const& id) const {
        auto const found = model_.keys().find(model_.hash_key(id));
        return found == model_.keys().end() ? nullptr : &found->second;
    }
    bool listed(ServiceInstance const& instance) const {
        auto const set = model_.keys().find(model_.list_key(instance.service_name));
        return set != model_.keys().end() && set->second.members.contains(instance.instance_id);
    }
    void settle() {
        model_.settle();
        note_ends();
    }
    void note_ends() {
        next_end_ = never;
        for (auto const& [key, live] : model_.keys()) {
            if (live.expiry.kind != Expiry::Kind::at) continue;
            next_end_ = std::min<Clock>(next_end_, live.expiry.value);
        }
    }

    Sighting sighting(std::string const& id, bool is_listed, bool descriptions) const {
        auto const* const stored = hash(id);
        Sighting result;
        result.id = id;
        if (!is_listed || !stored) {
            result.presence = is_listed ? Presence::hollow
                              : stored  ? Presence::unlisted
                                        : Presence::absent;
            return result;
        }
        result.presence = Presence::alive;
        if (stored->expiry.kind == Expiry::Kind::at) {
            result.state.lease_until = moment(stored->expiry.value);
        }
        if (!descriptions) return result;
        std::vector<ServiceInstanceCodec::Field> const fields{stored->fields.begin(),
                                                              stored->fields.end()};
        auto found = ServiceInstanceCodec::decode(fields);
        if (!found || found->instance.instance_id != id) {
            result.presence = Presence::unreadable;
        } else {
            result.instance = std::make_shared<ServiceInstance const>(std::move(found->instance));
        }
        return result;
    }

    ReferenceModel model_{std::string{ns}, {cosky::test::Process{.lease = lease_s}}};
    Clock next_end_ = never;
    Clock now_ = 0;
};

}  // namespace

std::unique_ptr<Contents> make_cosky_contents() { return std::make_unique<CoskyContents>(); }

}  // namespace rollcall::test::fleet
