"""The modes of Tools/differential, written as BASE[+OPTION...]: trace+args+blocked. A base says what is done to the program."""

# What fathom record is asked for.
RECORDED = {
    "trace": [],
    "profile": ["--mode", "profile"],
    "counts": ["--mode", "counts"],
    "flight": ["--mode", "flight"],
    "stack": ["--mode", "stack"],
    "first-calls": ["--first-calls"],
    "startup": ["--startup"],
    "library": ["--libcalls"],
    "paused": ["--paused"],
}
# Programs that run already: what is done beside them, again and again.
BESIDE = ["attach", "attach-profile", "attach-flight", "sample", "record-sample", "arm", "arm-attach", "start-stop"]
OPTIONS = {
    "blocked": ["--blocked"],
    "memory": ["--memory"],
    "faults": ["--faults"],
    "args": ["--args", "*"],
    "returns": ["--returns", "*"],
    "filter": ["-F", "/f(unc_)?[0-9]*[02468]/"],
    "notrace": ["-N", "/f(unc_)?[0-9]*[13]/"],
    "hide": ["-H", "/f(unc_)?[0-9]*[579]/"],
    "depth": ["-D", "4"],
    "short": ["-t", "2us"],
    "budget": ["--budget", "5%", "--buffer-size", "16K"],
    "minsize": ["--min-size", "64"],
    "small": ["--buffer-size", "16K"],
    "libcalls": ["--libcalls"],
    "any": ["--any"],
    "trigger": ["-T", "/f(unc_)?[0-9]*5/@stop", "-T", "/f(unc_)?[0-9]*7/@start"],
    "watch": ["--watch", "/f(unc_)?[0-9]*3/"],
}
# Only of what is recorded from its beginning on, in full.
ONLY_WHOLE = {"blocked", "memory", "faults", "budget"}
# Whatever these leave out is left out on purpose.
SELECTING = {"filter", "notrace", "hide", "depth", "short", "budget", "minsize", "trigger", "watch"}
# What this adds to a recording stands in paths of others.
ADDING = {"libcalls"}
# Of programs as they are shipped; and what else can be done to these, with --any.
SHIPPED = ("first-calls", "startup", "sample", "library")
WITH_ANY = [f"{base}+any" for base in [*RECORDED, *BESIDE] if base not in SHIPPED and not base.startswith("arm")]
# What fathom tree selects in the same way.
AS_READ = {"filter", "notrace", "hide", "depth"}


def options_for(base, has_exits):
    """Those that Fathom takes. Whether each function's calls can be told of alone, and its results: of sleds and of detours."""
    if base in WITH_ANY:
        return [option for option in options_for(base.removesuffix("+any"), has_exits) if option != "any"]
    kind = base.rpartition("-")[2]
    if base in ("first-calls", "sample", "arm"):
        return []
    of_sleds = ("returns", "budget", "minsize")
    names = [option for option in OPTIONS if has_exits or option not in of_sleds]
    if kind in ("profile", "counts", "stack"):
        return [option for option in names if option in ("small", "minsize", "libcalls", "any")]
    if base == "arm-attach":
        return ["small", "short"]
    partial = ONLY_WHOLE - {"blocked"} if base == "flight" else ONLY_WHOLE if kind in ("flight", "attach") else ()
    return [option for option in names if option not in partial]


class Mode:
    def __init__(self, name):
        self.name = name
        self.base, *self.options = name.split("+")
        if self.base not in RECORDED and self.base not in BESIDE or any(option not in OPTIONS for option in self.options):
            raise SystemExit(f"differential: there is no mode '{name}'")

    def arguments(self):
        words = list(RECORDED.get(self.base, []))
        for option in self.options:
            words += OPTIONS[option]
        return words

    @property
    def counts_all(self):
        return self.counts_functions and not ADDING & set(self.options)

    @property
    def counts_functions(self):
        return self.base in ("trace", "profile", "counts", "startup", "record-sample") and not SELECTING & set(self.options)

    @property
    def as_read(self):
        """The filters that reading would need to show what this records, if it would."""
        # Arguments show in trees.
        if self.base != "trace" or (ADDING | {"args", "returns"}) & set(self.options) or not AS_READ & set(self.options) or (SELECTING - AS_READ) & set(self.options):
            return None
        return [word for option in self.options if option in AS_READ for word in OPTIONS[option]]

    def simpler(self):
        for option in self.options:
            yield Mode("+".join([self.base, *(other for other in self.options if other != option)]))
        if self.base in RECORDED and self.base != "trace":
            yield Mode("+".join(["trace", *self.options]))
