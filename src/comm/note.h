#pragma once

// The word ranks exchange. Everything that is agreed between two ranks is agreed by notes; values
// that do not fit into one lie in memory and the note says where.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "comm/communicator.h"

namespace parajoule::comm {

/// Of fixed size and without pointers: it is copied through shared memory and by MPI.
struct Note {
  enum class Kind : std::uint8_t {
    arrived,   ///< the sender has come to a collective; its values may be read and written
    finished,  ///< the sender will not touch the receiver's values of this collective any more
    waiting,   ///< the sender has waited long in this collective: it is not the one who is missing
    message,   ///< values for a receive
    taken,     ///< the values of message `number` have been copied
  };
  /// Values of so many bytes travel in the note itself.
  static constexpr std::size_t room = 64;

  std::uint64_t context = 0;   ///< the group
  std::uint64_t sequence = 0;  ///< of a collective in its group, from 1; 0: a message of the user
  std::uint64_t count = 0;     ///< elements of a collective, bytes of a message
  std::uint64_t place = 0;     ///< of the values: offset in the sender's segment
  std::uint64_t number = 0;    ///< of a message: the sender's own
  double factor = 1;
  std::int32_t from = 0;    ///< rank in the world
  std::int32_t tag = 0;     ///< of a message; of a collective its root
  std::uint32_t parts = 0;  ///< checksum of the lengths of a collective's parts
  Kind kind = Kind::arrived;
  Collective::Kind call = Collective::Kind::sum;
  base::Element element = base::Element::byte;
  std::uint8_t carried =
      0;  ///< bytes of values in `payload`; otherwise a collective's name is there
  std::array<char, room> payload = {};
};
static_assert(std::is_trivially_copyable_v<Note> && sizeof(Note) == 128);

/// "sum number 17 of 1000 float32 'gradients 3'", of the note with which a rank comes to it.
std::string described(const Note& note);

/// Throws Error{bug} that names both sides unless the two ranks have come to the same call.
void agree(const Note& own, const Note& other);

/// Why a rank is out: "rank 3 died: ...". Whoever learns of it passes it on unchanged, so that all
/// ranks name the first cause.
struct Failure {
  int rank = 0;
  std::string what;  ///< continues "rank 3 ..."
};

}  // namespace parajoule::comm
