#include "program/version.h"
#include <llvm-c/Core.h>
#include <stdio.h>

const char *program_llvm_version(void)
{
    static char text[32];
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
    return text;
}
