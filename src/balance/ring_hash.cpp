#include "balance/ring_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace rollcall::balance {
namespace {

constexpr std::size_t block_size = 64;
constexpr std::size_t words_a_block = 16;

// MD5 is sequential, so that one text leaves most of a processor idle: its steps are written once,
// for a word of one text and for the words of eight.
// A vector of the size that every processor of today has.
typedef std::uint32_t Four __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)

struct Eight {
    Four low;
    Four high;
};

#define ROLLCALL_STEP [[gnu::always_inline]] inline

ROLLCALL_STEP Eight operator+(Eight const& a, Eight const& b) {
    return {a.low + b.low, a.high + b.high};
}
ROLLCALL_STEP Eight operator+(Eight const& a, std::uint32_t b) { return {a.low + b, a.high + b}; }
ROLLCALL_STEP Eight operator&(Eight const& a, Eight const& b) {
    return {a.low & b.low, a.high & b.high};
}
ROLLCALL_STEP Eight operator|(Eight const& a, Eight const& b) {
    return {a.low | b.low, a.high | b.high};
}
ROLLCALL_STEP Eight operator^(Eight const& a, Eight const& b) {
    return {a.low ^ b.low, a.high ^ b.high};
}
ROLLCALL_STEP Eight operator~(Eight const& a) { return {~a.low, ~a.high}; }
ROLLCALL_STEP Eight operator<<(Eight const& a, int by) { return {a.low << by, a.high << by}; }
ROLLCALL_STEP Eight operator>>(Eight const& a, int by) { return {a.low >> by, a.high >> by}; }

template <class Word>
struct State {
    Word a, b, c, d;
};

