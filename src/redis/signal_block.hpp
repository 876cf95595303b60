#pragma once

#include <pthread.h>
#include <signal.h>

namespace rollcall::redis {

/// Threads started meanwhile take no signals: those belong to the program.
class SignalBlock {
public:
    SignalBlock() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalBlock() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalBlock(SignalBlock const&) = delete;
    SignalBlock& operator=(SignalBlock const&) = delete;

private:
    sigset_t before_{};
};

}  // namespace rollcall::redis
