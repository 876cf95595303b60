#include "support/golden.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "support/redis_escapes.hpp"

namespace rollcall::test::golden {

namespace {

constexpr std::string_view folder = ROLLCALL_TEST_DATA "/golden";

std::string at(std::string_view file, std::size_t line, std::string_view what) {
    return std::string{file} + ':' + std::to_string(line) + ": " + std::string{what};
}

/// Takes one line apart.
class LineReader {
public:
    LineReader(std::string_view text, std::string_view file, std::size_t line)
        : text_(text), file_(file), line_(line) {}

    Record read() {
        Record record;
        record.line = line_;
        record.word = bare();
        while (at_ < text_.size()) {
            ++at_;  // The space behind the previous part.
            bool const quoted = at_ < text_.size() && text_[at_] == '"';
            record.quoting += quoted ? 'q' : 'b';
            record.arguments.push_back(quoted ? this->quoted() : bare());
        }
        return record;
    }

private:
    [[noreturn]] void fail(std::string const& what) const { throw FormatError{file_, line_, what}; }

    std::string bare() {
        auto const end = std::min(text_.find(' ', at_), text_.size());
        auto const word = text_.substr(at_, end - at_);
        if (word.empty()) fail("two spaces, or a space at the end or the beginning");
        if (word.find('"') != std::string_view::npos) fail("a quote inside a bare word");
        at_ = end;
        return std::string{word};
    }

    std::string quoted() {
        std::string out;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            auto const c = static_cast<unsigned char>(text_[at_]);
            if (c < 0x20 || c > 0x7e) fail("a byte that must be escaped");
            out += c == '\\' ? escape() : static_cast<char>(c);
        }
        if (at_ >= text_.size()) fail("no closing quote");
        ++at_;
        if (at_ < text_.size() && text_[at_] != ' ') fail("no space behind a closing quote");
        return out;
    }

    char escape() {
        auto const begin = at_;
        auto const character = unescape(text_, at_);
        if (!character) fail("malformed escape " + std::string{text_.substr(begin, 4)});
        return *character;
    }

    std::string_view text_;
    std::string_view file_;
    std::size_t line_;
    std::size_t at_ = 0;
};

/// Puts the records of a recording together.
class RecordingReader {
public:
    explicit RecordingReader(std::string_view file) { recording_.file = file; }

    Recording read(std::vector<Record> const& records) {
        for (auto const& record : records) {
            line_ = record.line;
            take(record);
        }
        finish_step();
        if (recording_.steps.empty()) fail("no step");
        return std::move(recording_);
    }

private:
    using Arguments = std::vector<std::string>;

    [[noreturn]] void fail(std::string const& what) const {
        throw FormatError{recording_.file, line_, what};
    }

    void expect(Record const& record, std::string_view quoting) const {
        bool const open = quoting.ends_with('*');
        if (open) quoting.remove_suffix(1);
        bool const fits = open ? record.quoting.size() >= quoting.size() &&
                                     record.quoting.find('b') == std::string::npos
                               : record.quoting == quoting;
        if (!fits) fail("wrong arguments of `" + record.word + '`');
    }

    void take(Record const& record) {
        auto const& word = record.word;
        auto const& given = record.arguments;
        if (word == "step") {
            expect(record, "q");
            begin_step(given[0]);
            return;
        }
        if (recording_.steps.empty()) fail('`' + word + "` before the first step");
        if (word == "ret") {
            expect(record, "q");
            if (result_seen_) fail("a second `ret` in one step");
            result_seen_ = true;
            step().result = given[0];
        } else if (word == "cmd") {
            expect(record, "q*");
            step().commands.push_back({given, {}});
        } else if (word == "lua") {
            expect(record, "q*");
            if (step().commands.empty()) fail("`lua` without a `cmd` before it");
            step().commands.back().lua.push_back(given);
        } else if (word == "msg") {
            expect(record, "qq");
            step().messages.push_back({given[0], given[1]});
        } else if (word == "key") {
            expect(record, "qbb");
            begin_key(given);
        } else if (word == "gone") {
            expect(record, "q");
            if (step().changed.contains(given[0])) fail("a key both changed and gone");
            step().gone.insert(given[0]);
        } else {
            take_content(record);
        }
    }

