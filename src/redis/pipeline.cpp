#include "redis/pipeline.hpp"

#include <algorithm>
#include <utility>

namespace rollcall::redis {
namespace {

constexpr std::size_t kept_payload = 1 << 20;  // A larger buffer is not kept for the next flight.
constexpr std::size_t kept_flights = 4;

}  // namespace

void Flight::add(Operation& operation) {
    operation.flight = this;
    operation.slot = slots_.size();
    slots_.push_back({&operation, operation.request->size()});
    wire_.append(operation.request->wire());
}

void Flight::clear() {
    wire_.clear();
    slots_.clear();
    current_ = 0;
}

Pipeline::Pipeline(Host& host, std::size_t max_in_flight, Deadline now)
    : host_(host), max_in_flight_(max_in_flight), wheel_(now) {}

void Pipeline::submit(Operation& operation) {
    operation.response->clear();
    if (refusal_ || operation.request->empty()) {
        finish(operation, refusal_);
        return;
    }
    operation.state = Operation::State::waiting;
    waiting_.push_back(operation);
    host_.expect(wheel_.add(operation));
    if (open_ && !in_turn_) host_.schedule_turn();
}

void Pipeline::cancel(Operation& operation) {
    if (operation.state == Operation::State::done) return;
    give_up(operation);
    finish(operation, Failure{errc::cancelled, "given up by the caller"});
}

void Pipeline::open() {
    open_ = true;
    held_ = false;
    lost_ = false;
    ++opened_;
    refusal_.reset();
    host_.schedule_turn();
}

std::optional<Deadline> Pipeline::owed_since() const {
    if (flying_.empty()) return std::nullopt;
    return flying_.front()->sent_at_;
}

void Pipeline::close() { open_ = false; }

void Pipeline::release() {
    held_ = false;
    host_.schedule_turn();
}

void Pipeline::refuse(Failure const& failure) {
    refusal_ = failure;
    for (auto* list : {&again_, &waiting_}) {
        while (!list->empty()) finish(list->front(), failure);
    }
    for (auto& flight : flying_) {
        for (auto& slot : flight->slots_) {
            if (!slot.operation) continue;
            auto& operation = *slot.operation;
            give_up(operation);
            finish(operation, failure);
        }
    }
}

void Pipeline::give_up(Operation& operation) {
    if (operation.state == Operation::State::sent) {
        operation.flight->slots_[operation.slot].operation = nullptr;
    }
}

void Pipeline::finish(Operation& operation, std::optional<Failure> failure) {
    operation.unlink();
    operation.queue_hook.unlink();
    operation.state = Operation::State::done;
    operation.failure = std::move(failure);
    ready_.push_back(operation);
    if (!in_turn_) host_.schedule_turn();
}

void Pipeline::receive(Flight& flight, Flight::Event event,
                       boost::redis::resp3::node_view const& node) {
    auto& slot = flight.slots_[flight.current_];
    auto* const operation = slot.operation;
    switch (event) {
        case Flight::Event::init:
            if (operation) operation->response->begin_reply();
            return;
        case Flight::Event::node:
            if (operation) operation->response->add(node);
            return;
        case Flight::Event::done:
            if (operation) operation->response->end_reply();
            if (--slot.missing > 0) return;
            ++flight.current_;
            --in_flight_;
            if (operation) {
                slot.operation = nullptr;
                finish(*operation, std::nullopt);
            } else if (!in_turn_) {
                host_.schedule_turn();  // There is room again.
            }
            return;
    }
}

void Pipeline::landed(Flight& flight, bool lost) {
    if (lost) {
        auto const unanswered = flight.slots_.size() - flight.current_;
        in_flight_ -= unanswered;
        lost_ = lost_ || unanswered > 0;
        for (auto& slot : flight.slots_) {
            if (!slot.operation) continue;
            auto& operation = *std::exchange(slot.operation, nullptr);
            operation.response->clear();
            if (refusal_) {
                finish(operation, refusal_);
            } else if (operation.idempotent) {
                operation.response->note_repetition();
                operation.state = Operation::State::waiting;
                again_.push_back(operation);
            } else {
                finish(operation, Failure{errc::timeout,
                                          "the connection broke before the answer; the request "
                                          "may have been carried out"});
            }
        }
        if (!in_turn_) host_.schedule_turn();
    }
    auto const at = std::find_if(flying_.begin(), flying_.end(),
                                 [&](auto const& each) { return each.get() == &flight; });
    auto owner = std::move(*at);
    flying_.erase(at);
    if (spare_.size() < kept_flights && owner->wire_.payload().size() <= kept_payload) {
        owner->clear();
        spare_.push_back(std::move(owner));
    }
}

void Pipeline::turn() {
    in_turn_ = true;
    struct Guard {
        Pipeline& pipeline;
        ~Guard() { pipeline.in_turn_ = false; }
    } const guard{*this};
    resume_ready();
    send_waiting();
    if (!ready_.empty()) host_.schedule_turn();
}

void Pipeline::resume_ready() {
    // Only those that are ready now: one that fails at once and tries again at once must not keep
    // the event loop from everything else.
    List now_ready;
    now_ready.splice(now_ready.end(), ready_);
    struct Guard {
        Pipeline& pipeline;
        List& rest;
        ~Guard() { pipeline.ready_.splice(pipeline.ready_.begin(), rest); }
    } const guard{*this, now_ready};
    while (!now_ready.empty()) {
        auto& operation = now_ready.front();
        now_ready.pop_front();
        std::move(operation.resume)();  // Destroys the operation.
    }
}

void Pipeline::send_waiting() {
    if (!open_ || held_) return;
    std::unique_ptr<Flight> flight;
    for (auto* list : {&again_, &waiting_}) {
        while (!list->empty() && in_flight_ < max_in_flight_) {
            auto& operation = list->front();
            list->pop_front();
            if (!flight) flight = take_flight();
            flight->add(operation);
            operation.state = Operation::State::sent;
            operation.ever_sent = true;
            operation.response->note_connection(opened_);
            ++in_flight_;
        }
    }
    if (!flight) return;
    auto& sent = *flight;
    flying_.push_back(std::move(flight));
    host_.send(sent);
}

std::unique_ptr<Flight> Pipeline::take_flight() {
    if (spare_.empty()) return std::make_unique<Flight>();
    auto flight = std::move(spare_.back());
    spare_.pop_back();
    return flight;
}

void Pipeline::expire(Deadline now) {
    wheel_.expire(now, [this](Timed& timed) {
        auto& operation = static_cast<Operation&>(timed);
        if (operation.state == Operation::State::sent) {
            give_up(operation);
            finish(operation, Failure{errc::timeout, "no answer in time"});
        } else if (open_) {
            finish(operation, Failure{errc::timeout, "other requests are not answered either"});
        } else {
            auto why = host_.why_not_connected();
            if (operation.ever_sent) why += "; the request may have been carried out";
            finish(operation, Failure{errc::not_connected, std::move(why)});
        }
    });
}

}  // namespace rollcall::redis
