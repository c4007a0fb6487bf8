#include "sim/cuda/wire.hpp"

#include <cerrno>
#include <cstdint>
#include <string>
#include <sys/socket.h>

#include "sim/json/json_text.hpp"

namespace warptwin::cuda {

namespace {

constexpr std::uint64_t kHeaderMax = std::uint64_t{1} << 26;
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 36;

bool send_all(int socket, const void* from, std::size_t size) {
  const char* at = static_cast<const char*>(from);
  while (size != 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return false;
    }
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* to, std::size_t size) {
  char* at = static_cast<char*>(to);
  while (size != 0) {
    const ssize_t got = ::recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

bool send_message(int socket, const nlohmann::json& header, std::span<const std::byte> bytes) {
  const std::string text = text_of_json(header);
  const std::uint64_t sizes[2] = {text.size(), bytes.size()};
  return send_all(socket, sizes, sizeof sizes) && send_all(socket, text.data(), text.size()) &&
         send_all(socket, bytes.data(), bytes.size());
}

std::optional<Message> receive_message(int socket) {
  std::uint64_t sizes[2] = {};
  if (!receive_all(socket, sizes, sizeof sizes) || sizes[0] > kHeaderMax || sizes[1] > kBytesMax) {
    return std::nullopt;
  }
  std::string text(sizes[0], '\0');
  Message message;
  if (!receive_all(socket, text.data(), text.size())) {
    return std::nullopt;
  }
  message.header = json_if_any<nlohmann::json>(text);
  if (!message.header.is_object()) {
    return std::nullopt;
  }
  message.bytes.resize(sizes[1]);
  if (!receive_all(socket, message.bytes.data(), message.bytes.size())) {
    return std::nullopt;
  }
  return message;
}

}  // namespace warptwin::cuda
