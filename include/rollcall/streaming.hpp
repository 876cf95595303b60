#pragma once

/// The layout of the redis-streaming registry module: everything an application needs of it.

#include "rollcall/client.hpp"
#include "rollcall/error.hpp"
#include "rollcall/instance.hpp"
#include "rollcall/streaming/config.hpp"
#include "rollcall/streaming/filter_builder.hpp"
#include "rollcall/streaming/heartbeat_state_manager.hpp"
#include "rollcall/streaming/naming_service.hpp"
#include "rollcall/streaming/protocol.hpp"
#include "rollcall/streaming/registry_admin_service.hpp"
#include "rollcall/streaming/service_change_event.hpp"
#include "rollcall/streaming/service_change_listener.hpp"
#include "rollcall/streaming/service_consumer.hpp"
#include "rollcall/streaming/service_identity.hpp"
#include "rollcall/streaming/service_provider.hpp"
