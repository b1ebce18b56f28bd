// Which side of a copy is a peer's memory.
#pragma once

namespace causeway {

enum class Towards { peer, self };

}  // namespace causeway
