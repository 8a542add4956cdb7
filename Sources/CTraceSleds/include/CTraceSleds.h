// Nothing is called by its header: this target is an object that `fathom build --dormant` links into what it builds.
