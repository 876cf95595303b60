#include <gtest/gtest.h>
#include <string_view>

#include "child.hpp"

// The tests, and the command that they let the program supervise.
int main(int count, char** arguments) {
    if (count > 1 && std::string_view{arguments[1]} == "--supervised") {
        return rollcall::test::supervised({arguments + 2, arguments + count});
    }
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
