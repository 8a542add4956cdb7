// What goes into traced shared libraries; see hooks.c. It offers nothing to anybody.
