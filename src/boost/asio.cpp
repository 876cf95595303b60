// Programs that the host starts must not inherit our sockets: Asio opens them by the function of
// close_on_exec.cpp. Must come before any declaration of `socket`.
extern "C" int socket(int domain, int type, int protocol) noexcept __asm__("rollcall_socket");

#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/version.hpp>

// An older Boost among the system's headers must not be picked up instead.
static_assert(BOOST_VERSION == ROLLCALL_BOOST_VERSION);
