// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

typedef struct ssl_ctx_st SSL_CTX;

namespace kagent::test {

// A connection of the fake server, plain or TLS.
class FakeConnection {
 public:
  virtual ~FakeConnection() = default;
  // False once the client is gone.
  virtual bool send(const std::string& bytes) = 0;
  // Waits until the client has closed the connection, or the server ends.
  virtual void wait_for_close() = 0;
};

// What the fake server got, in order.
struct SeenRequest {
  std::string line;     // "POST /v1/chat/completions HTTP/1.1"
  std::string headers;  // as sent
  std::string body;
};

// A scripted HTTP server on loopback, which answers what the test says: connection by connection, one script each, the
// last one again for all later ones. It stands for model providers.
class FakeServer {
 public:
  // Answers one request; the connection is closed afterwards.
  using Script = std::function<void(FakeConnection& connection, const SeenRequest& request)>;

  explicit FakeServer(std::vector<Script> scripts);
  // Over TLS, with a certificate of its own making for the given host name.
  FakeServer(std::vector<Script> scripts, const std::filesystem::path& folder, const std::string& host);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;

  // "http://127.0.0.1:PORT"
  std::string url() const;
  // Of the TLS variant: its own certificate.
  std::filesystem::path certificate() const { return certificate_; }
  std::vector<SeenRequest> seen() const;

 private:
  void listen();
  void serve();
  void answer(int descriptor);

  std::vector<Script> scripts_;
  std::filesystem::path certificate_;
  SSL_CTX* tls_ = nullptr;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  std::vector<SeenRequest> seen_;
  std::size_t connections_ = 0;
  std::thread thread_;
};

// Scripts.
FakeServer::Script reply(const std::string& status, const std::string& headers, const std::string& body);
FakeServer::Script json_reply(const std::string& body);             // 200
FakeServer::Script stream(const std::vector<std::string>& pieces);  // 200, text/event-stream, each piece sent by itself

}  // namespace kagent::test
