// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/fake_server.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kagent::test {
namespace {

// Only hangs of broken tests last as long.
constexpr int kLook_ms = 20;

class Plain : public FakeConnection {
 public:
  Plain(int descriptor, const std::atomic<bool>& ending) : descriptor_(descriptor), ending_(ending) {}
  ~Plain() override { ::close(descriptor_); }

  bool send(const std::string& bytes) override {
    for (std::size_t done = 0; done < bytes.size();) {
      const auto sent = write(bytes.data() + done, bytes.size() - done);
      if (sent <= 0) return false;
      done += static_cast<std::size_t>(sent);
    }
    return true;
  }

  void wait_for_close() override {
    std::array<char, 256> rest;
    while (!ending_ && wait() && read(rest.data(), rest.size()) > 0) {
    }
  }

  // False at the server's end.
  bool wait() {
    pollfd readable{descriptor_, POLLIN, 0};
    while (!ending_)
      if (::poll(&readable, 1, kLook_ms) > 0) return true;
    return false;
  }

  virtual bool accept() { return true; }
  virtual long read(char* to, std::size_t size) { return ::recv(descriptor_, to, size, 0); }
  virtual long write(const char* from, std::size_t size) { return ::send(descriptor_, from, size, MSG_NOSIGNAL); }

 protected:
  int descriptor_;
  const std::atomic<bool>& ending_;
};

class Tls : public Plain {
 public:
  Tls(int descriptor, const std::atomic<bool>& ending, SSL_CTX* context)
      : Plain(descriptor, ending), tls_(SSL_new(context)) {
    SSL_set_fd(tls_, descriptor);
  }
  ~Tls() override {
    SSL_shutdown(tls_);
    SSL_free(tls_);
  }
  bool accept() override { return wait() && SSL_accept(tls_) == 1; }
  long read(char* to, std::size_t size) override { return SSL_read(tls_, to, static_cast<int>(size)); }
  long write(const char* from, std::size_t size) override { return SSL_write(tls_, from, static_cast<int>(size)); }

 private:
  SSL* tls_;
};

bool read_request(Plain& connection, SeenRequest& request) {
  std::string text;
  std::size_t head = std::string::npos, length = 0;
  std::array<char, 16 * 1024> buffer;
  while (head == std::string::npos || text.size() < head + 4 + length) {
    // A TLS library may hold bytes that poll does not see; reading itself blocks then only as long as the client lives.
    const long got = connection.read(buffer.data(), buffer.size());
    if (got <= 0) return false;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.front() != 'P') return false;  // no POST: a client that speaks TLS to a plain server
    if (head != std::string::npos || (head = text.find("\r\n\r\n")) == std::string::npos) continue;
    if (const auto at = text.find("Content-Length: "); at < head) length = std::stoul(text.substr(at + 16));
  }
  const auto line = text.find("\r\n");
  request = {text.substr(0, line), text.substr(line + 2, head - line), text.substr(head + 4)};
  return true;
}

// A key and a certificate that it signed itself.
SSL_CTX* make_tls(const std::filesystem::path& certificate_file, const std::string& host) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86'400);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(host.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  const std::string names = (host.find_first_not_of("0123456789.") == std::string::npos ? "IP:" : "DNS:") + host;
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(certificate, key, EVP_sha256());
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate(context, certificate);
  SSL_CTX_use_PrivateKey(context, key);
  FILE* file = std::fopen(certificate_file.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + certificate_file.string());
  PEM_write_X509(file, certificate);
  std::fclose(file);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return context;
}

}  // namespace

FakeServer::FakeServer(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
  listen();
}

FakeServer::FakeServer(std::vector<Script> scripts, const std::filesystem::path& folder, const std::string& host)
    : scripts_(std::move(scripts)), certificate_(folder / "certificate.pem"), tls_(make_tls(certificate_, host)) {
  listen();
}

FakeServer::~FakeServer() {
  ending_ = true;
  thread_.join();
  ::close(listener_);
  SSL_CTX_free(tls_);
}

void FakeServer::listen() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("the fake server cannot listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread(&FakeServer::serve, this);
}

std::string FakeServer::url() const {
  return (tls_ == nullptr ? "http" : "https") + std::string("://127.0.0.1:") + std::to_string(port_);
}

std::vector<SeenRequest> FakeServer::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void FakeServer::serve() {
  sigset_t broken_pipe;  // of clients that close early, through TLS
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  while (!ending_) {
    pollfd readable{listener_, POLLIN, 0};
    if (::poll(&readable, 1, kLook_ms) <= 0) continue;
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor >= 0) answer(descriptor);
  }
}

void FakeServer::answer(int descriptor) {
  const int one = 1;  // pieces are to arrive as pieces
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  std::unique_ptr<Plain> connection;
  if (tls_ != nullptr)
    connection = std::make_unique<Tls>(descriptor, ending_, tls_);
  else
    connection = std::make_unique<Plain>(descriptor, ending_);
  SeenRequest request;
  if (!connection->accept() || !read_request(*connection, request)) return;
  Script script;
  {
    const std::lock_guard lock(mutex_);
    seen_.push_back(request);
    script = scripts_.at(std::min(connections_++, scripts_.size() - 1));
  }
  script(*connection, request);
}

FakeServer::Script reply(const std::string& status, const std::string& headers, const std::string& body) {
  return [=](FakeConnection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
                    "\r\nConnection: close\r\n\r\n" + body);
  };
}

FakeServer::Script json_reply(const std::string& body) {
  return reply("200 OK", "Content-Type: application/json\r\n", body);
}

FakeServer::Script stream(const std::vector<std::string>& pieces) {
  return [=](FakeConnection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
    for (const std::string& piece : pieces)
      if (!connection.send(piece)) return;
  };
}

}  // namespace kagent::test
