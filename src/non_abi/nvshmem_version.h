// Version macros under their older path.
#pragma once
#include <causeway/api/types.h>
