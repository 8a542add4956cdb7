#include "CInstructions.h"
