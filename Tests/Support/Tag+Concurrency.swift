import Foundation
import Testing

extension Tag {
    /// Several threads at once are the subject. `bash Tests/run.sh tsan` runs these under ThreadSanitizer.
    @Tag package static var concurrency: Self
}

/// The sanitizer under which the tests run.
package enum ThreadSanitizer {
    private static let isOn = ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil

    /// A program takes ten times as long under it, and a race of many is one of a few.
    package static func fewer(_ few: Int, insteadOf many: Int) -> Int { isOn ? few : many }
}
