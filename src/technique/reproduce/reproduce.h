#ifndef SUNDEW_REPRODUCE_H
#define SUNDEW_REPRODUCE_H
#include "session/command.h"

extern const Command technique_reproduce;
#endif
