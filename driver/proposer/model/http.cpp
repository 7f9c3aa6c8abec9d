// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/http.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include <curl/curl.h>
#include <fmt/core.h>

#include "util/text.h"

namespace kagent::proposer::model {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// How soon a `give_up` is noticed.
constexpr milliseconds kLook{100};
// Of all headers together: real replies have a few kilobytes.
constexpr std::size_t kHeaderBytes = 256 * 1024;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Initialises libcurl once; it stays for the life of the process.
bool curl_ready() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

// CURL and CURLM are both void.
template <auto release>
struct Free {
  template <class T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using Easy = std::unique_ptr<CURL, Free<curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Free<curl_multi_cleanup>>;
using Lines = std::unique_ptr<curl_slist, Free<curl_slist_free_all>>;
using Url = std::unique_ptr<CURLU, Free<curl_url_cleanup>>;

// OpenSSL writes to sockets whose other end is gone, which is SIGPIPE: it must not end this process. Of this thread
// alone, since others may want it.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~NoBrokenPipe() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now{0, 0};
    ::sigtimedwait(&broken_pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;

 private:
  sigset_t broken_pipe_{}, before_{};
};

std::optional<std::string> url_part(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return std::nullopt;
  std::string result = text;
  curl_free(text);
  return result;
}

Url parse_url(const std::string& text) {
  if (!curl_ready()) return nullptr;
  Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return nullptr;
  return url;
}

// One request on its way, as the callbacks of libcurl see it.
class Exchange {
 public:
  Exchange(const HttpRequest& request, const OnStream& on_stream, const GiveUp& give_up)
      : request_(request), on_stream_(on_stream), give_up_(give_up) {}

  std::expected<HttpReply, ChatError> run();

 private:
  bool set_up();
  void set_up_headers();
  std::optional<ChatError> wait();
  std::optional<ChatError> overdue() const;
  std::optional<ChatError> outcome(CURLcode code) const;
  ChatError error(ChatErrorKind kind, std::string message) const;
  bool take(std::string_view piece);
  bool take_header(std::string_view line);

  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->take({bytes, size * count}) ? size * count : 0;
  }
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->take_header({bytes, size * count}) ? size * count : 0;
  }

  const HttpRequest& request_;
  const OnStream& on_stream_;
  const GiveUp& give_up_;
  NoBrokenPipe no_broken_pipe_;  // outlives the handles, which say goodbye to the server
  Multi multi_;
  Easy easy_;
  Lines headers_;
  std::array<char, CURL_ERROR_SIZE> curl_message_{};
  HttpReply reply_;
  std::size_t header_bytes_ = 0;
  std::int64_t body_bytes_ = 0;
  bool capped_ = false, streams_ = false, any_ = false;
  Clock::time_point started_, last_byte_;
};

ChatError Exchange::error(ChatErrorKind kind, std::string message) const {
  if (request_.key.key != nullptr) message = request_.key.key->scrub(std::move(message));
  ChatError result{kind, util::clean(message, 1'000)};
  result.http_status = reply_.status;
  return result;
}

bool Exchange::take(std::string_view piece) {
  last_byte_ = Clock::now();
  if (!any_) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    streams_ = status == 200 && on_stream_ && reply_.headers["content-type"].starts_with("text/event-stream");
  }
  any_ = true;
  body_bytes_ += static_cast<std::int64_t>(piece.size());
  capped_ = body_bytes_ > request_.limits.reply_bytes;
  if (capped_) return false;
  if (streams_)
    on_stream_(piece);
  else
    reply_.body += piece;
  return true;
}

bool Exchange::take_header(std::string_view line) {
  last_byte_ = Clock::now();
  header_bytes_ += line.size();
  capped_ = header_bytes_ > kHeaderBytes;
  if (capped_) return false;
  if (line.starts_with("HTTP/")) {
    reply_.headers.clear();  // those of a proxy or of "100 Continue" before
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    reply_.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
  }
  return true;
}

void Exchange::set_up_headers() {
  const auto add = [&](const char* line) {
    curl_slist* list = curl_slist_append(headers_.get(), line);
    if (list == nullptr) return;
    static_cast<void>(headers_.release());
    headers_.reset(list);
  };
  add("Content-Type: application/json");
  add("Expect:");  // some servers never answer "100-continue"
  for (const std::string& line : request_.headers) add(line.c_str());
  if (request_.key.key != nullptr && !request_.key.key->empty()) {
    std::string line = request_.key.prefix + std::string(request_.key.key->reveal());
    add(line.c_str());
    wipe(line);
  }
}

bool Exchange::set_up() {
  if (!curl_ready()) return false;
  multi_.reset(curl_multi_init());
  easy_.reset(curl_easy_init());
  if (!multi_ || !easy_) return false;
  set_up_headers();
  CURL* const easy = easy_.get();
  bool ok = true;
  const auto set = [&](CURLoption option, auto value) { ok = curl_easy_setopt(easy, option, value) == CURLE_OK && ok; };
  set(CURLOPT_ERRORBUFFER, curl_message_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  if (!request_.ca_file.empty()) set(CURLOPT_CAINFO, request_.ca_file.c_str());
  if (is_loopback(request_.url)) set(CURLOPT_PROXY, "");
  set(CURLOPT_USERAGENT, "kagent/0.1");
  set(CURLOPT_HTTPHEADER, headers_.get());
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDS, request_.body.data());
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.limits.connect.count()));
  set(CURLOPT_WRITEFUNCTION, &Exchange::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  return ok && curl_multi_add_handle(multi_.get(), easy) == CURLM_OK;
}

