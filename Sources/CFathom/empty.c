// The header is all there is; a target of a package must have a source.
