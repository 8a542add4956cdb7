fn main() {
    cc::Build::new().file("words.c").compile("words");
}
