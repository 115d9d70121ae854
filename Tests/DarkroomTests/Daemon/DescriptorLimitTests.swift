import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon

struct DescriptorLimitTests {
    @Test(
        arguments: [
            (0, 0, false), (3, 3, false), (20, 3, false), (50, 3, false), (51, 3, true),
            (64, 16, true), (64, 17, false), (1023, 976, false), (1023, 975, true),
            (1 << 20, 1023, true), (.max, 3, true), (-1, 0, false),
        ] as [(Int, Int, Bool)])
    func wantsEnough(limit: Int, open: Int, isEnough: Bool) {
        var isRefused = false
        do throws(DescriptorLimit) {
            try DescriptorLimit.check(limit: limit) { $0 < open }
        } catch {
            isRefused = true
        }
        #expect(isRefused == !isEnough)
    }

    @Test func saysWhatToDo() throws {
        let error = #expect(throws: DescriptorLimit.self) {
            try DescriptorLimit.check(limit: 20) { $0 < 3 }
        }
        #expect(
            error?.message
                == "the limit of open files (RLIMIT_NOFILE) is 20, and 3 are open already, but at least 48 "
                + "more are needed; raise it with LimitNOFILE= in the unit, or with ulimit -n")
        #expect(error?.code == "too-many-files")
        #expect(error.map { ExitCode(of: $0) } == .systemError)
    }
}
