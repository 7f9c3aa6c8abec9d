// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proposer/model/chat.h"
#include "proposer/model/config.h"
#include "proposer/model/secret.h"

namespace kagent::proposer::model {

// How a key goes into a header: "Authorization: Bearer <key>" or "x-api-key: <key>".
struct KeyHeader {
  const Secret* key = nullptr;
  std::string prefix;
};

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "name: value", none with a key
  KeyHeader key;
  std::string body;  // JSON
  std::filesystem::path ca_file;
  bool allow_http = false;
  ExchangeLimits limits;
};

struct HttpReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; the last of equal ones
  std::string body;                            // what `on_body` did not take
};

// Takes a piece of a reply's body; false leaves it to HttpReply::body. Called only for status 200 and event streams.
using OnStream = std::function<void(std::string_view piece)>;

// Posts the body and waits for the whole reply, of any status. The errors are those of the way: network, tls,
// timed_out, too_large, cancelled, bad_request (a URL that may not be used). Certificates are verified, redirects are
// not followed, proxies come from the environment as curl takes them, but not for this machine's own addresses.
std::expected<HttpReply, ChatError> http_post(const HttpRequest& request, const OnStream& on_stream,
                                              const GiveUp& give_up);

// Whether the URL names this machine: localhost, 127.0.0.0/8 or [::1].
bool is_loopback(const std::string& url);
// Why a base URL cannot be used; empty if it can.
std::string url_problem(const std::string& url, bool allow_http);

}  // namespace kagent::proposer::model
