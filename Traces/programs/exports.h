#pragma once

/// In a file of its own, where it has a `helper` of the same name as the other one.
long other_file(long number);