    void take_content(Record const& record) {
        auto const& given = record.arguments;
        if (record.word == "mem") {
            expect(record, "qq");
            if (!content(given[0], Type::set).members.insert(given[1]).second) fail("member twice");
        } else if (record.word == "fld") {
            expect(record, "qqq");
            if (!content(given[0], Type::hash).fields.emplace(given[1], given[2]).second) {
                fail("field twice");
            }
        } else if (record.word == "zmem") {
            expect(record, "qqq");
            content(given[0], Type::zset).scored.emplace_back(given[1], given[2]);
        } else {
            fail("unknown record `" + record.word + '`');
        }
    }

    void begin_step(std::string const& step_name) {
        finish_step();
        for (auto const& other : recording_.steps) {
            if (other.name == step_name) fail("a second step of this name");
        }
        recording_.steps.emplace_back();
        step().name = step_name;
        step().line = line_;
        result_seen_ = false;
    }

    void finish_step() {
        if (recording_.steps.empty()) return;
        if (!result_seen_) fail("the step \"" + step().name + "\" has no `ret`");
        for (auto const& [key, value] : step().changed) {
            if (value.members.empty() && value.fields.empty() && value.scored.empty()) {
                fail("the key \"" + key + "\" has no content");
            }
        }
        key_.reset();
    }

    void begin_key(Arguments const& given) {
        RecordedKey value;
        if (given[1] == "set") {
            value.type = Type::set;
        } else if (given[1] == "hash") {
            value.type = Type::hash;
        } else if (given[1] == "zset") {
            value.type = Type::zset;
        } else {
            fail("unknown type `" + given[1] + '`');
        }
        static constexpr std::array<std::string_view, 16> ttls{
            "-", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "60", "90", "600", "3600"};
        if (std::find(ttls.begin(), ttls.end(), given[2]) == ttls.end()) {
            fail("`" + given[2] + "` is no TTL, neither `-` nor 0…10 nor 60, 90, 600 or 3600");
        }
        value.ttl = given[2];
        if (!step().changed.emplace(given[0], std::move(value)).second) fail("a key twice");
        key_ = given[0];
    }

    RecordedKey& content(std::string const& key, Type type) {
        if (key_ != key) fail("content of another key than the last `key`");
        auto& value = step().changed.at(key);
        if (value.type != type) fail("content of another type than the key's");
        return value;
    }

    Step& step() { return recording_.steps.back(); }

    Recording recording_;
    std::size_t line_ = 0;
    bool result_seen_ = false;
    std::optional<std::string> key_;
};

}  // namespace

FormatError::FormatError(std::string_view file, std::size_t line, std::string_view what)
    : std::runtime_error(at(file, line, what)) {}

std::string_view name(Type type) noexcept {
    switch (type) {
        case Type::set:
            return "set";
        case Type::hash:
            return "hash";
        case Type::zset:
            return "zset";
        case Type::other:
            break;
    }
    return "another type";
}

std::vector<Record> parse_records(std::string_view text, std::string_view file) {
    std::vector<Record> records;
    for (std::size_t line = 1; !text.empty(); ++line) {
        auto const end = std::min(text.find('\n'), text.size());
        auto const part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (part.empty() || part.front() == '#') continue;
        records.push_back(LineReader{part, file, line}.read());
    }
    return records;
}

RecordedKeys Recording::before(std::size_t index) const {
    RecordedKeys keys;
    for (std::size_t i = 0; i < index; ++i) {
        for (auto const& [key, value] : steps[i].changed) keys[key] = value;
        for (auto const& key : steps[i].gone) keys.erase(key);
    }
    return keys;
}

Recording parse_recording(std::string_view text, std::string_view file) {
    return RecordingReader{file}.read(parse_records(text, file));
}

std::vector<std::string> recordings_of(std::string_view layout) {
    auto const prefix = std::string{layout} + '-';
    std::vector<std::string> files;
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        auto const file = entry.path().filename().string();
        if (file.starts_with(prefix) && file.ends_with(".txt") && file != prefix + "steps.txt") {
            files.push_back(file);
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string read_data(std::string_view file) {
    auto const path = std::string{folder} + '/' + std::string{file};
    std::ifstream in{path, std::ios::binary};
    if (!in) throw std::runtime_error{"cannot read " + path};
    return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace rollcall::test::golden
