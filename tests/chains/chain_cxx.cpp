// Known call chains of a C++ program: exceptions caught, rethrown and unwound, templates and
// lambdas.
#include "chain_victim.h"

#include <stdexcept>

namespace chains {

void throws();
void passes_on();
void throws_again();
void catches();

struct guard {
    unsigned long bytes;
    APART ~guard()
    {
        take(bytes);
        NO_TAIL_CALL();
    }
};

APART void throws()
{
    guard here{1200};
    throw std::runtime_error("known");
}

APART void passes_on()
{
    guard here{1201};
    throws();
    NO_TAIL_CALL();
}

APART void throws_again()
{
    try {
        passes_on();
    } catch (const std::runtime_error &) {
        take(1202);
        throw;
    }
}

APART void catches()
{
    try {
        throws_again();
    } catch (const std::exception &) {
        take(1203);
    }
    NO_TAIL_CALL();
}

template <typename T> APART void of_type(T bytes)
{
    take(static_cast<unsigned long>(bytes));
    NO_TAIL_CALL();
}

} // namespace chains

extern "C" void cases_in_cxx(void)
{
    expect(1200, "chains::guard::~guard() < chains::throws() < chains::passes_on() < "
                 "chains::throws_again() < chains::catches() < cases_in_cxx" FROM_MAIN);
    expect(1201, "chains::guard::~guard() < chains::passes_on() < chains::throws_again() < "
                 "chains::catches() < cases_in_cxx" FROM_MAIN);
    expect(1202, "chains::throws_again() < chains::catches() < cases_in_cxx" FROM_MAIN);
    expect(1203, "chains::catches() < cases_in_cxx" FROM_MAIN);
    chains::catches();
    expect(1204, "void chains::of_type<int>(int) < cases_in_cxx" FROM_MAIN);
    chains::of_type(1204);
    NO_TAIL_CALL();
}
