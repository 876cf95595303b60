#pragma once

/// The layout of CoSky: everything an application needs of it.

#include "rollcall/client.hpp"
#include "rollcall/cosky/config.hpp"
#include "rollcall/cosky/discovery_key_generator.hpp"
#include "rollcall/cosky/event_subscription.hpp"
#include "rollcall/cosky/instance_changed_event.hpp"
#include "rollcall/cosky/instance_event_listener_container.hpp"
#include "rollcall/cosky/instance_id.hpp"
#include "rollcall/cosky/namespace_service.hpp"
#include "rollcall/cosky/namespaced.hpp"
#include "rollcall/cosky/redis_keys.hpp"
#include "rollcall/cosky/renew_instance_service.hpp"
#include "rollcall/cosky/service_discovery.hpp"
#include "rollcall/cosky/service_event_listener_container.hpp"
#include "rollcall/cosky/service_instance_codec.hpp"
#include "rollcall/cosky/service_instance_context.hpp"
#include "rollcall/cosky/service_registry.hpp"
#include "rollcall/cosky/service_statistic.hpp"
#include "rollcall/cosky/service_topology.hpp"
#include "rollcall/error.hpp"
#include "rollcall/instance.hpp"
