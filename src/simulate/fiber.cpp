#include "simulate/fiber.h"

#include <utility>

#include <boost/context/detail/fcontext.hpp>
#include <cxxabi.h>

namespace parajoule::simulate {

namespace context = boost::context::detail;

struct Fiber::Entry {
  static void run(context::transfer_t from) {
    auto& fiber = *static_cast<Fiber*>(from.data);
    fiber.outer_ = from.fctx;
    announce_arrived(fiber.own_stack_, fiber.outer_stack_);
    fiber.body_(fiber.argument_);
    fiber.ended_ = true;
    announce_leaving(fiber.own_stack_, fiber.outer_stack_, true);
    context::jump_fcontext(fiber.outer_, nullptr);
  }
};

Fiber::Fiber(std::byte* bottom, std::size_t bytes, void (*body)(void*), void* argument)
    : context_(context::make_fcontext(bottom + bytes, bytes, &Entry::run)),
      body_(body),
      argument_(argument),
      own_stack_{.bottom = bottom, .bytes = bytes} {
  announce_new(own_stack_);
  announce_thread(outer_stack_);
}

Fiber::~Fiber() { announce_gone(own_stack_); }

void Fiber::swap_exceptions() {
  // The ABI says what lies there: __cxa_eh_globals of the Itanium C++ ABI, section 2.2.2.
  auto* const mine = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  std::swap(*mine, others_);
}

void Fiber::resume() {
  swap_exceptions();
  announce_leaving(outer_stack_, own_stack_, false);
  const context::transfer_t back = context::jump_fcontext(context_, this);
  announce_arrived(outer_stack_, own_stack_);
  context_ = back.fctx;
  swap_exceptions();
}

void Fiber::give_way() {
  announce_leaving(own_stack_, outer_stack_, false);
  const context::transfer_t back = context::jump_fcontext(outer_, nullptr);
  outer_ = back.fctx;
  announce_arrived(own_stack_, outer_stack_);
}

}  // namespace parajoule::simulate
