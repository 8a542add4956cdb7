#include "words.h"

static bool is_blank(char c) { return c == ' '; }

int count_words(const std::string &text) {
    int count = 0;
    for (std::size_t i = 0; i < text.size(); i++) count += !is_blank(text[i]) && (i == 0 || is_blank(text[i - 1]));
    return count;
}
