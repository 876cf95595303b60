// Put in front of the C library by LD_PRELOAD: names are not found, after as long as a name server
// that does not answer takes. What is no name is resolved as ever.

#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <string_view>

extern "C" __attribute__((visibility("default"))) int getaddrinfo(char const* host,
                                                                  char const* service,
                                                                  addrinfo const* hints,
                                                                  addrinfo** found) {
    using Resolve = int (*)(char const*, char const*, addrinfo const*, addrinfo**);
    if (host && std::string_view{host}.ends_with(".slow")) {
        ::poll(nullptr, 0, 6'000);
        return EAI_AGAIN;
    }
    static auto const next = reinterpret_cast<Resolve>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return next(host, service, hints, found);
}
