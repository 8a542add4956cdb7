// The runtime as a preloadable library; see CTraceRuntime.
