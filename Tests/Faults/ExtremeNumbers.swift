import DarkroomCore
import DarkroomSelfTest
import Foundation

/// Numbers from outside that are as large or as small as their types allow, above all a file system's: sizes and times of
/// files. The daemon goes on as well as it can; it never ends of it.
enum ExtremeNumbers {
    static func run(_ fixture: FaultFixture) throws -> [String] {
        // What the shim exaggerates; and what the service manager might.
        try ["size", "negative", "past", "future", "links"].map {
            try run("\($0) of files", ["SHIM_STAT": $0], fixture)
        } + [run("WATCHDOG_USEC", ["WATCHDOG_USEC": "18446744073709551614"], fixture)]
    }

    private static func run(
        _ extreme: String, _ environment: [String: String], _ fixture: FaultFixture
    ) throws -> String {
        let what = "extreme numbers: \(extreme)"
        let spool = try TestSpool(
            FileName("numbers-\(extreme.prefix { $0 != " " })"), in: fixture.folder,
            program: fixture.program)
        // An entry that is to be removed, files in tmp/, and manifests that wait for the start.
        let before = try spool.start()
        let old = try spool.drop(.single)
        guard try spool.waitUntilIdle(before) else { return "FAIL \(what): no entry" }
        before.send(SIGTERM)
        guard try before.wait(30) == .exited(0) else { return "FAIL \(what): no stop before it" }
        let tmp = try Directory(path: "\(spool.path)/tmp")
        for name: FileName in ["left-1", "left-2"] {
            try tmp.write([1, 2, 3], to: name, durably: false)
        }
        try spool.drop(.pair)
        try spool.drop(.rejected)
        try makeCache(in: Directory(path: spool.path))
        let daemon = try spool.start(
            settings: [
                "cache.folder": "\(spool.path)/cache", "cache.maxBytes": "1GiB",
                "retention.age": "1s", "retention.bytes": "1", "retention.tmp": "1s",
            ],
            environment: ["LD_PRELOAD": fixture.shim, "SHIM_ROOT": spool.path]
                .merging(environment) { $1 })
        // What came before the start, and what comes now, is answered, be it with a refusal.
        guard try spool.waitUntilIdle(daemon) else { return failure(what, daemon, spool) }
        try spool.drop(.single)
        guard try spool.waitUntilIdle(daemon) else { return failure(what, daemon, spool) }
        // The housekeeper has been at work when the old entry is gone, or has been told of.
        let isSwept = try eventually(within: 60) { () throws(SelfTestError) -> Bool? in
            if daemon.poll() != nil { return false }
            return try spool.names("outbox").contains(FileName(old)) ? nil : true
        }
        guard isSwept == true else { return failure("\(what): no sweep", daemon, spool) }
        daemon.send(SIGTERM)
        guard try daemon.wait(30) == .exited(0) else { return failure(what, daemon, spool) }
        return "ok \(what)"
    }

    /// With answers of a former daemon.
    private static func makeCache(in root: Directory) throws {
        try root.makeDirectory("cache", mode: 0o750)
        let cache = try Directory("cache", in: root)
        try cache.makeDirectory("ab")
        let folder = try Directory("ab", in: cache)
        for digit in ["0", "1"] {
            let name = FileName(String(repeating: digit, count: 62))
            try folder.write([1], to: name, durably: false)
        }
    }

    private static func failure(
        _ what: String, _ daemon: ChildDaemon, _ spool: TestSpool
    ) -> String {
        let ending = daemon.poll().map { "\($0)" } ?? "it does not come to an end"
        return "FAIL \(what): \(ending)\n    " + spool.lastWords.joined(separator: "\n    ")
    }
}
