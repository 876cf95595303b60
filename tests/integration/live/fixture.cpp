#include "integration/live/fixture.hpp"

#include <algorithm>

#include "registry/live/live_port.hpp"

namespace rollcall::live::test {

void Heard::State::add(Change const& change) {
    std::string line{to_string(change.kind)};
    if (change.instance) line += " " + change.instance->instance_id;
    if (change.reason != RemovalReason::none) {
        line += " (" + std::string{to_string(change.reason)} + ")";
    }
    std::lock_guard const lock{mutex};
    lines.push_back(std::move(line));
}

std::vector<std::string> Heard::all() const {
    std::lock_guard const lock{state_->mutex};
    return state_->lines;
}

bool Heard::has(std::string_view line) const {
    auto const lines = all();
    return std::ranges::find(lines, line) != lines.end();
}

Owners::Owners(std::string const& url, Layout const& layout)
    : client_(url), layout_(layout.name()), port_(layout.make_port()(client_.core(), 100ms)) {
    write_epoch();
}

void Owners::add(ServiceInstance const& instance) {
    client_.core()->run([&] { return port_->register_instance(instance, after(5s)); }).value();
}

void Owners::remove(std::string const& id, std::string const& service) {
    InstanceId names;
    names.service = service;
    names.id = id;
    client_.core()->run([&] { return port_->deregister_instance(names, after(5s)); }).value();
}

void Owners::renew(std::string const& id, std::string const& service) {
    InstanceId names;
    names.service = service;
    names.id = id;
    std::span<InstanceId const> const one{&names, 1};
    auto const found =
        client_.core()->run([&] { return port_->heartbeat(one, after(5s)); }).value();
    ASSERT_EQ(found.at(0), Liveness::alive) << id;
}

void Owners::set_metadata(std::string const& id, Metadata const& metadata) {
    InstanceId names;
    names.service = "web";
    names.id = id;
    client_.core()->run([&] { return port_->set_metadata(names, metadata, after(5s)); }).value();
}

void Owners::write_epoch() {
    auto const key = epoch_key();
    rollcall::test::execute(*client_.core(), "SET", {key, "an epoch", "NX"}).value();
}

std::string Owners::channel(std::string const& id, std::string const& service) const {
    if (layout_ == "streaming") return port_->live().channel_of(service).name;
    return "{ns}:svc_itc:" + id;
}

bool shows(Service const& service, std::vector<std::string> const& ids, milliseconds limit) {
    bool const shown = eventually([&] { return ids_of(service.instances()) == ids; }, limit);
    EXPECT_TRUE(shown) << testing::PrintToString(ids_of(service.instances()));
    return shown;
}

bool is_suspect(Service const& service, std::string_view id) {
    auto const state = service.instances().state(id);
    return state && state->suspect;
}

}  // namespace rollcall::live::test
