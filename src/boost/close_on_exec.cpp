#include <sys/socket.h>

extern "C" int rollcall_socket(int domain, int type, int protocol);

/// What Asio calls in place of `socket`.
extern "C" int rollcall_socket(int domain, int type, int protocol) {
    return socket(domain, type | SOCK_CLOEXEC, protocol);
}
