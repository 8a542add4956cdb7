// What goes into traced Swift products; see hooks.c. It declares nothing.
