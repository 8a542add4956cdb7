#include "CTraceFormat.h"
