#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace rollcall::test {

/// Runs `rollcall doctor`.
class DoctorTest : public CliTest {
protected:
    struct Report {
        int code = 0;
        bool ok = false;
        std::vector<std::string> findings = {};  ///< `severity topic: text`.
    };

    Report examine(Arguments further = {}) {
        Arguments arguments{"doctor", "--output", "json"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        auto const outcome = run(arguments);
        Report report;
        report.code = outcome.code;
        auto const document = outcome.json();
        report.ok = document.at("ok").as_bool();
        for (auto const& one : document.at("findings").as_array()) {
            auto const text = [&](char const* key) { return std::string{one.at(key).as_string()}; };
            report.findings.push_back(text("severity") + " " + text("topic") + ": " + text("text") +
                                      (one.at("repaired").as_bool() ? " (repaired)" : ""));
        }
        return report;
    }
};

}  // namespace rollcall::test
