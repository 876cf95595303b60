#pragma once

#include <memory>

#include "cli/commands/command.hpp"

namespace rollcall::cli {

std::unique_ptr<Command> make_serve();
std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_register();
std::unique_ptr<Command> make_deregister();
std::unique_ptr<Command> make_heartbeat();
std::unique_ptr<Command> make_services();
std::unique_ptr<Command> make_list();
std::unique_ptr<Command> make_choose();
std::unique_ptr<Command> make_wait();
std::unique_ptr<Command> make_watch();
std::unique_ptr<Command> make_enable();
std::unique_ptr<Command> make_disable();
std::unique_ptr<Command> make_drain();
std::unique_ptr<Command> make_weight();
std::unique_ptr<Command> make_metadata_set();
std::unique_ptr<Command> make_metadata_merge();
std::unique_ptr<Command> make_metadata_clear();
std::unique_ptr<Command> make_stat();
std::unique_ptr<Command> make_namespaces();
std::unique_ptr<Command> make_topology();
std::unique_ptr<Command> make_cleanup();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_version();

}  // namespace rollcall::cli
