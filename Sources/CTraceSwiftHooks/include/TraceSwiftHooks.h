// What goes into traced Swift products; see hooks.c. It offers nothing to anybody.
