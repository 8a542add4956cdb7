// An editor's start: it knows its words and its keys before main, reads its settings, and shows its first frame. Then
// it ends.
#include <cstdio>
#include <fathom.h>
#include <map>
#include <string>
#include <vector>

class Dictionary {
  public:
    Dictionary() {
        for (int first = 0; first < 300; first++)
            for (int second = 0; second < 300; second++)
                add(std::to_string(first * 7919 % 300) + "-" + std::to_string(second));
    }
    bool has(const std::string &word) const { return words.count(word) > 0; }

  private:
    void add(const std::string &word) { words[word]++; }
    std::map<std::string, int> words;
};

// Made before main, whether a word is ever looked up or not.
static Dictionary dictionary;

static int read_setting(int number) {
    int value = number;
    for (int round = 0; round < 2000; round++) value = value * 31 % 65521;
    return value;
}

static std::vector<int> read_settings() {
    std::vector<int> settings;
    for (int number = 0; number < 500; number++) settings.push_back(read_setting(number));
    return settings;
}

static void show_frame(const std::vector<int> &settings) {
    std::printf("%zu settings, first %d\n", settings.size(), settings[0]);
    fathom_mark("first frame");
}

int main() {
    auto settings = read_settings();
    show_frame(settings);
    return dictionary.has("none");
}
