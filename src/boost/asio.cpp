#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/version.hpp>

// An older Boost among the system's headers must not be picked up instead.
static_assert(BOOST_VERSION == ROLLCALL_BOOST_VERSION);
