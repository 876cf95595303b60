#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Recordings of what the designs' own programs did to a Redis, step by step. The format is
/// described in tests/data/golden/README.md.
namespace rollcall::test::golden {

/// What is wrong with a file, and where: `name:line: what`.
class FormatError : public std::runtime_error {
public:
    FormatError(std::string_view file, std::size_t line, std::string_view what);
};

/// One line: a word and its arguments.
struct Record {
    std::string word;
    std::vector<std::string> arguments;
    std::string quoting;  ///< For each argument `q` when it was quoted, `b` when bare.
    std::size_t line = 0;
};

/// The records of a text in order, comments and empty lines left out.
std::vector<Record> parse_records(std::string_view text, std::string_view file);

enum class Type { set, hash, zset, other };  ///< `other` is never recorded.

std::string_view name(Type type) noexcept;

/// What a key holds. Only the member that its type calls for is filled.
struct Content {
    Type type = Type::hash;
    std::set<std::string> members;
    std::map<std::string, std::string> fields;
    std::vector<std::pair<std::string, std::string>> scored;  ///< Member and score, in order.

    friend bool operator==(Content const&, Content const&) = default;
};

/// A recorded key. `ttl` is `-` for none, seconds up to 10, else a class: 60, 90, 600 or 3600.
struct RecordedKey : Content {
    std::string ttl = "-";

    friend bool operator==(RecordedKey const&, RecordedKey const&) = default;
};
using RecordedKeys = std::map<std::string, RecordedKey>;

struct Message {
    std::string channel;
    std::string payload;

    friend bool operator==(Message const&, Message const&) = default;
};

/// A command and what the script that it called did.
struct Command {
    std::vector<std::string> words;
    std::vector<std::vector<std::string>> lua;
};

struct Step {
    std::string name;
    std::size_t line = 0;
    std::string result;
    std::vector<Command> commands;
    std::vector<Message> messages;
    RecordedKeys changed;
    std::set<std::string> gone;

    /// In parentheses: preparation or waiting, not a call of the recorded program.
    bool is_preparation() const { return name.starts_with('('); }
};

struct Recording {
    std::string file;
    std::vector<Step> steps;

    /// What the records before step `index` add up to.
    RecordedKeys before(std::size_t index) const;
};

Recording parse_recording(std::string_view text, std::string_view file);

/// The recordings of a layout in tests/data/golden: all files `<layout>-*.txt` but its plan,
/// `<layout>-steps.txt`; sorted.
std::vector<std::string> recordings_of(std::string_view layout);

/// The content of a file of tests/data/golden; throws when it cannot be read.
std::string read_data(std::string_view file);
inline Recording load_recording(std::string_view file) {
    return parse_recording(read_data(file), file);
}

}  // namespace rollcall::test::golden
