/// What a program's stand-in libraries and `warptwin cuda` tell each other, over a socket: a header
/// as JSON, and bytes behind it. Each request has one answer.

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

namespace warptwin::cuda {

/// The environment's variable with the socket's path.
inline constexpr const char* kSocketVariable = "WARPTWIN_CUDA_SOCKET";

/// Changes with what the messages are: a command and libraries of another build are refused.
inline constexpr int kWireVersion = 2;

struct Message {
  nlohmann::json header;
  std::vector<std::byte> bytes;
};

/// False where the other side is gone.
bool send_message(int socket, const nlohmann::json& header, std::span<const std::byte> bytes = {});

/// None where the other side is gone, or sends what is no message.
std::optional<Message> receive_message(int socket);

}  // namespace warptwin::cuda
