static int is_blank(char c) { return c == ' '; }

int count_words(const char *text) {
    int count = 0;
    for (int i = 0; text[i]; i++)
        if (!is_blank(text[i]) && (i == 0 || is_blank(text[i - 1]))) count++;
    return count;
}