constexpr std::array<std::uint32_t, 64> sines{
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
constexpr int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
constexpr std::size_t order[4][2] = {{1, 0}, {5, 1}, {3, 5}, {7, 0}};

template <std::size_t Round, class Word>
ROLLCALL_STEP Word mixed(Word const& b, Word const& c, Word const& d) {
    if constexpr (Round == 0) return d ^ (b & (c ^ d));
    if constexpr (Round == 1) return c ^ (d & (b ^ c));
    if constexpr (Round == 2) return b ^ c ^ d;
    if constexpr (Round == 3) return c ^ (b | ~d);
}

template <std::size_t I, class Word>
ROLLCALL_STEP void step(Word (&state)[4], Word const (&message)[words_a_block]) {
    constexpr auto round = I / 16;
    constexpr auto turn = turns[round][I % 4];
    auto& a = state[(64 - I) % 4];
    auto const& b = state[(65 - I) % 4];
    auto const& word = message[(order[round][0] * I + order[round][1]) % words_a_block];
    Word const sum =
        a + mixed<round>(b, state[(66 - I) % 4], state[(67 - I) % 4]) + word + sines[I];
    a = b + ((sum << turn) | (sum >> (32 - turn)));
}

template <class Word, std::size_t... I>
ROLLCALL_STEP void steps(Word (&state)[4], Word const (&message)[words_a_block],
                         std::index_sequence<I...>) {
    (step<I>(state, message), ...);
}

template <class Word>
ROLLCALL_STEP State<Word> after(State<Word> const& before, Word const (&message)[words_a_block]) {
    Word state[4] = {before.a, before.b, before.c, before.d};
    steps(state, message, std::make_index_sequence<64>{});
    return {before.a + state[0], before.b + state[1], before.c + state[2], before.d + state[3]};
}

#undef ROLLCALL_STEP

constexpr State<std::uint32_t> initial{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

using Block = std::array<std::uint32_t, words_a_block>;

/// Behind the text come a bit, zeros and the length.
std::size_t blocks_of(std::string_view text) noexcept { return (text.size() + 8) / block_size + 1; }

/// Words are little-endian.
template <class Words, class Bytes>
void load(Words& words, Bytes const& bytes) noexcept {
    static_assert(sizeof(Words) == sizeof(Bytes));
    std::memcpy(&words, &bytes, sizeof words);
    if constexpr (std::endian::native == std::endian::big) {
        for (auto& word : words) word = __builtin_bswap32(word);
    }
}

Block block_of(std::string_view text, std::size_t number) noexcept {
    std::array<char, block_size> bytes{};
    auto const begin = number * block_size;
    if (begin < text.size()) {
        std::memcpy(bytes.data(), text.data() + begin, std::min(block_size, text.size() - begin));
    }
    if (begin <= text.size() && text.size() - begin < block_size) {
        bytes[text.size() - begin] = '\x80';
    }
    Block block;
    load(block, bytes);
    if (number + 1 == blocks_of(text)) {
        auto const bits = std::uint64_t{text.size()} * 8;
        block[14] = static_cast<std::uint32_t>(bits);
        block[15] = static_cast<std::uint32_t>(bits >> 32);
    }
    return block;
}

std::uint64_t place(std::uint32_t a, std::uint32_t b) noexcept {
    constexpr auto sign = std::uint64_t{1} << 63;
    return (std::uint64_t{__builtin_bswap32(a)} << 32 | __builtin_bswap32(b)) & ~sign;
}

Eight all(std::uint32_t word) noexcept {
    return {Four{word, word, word, word}, Four{word, word, word, word}};
}

/// Where `mask` has ones `a`, elsewhere `b`.
Eight either(Eight const& mask, Eight const& a, Eight const& b) noexcept {
    return (a & mask) | (b & ~mask);
}

std::uint32_t lane(Eight const& words, std::size_t i) noexcept {
    return i < 4 ? words.low[i] : words.high[i - 4];
}

template <class At>
Eight across(At const& at) noexcept {
    return {Four{at(0), at(1), at(2), at(3)}, Four{at(4), at(5), at(6), at(7)}};
}

State<Eight> eight_initial() noexcept {
    return {all(initial.a), all(initial.b), all(initial.c), all(initial.d)};
}

std::array<std::uint64_t, 8> places(State<Eight> const& state) noexcept {
    std::array<std::uint64_t, 8> each{};
    for (std::size_t i = 0; i < 8; ++i) each[i] = place(lane(state.a, i), lane(state.b, i));
    return each;
}

/// A number in digits, the bit that ends a text, and zeros.
struct Ending {
    std::array<char, 12> bytes;
    std::uint32_t size;
};

constexpr Ending ending(std::uint32_t number) noexcept {
    Ending made{};
    made.size = 1;
    for (auto rest = number; rest >= 10; rest /= 10) ++made.size;
    for (auto at = made.size; at > 0; number /= 10) {
        made.bytes[--at] = static_cast<char>('0' + number % 10);
    }
    made.bytes[made.size] = '\x80';
    return made;
}

constexpr auto usual_endings = [] {
    std::array<Ending, 128> all{};
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = ending(i);
    return all;
}();

/// Eight texts of one block that begin alike and end with numbers.
class Numbered {
public:
    static bool fits(std::string_view beginning) noexcept {
        return beginning.size() / 4 + most_words <= words_a_block - 2;
    }

    explicit Numbered(std::string_view beginning) noexcept
        : size_(static_cast<std::uint32_t>(beginning.size())) {
        auto const block = block_of(beginning, 0);
        for (std::size_t i = 0; i < words_a_block; ++i) {
            message_[i] = all(i < size_ / 4 ? block[i] : 0);
        }
        std::memcpy(there_.data(), beginning.data() + size_ / 4 * 4, size_ % 4);
    }

    std::array<std::uint64_t, 8> hashes(std::uint32_t first) noexcept {
        std::uint32_t ends[8][most_words];
        std::array<std::uint32_t, 8> bits{};
        for (std::uint32_t i = 0; i < 8; ++i) {
            auto const number = first + i;
            auto const end = number < usual_endings.size() ? usual_endings[number] : ending(number);
            auto bytes = there_;
            std::memcpy(bytes.data() + size_ % 4, end.bytes.data(), end.bytes.size());
            load(ends[i], bytes);
            bits[i] = (size_ + end.size) * 8;
        }
        for (std::size_t i = 0; i < most_words; ++i) {
            message_[size_ / 4 + i] = across([&](std::size_t text) { return ends[text][i]; });
        }
        message_[words_a_block - 2] = across([&](std::size_t text) { return bits[text]; });
        return places(after(eight_initial(), message_));
    }

private:
    static constexpr std::size_t most_words = 4;  // That an ending lies in, wherever it begins.

    std::uint32_t const size_;
    std::array<char, 4 * most_words> there_{};  // What shares a word with the endings.
    Eight message_[words_a_block]{};
};

/// The same of texts of any length.
std::array<std::uint64_t, 8> long_hashes(std::string_view beginning, std::uint32_t first) {
    std::array<std::string, 8> texts;
    std::array<std::string_view, 8> views;
    for (std::uint32_t i = 0; i < 8; ++i) {
        views[i] = texts[i].append(beginning).append(std::to_string(first + i));
    }
    return ring_hashes(views);
}

}  // namespace

std::uint64_t ring_hash(std::string_view text) noexcept {
    auto state = initial;
    for (std::size_t number = 0; number < blocks_of(text); ++number) {
        auto const block = block_of(text, number);
        std::uint32_t message[words_a_block];
        std::ranges::copy(block, message);
        state = after(state, message);
    }
    return place(state.a, state.b);
}

std::array<std::uint64_t, 8> ring_hashes(std::array<std::string_view, 8> const& texts) noexcept {
    std::size_t blocks = 0;
    for (auto const& text : texts) blocks = std::max(blocks, blocks_of(text));
    auto state = eight_initial();
    for (std::size_t number = 0; number < blocks; ++number) {
        std::array<Block, 8> each{};
        std::array<std::uint32_t, 8> goes_on{};
        for (std::size_t i = 0; i < 8; ++i) {
            each[i] = block_of(texts[i], number);
            if (number < blocks_of(texts[i])) goes_on[i] = ~std::uint32_t{0};
        }
        Eight message[words_a_block];
        for (std::size_t word = 0; word < words_a_block; ++word) {
            message[word] = across([&](std::size_t i) { return each[i][word]; });
        }
        auto const next = after(state, message);
        auto const mask = across([&](std::size_t i) { return goes_on[i]; });
        state = {either(mask, next.a, state.a), either(mask, next.b, state.b),
                 either(mask, next.c, state.c), either(mask, next.d, state.d)};
    }
    return places(state);
}

void ring_hashes(std::string_view beginning, std::span<std::uint64_t> hashes) {
    auto const fill = [&](auto const& hash_from) {
        for (std::size_t first = 0; first < hashes.size(); first += 8) {
            auto const some = hash_from(static_cast<std::uint32_t>(first));
            auto const count = std::min<std::size_t>(8, hashes.size() - first);
            std::copy_n(some.begin(), count, hashes.begin() + static_cast<std::ptrdiff_t>(first));
        }
    };
    if (Numbered::fits(beginning)) {
        Numbered texts{beginning};
        fill([&](std::uint32_t first) { return texts.hashes(first); });
    } else {
        fill([&](std::uint32_t first) { return long_hashes(beginning, first); });
    }
}

}  // namespace rollcall::balance