std::optional<ChatError> Exchange::overdue() const {
  const auto now = Clock::now();
  const ExchangeLimits& limits = request_.limits;
  const auto seconds = [](milliseconds time) { return static_cast<double>(time.count()) / 1000; };
  if (now - started_ > limits.total)
    return error(ChatErrorKind::timed_out,
                 fmt::format("the reply was not whole after {} s (limits/total_s)", seconds(limits.total)));
  if (!any_ && now - started_ > limits.first_byte)
    return error(ChatErrorKind::timed_out,
                 fmt::format("no reply within {} s (limits/first_byte_s)", seconds(limits.first_byte)));
  if (any_ && now - last_byte_ > limits.stall)
    return error(ChatErrorKind::timed_out,
                 fmt::format("the reply stalled for {} s (limits/stall_s)", seconds(limits.stall)));
  return std::nullopt;
}

std::optional<ChatError> Exchange::wait() {
  while (true) {
    int running = 0, left = 0;
    if (curl_multi_perform(multi_.get(), &running) != CURLM_OK)
      return error(ChatErrorKind::network, "libcurl cannot go on");
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left))
      if (message->msg == CURLMSG_DONE) return outcome(message->data.result);
    if (give_up_ && give_up_()) return error(ChatErrorKind::cancelled, "given up while waiting for the reply");
    if (auto late = overdue()) return late;
    curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(kLook.count()), nullptr);
  }
}

std::optional<ChatError> Exchange::outcome(CURLcode code) const {
  if (code == CURLE_OK) return std::nullopt;
  if (capped_)
    return error(ChatErrorKind::too_large,
                 fmt::format("the reply is larger than {} bytes (limits/reply_bytes)", request_.limits.reply_bytes));
  const std::string why = curl_message_[0] != '\0' ? curl_message_.data() : curl_easy_strerror(code);
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return error(ChatErrorKind::timed_out, why);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_INITFAILED:
      return error(ChatErrorKind::tls, why + "; if the server's certificate is your own, name it as \"ca_file\"");
    default:  // libcurl's enum grows
      return error(ChatErrorKind::network, why);
  }
}

std::expected<HttpReply, ChatError> Exchange::run() {
  if (const std::string problem = url_problem(request_.url, request_.allow_http); !problem.empty())
    return std::unexpected(error(ChatErrorKind::bad_request, problem));
  if (!set_up()) return std::unexpected(error(ChatErrorKind::network, "libcurl cannot be set up"));
  started_ = last_byte_ = Clock::now();
  std::optional<ChatError> failed = wait();
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  reply_.status = static_cast<int>(status);
  curl_multi_remove_handle(multi_.get(), easy_.get());
  for (curl_slist* line = headers_.get(); line != nullptr; line = line->next) {
    const std::string_view text = line->data;
    if (request_.key.key != nullptr && !request_.key.key->empty() && text.ends_with(request_.key.key->reveal()))
      std::fill_n(line->data, text.size(), ' ');
  }
  if (!failed) return std::move(reply_);
  failed->http_status = reply_.status;
  return std::unexpected(std::move(*failed));
}

}  // namespace

std::expected<HttpReply, ChatError> http_post(const HttpRequest& request, const OnStream& on_stream,
                                              const GiveUp& give_up) {
  return Exchange(request, on_stream, give_up).run();
}

bool is_loopback(const std::string& url) {
  const auto parsed = parse_url(url);
  if (!parsed) return false;
  const std::string host = lower(url_part(parsed.get(), CURLUPART_HOST).value_or(""));
  if (host == "localhost" || host == "[::1]") return true;
  // libcurl writes every spelling of an IPv4 address ("127.1", "0x7f000001") as four decimal numbers.
  return host.starts_with("127.") && std::ranges::count(host, '.') == 3 &&
         host.find_first_not_of("0123456789.") == std::string::npos;
}

std::string url_problem(const std::string& url, bool allow_http) {
  const auto parsed = parse_url(url);
  if (!parsed) return "not a URL; write https://HOST/PATH";
  if (url_part(parsed.get(), CURLUPART_USER) || url_part(parsed.get(), CURLUPART_PASSWORD))
    return "a URL with a user or password in it; give the key by \"key\"";
  if (url_part(parsed.get(), CURLUPART_QUERY) || url_part(parsed.get(), CURLUPART_FRAGMENT))
    return "a URL with a query or fragment; write https://HOST/PATH";
  const std::string scheme = url_part(parsed.get(), CURLUPART_SCHEME).value_or("");
  if (scheme == "https") return {};
  if (scheme != "http") return "neither https nor http";
  if (allow_http || is_loopback(url)) return {};
  return "plain http to another machine; use https, or say \"allow_http\": true if the way there is safe";
}

}  // namespace kagent::proposer::model
