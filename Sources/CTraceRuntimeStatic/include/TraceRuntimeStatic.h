// What libfathom.a holds beyond the runtime itself; see wrap.c.
