// What goes into traced shared libraries; see hooks.c. It declares nothing.
