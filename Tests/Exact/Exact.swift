import CDarkroomPixels
import Dispatch
import Glibc
import Synchronization

/// Holds colour filters against their definitions for every colour there is.
///
/// For each filter, depth and kind of processor one line: `ok` or `FAIL`. Exits 1 if any failed. This is
/// a program of its own, built for release, because a debug build would take hours.
@main
struct Exact {
    static func main() {
        let levels: [(name: String, level: darkroom_cpu)] = [
            ("scalar", DARKROOM_CPU_SCALAR), ("AVX2", DARKROOM_CPU_AVX2),
        ]
        let failures = Atomic(0)
        for (name, level) in levels {
            // The limit is for all threads, so one level comes after the other.
            darkroom_cpu_limit(level)
            guard darkroom_cpu_level() == level else {
                print("skip \(name): this processor has not got it")
                continue
            }
            let checks = [8, 16].flatMap { depth in
                Definition.all.map { Check(definition: $0, colours: Colours(depth: depth)) }
            }
            DispatchQueue.concurrentPerform(iterations: checks.count) { index in
                let check = checks[index]
                let title = "\(check.definition.name), \(check.colours.depth) bits, \(name)"
                if let problem = check.problem() {
                    failures.add(1, ordering: .relaxed)
                    print("FAIL \(title): \(problem)")
                } else {
                    print("ok \(title)")
                }
            }
        }
        if failures.load(ordering: .relaxed) > 0 { exit(1) }
    }
}
