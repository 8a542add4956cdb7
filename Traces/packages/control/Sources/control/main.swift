import Fathom

@inline(never)
func work(_ n: Int) -> Int {
    Fathom.scope("work \(n)") { n + 1 }
}

Fathom.nameThread("swift main")
Fathom.mark("begin")
let sum = work(1) + work(2)
Fathom.stop()
_ = work(3)
Fathom.start(maxDepth: 3, minCost: .zero)
Fathom.setCounter("answer", Double(sum))
Fathom.save()
print(sum)
