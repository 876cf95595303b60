#include "integration/health/test_server.hpp"

#include <array>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>

namespace rollcall::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Code = boost::system::error_code;

template <class Stream>
void answer_request(Stream& stream, std::string const& answer) {
    std::string request;
    Code error;
    asio::read_until(stream, asio::dynamic_buffer(request, 4096), "\r\n\r\n", error);
    if (!error) asio::write(stream, asio::buffer(answer), error);
}

template <auto Release>
struct Releases {
    template <class T>
    void operator()(T* held) const {
        Release(held);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Releases<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Releases<X509_free>>;
using Bytes = std::unique_ptr<BIO, Releases<BIO_free_all>>;

std::string text_of(BIO* bytes) {
    char* data = nullptr;
    auto const size = BIO_get_mem_data(bytes, &data);
    return {data, static_cast<std::size_t>(size)};
}

void sign_for_localhost(X509* certificate, EVP_PKEY* key) {
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_set_version(certificate, 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    auto* const name = X509_get_subject_name(certificate);
    std::array<unsigned char, 9> const text{'l', 'o', 'c', 'a', 'l', 'h', 'o', 's', 't'};
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text.data(), text.size(), -1, 0);
    X509_set_issuer_name(certificate, name);
    auto* const names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
    X509_add_ext(certificate, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(certificate, key, EVP_sha256());
}

}  // namespace

TestServer::TestServer(Behaviour behaviour, std::string address)
    : acceptor_(loop_, tcp::endpoint{asio::ip::make_address(address), 0}),
      address_(std::move(address)),
      behaviour_(std::move(behaviour)),
      thread_([this] { serve(); }) {}

TestServer::~TestServer() {
    ending_ = true;
    // Accepting waits for a connection, so it gets one.
    tcp::socket last{loop_};
    Code error;
    last.connect(acceptor_.local_endpoint(), error);
    last.close(error);
    thread_.join();
}

ServiceInstance TestServer::instance(std::string scheme) const {
    ServiceInstance instance;
    instance.service_name = "orders";
    instance.instance_id = "o-1";
    instance.scheme = std::move(scheme);
    instance.host = address_;
    instance.port = acceptor_.local_endpoint().port();
    return instance;
}

void TestServer::serve() {
    for (;;) {
        Code error;
        tcp::socket socket{loop_};
        acceptor_.accept(socket, error);
        if (error || ending_) return;
        ++accepted_;
        behaviour_(socket);
    }
}

TestServer::Behaviour answering(std::string answer) {
    return [answer = std::move(answer)](TestServer::Socket& socket) {
        answer_request(socket, answer);
    };
}

void stay_silent(TestServer::Socket& socket) {
    std::array<char, 256> ignored{};
    Code error;
    while (!error) socket.read_some(asio::buffer(ignored), error);
}

void trickle(TestServer::Socket& socket) {
    std::string const answer = "HTTP/1.1 200 " + std::string(1000, 'x');
    Code error;
    std::string request;
    asio::read_until(socket, asio::dynamic_buffer(request, 4096), "\r\n\r\n", error);
    pollfd peer{socket.native_handle(), POLLIN, 0};
    for (std::size_t i = 0; i < answer.size() && !error && ::poll(&peer, 1, 20) == 0; ++i) {
        asio::write(socket, asio::buffer(&answer[i], 1), error);
    }
}

TlsSite::TlsSite() {
    Key const key{EVP_EC_gen("P-256")};
    Certificate const signed_by_itself{X509_new()};
    sign_for_localhost(signed_by_itself.get(), key.get());
    Bytes const bytes{BIO_new(BIO_s_mem())};
    PEM_write_bio_X509(bytes.get(), signed_by_itself.get());
    certificate = text_of(bytes.get());
    Bytes const key_bytes{BIO_new(BIO_s_mem())};
    PEM_write_bio_PrivateKey(key_bytes.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    auto const key_text = text_of(key_bytes.get());
    context.use_certificate_chain(asio::buffer(certificate));
    context.use_private_key(asio::buffer(key_text), asio::ssl::context::pem);
}

TestServer::Behaviour TlsSite::answering(std::string answer) {
    return [this, answer = std::move(answer)](TestServer::Socket& socket) {
        asio::ssl::stream<TestServer::Socket&> stream{socket, context};
        Code error;
        stream.handshake(asio::ssl::stream_base::server, error);
        if (!error) answer_request(stream, answer);
    };
}

ServiceInstance refusing_instance(std::string scheme) {
    asio::io_context loop;
    // Bound and closed again: the system does not give the port to the next one that asks.
    tcp::acceptor const acceptor{loop, tcp::endpoint{asio::ip::make_address("127.0.0.9"), 0}};
    ServiceInstance instance;
    instance.scheme = std::move(scheme);
    instance.host = "127.0.0.9";
    instance.port = acceptor.local_endpoint().port();
    return instance;
}

}  // namespace rollcall::test
