import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomSpool

struct ClockTrustTests {
    typealias Moment = ClockTrust.Moment

    /// The program's time, and one at which the machine was started, in seconds since 1970.
    private static let program = 1_750_000_000.0
    private static let start = 1_800_000_000.0
    private static let day = 86400.0
    private static let hour = 3600.0

    /// A look at so many seconds after the start of a machine, whose clock is ahead by so much.
    private static func look(_ uptime: Double, ahead: Double = 0, boot: String = "a") -> Moment {
        Moment(wall: start + uptime + ahead, uptime: uptime, boot: boot)
    }

    private static func dead(_ uptime: Double, boot: String = "a") -> Moment {
        Moment(wall: uptime, uptime: uptime, boot: boot)
    }

    struct Course: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let looks: [(moment: Moment, doubt: ClockTrust.Doubt?)]

        init(_ name: String, _ looks: (Moment, ClockTrust.Doubt?)...) {
            testDescription = name
            self.looks = looks.map { (moment: $0.0, doubt: $0.1) }
        }
    }

    static let courses: [Course] = [
        Course("in step", (look(10), nil), (look(20), nil), (look(day * 100), nil)),
        Course(
            "jumps ahead, for a day", (look(10), nil), (look(20, ahead: 2 * day), .ahead(2 * day)),
            (look(20 + hour, ahead: 2 * day), .ahead(2 * day)),
            (look(19 + day, ahead: 2 * day), .ahead(2 * day)),
            (look(20 + day, ahead: 2 * day), nil),
            // From then on it is the one that is believed.
            (look(21 + day, ahead: 2 * day), nil), (look(22 + day, ahead: 3 * day), .ahead(day))),
        Course(
            "jumps ahead and back", (look(10), nil), (look(20, ahead: day), .ahead(day)),
            (look(30), nil), (look(40, ahead: 301), .ahead(301)), (look(50, ahead: 300), nil)),
        Course("a small step", (look(10), nil), (look(20, ahead: 299), nil)),
        Course(
            "many small steps", (look(10), nil), (look(20, ahead: 200), nil),
            (look(30, ahead: 290), nil), (look(40, ahead: 400), .ahead(400))),
        Course(
            "is put back, and then right again", (look(10), nil), (look(20, ahead: -day), nil),
            (look(30, ahead: -day), nil), (look(40), .ahead(day)), (look(40 + day), nil)),
        Course("a machine that was suspended", (look(10), nil), (look(10 + 9 * day), nil)),
        Course(
            "a virtual machine that was stopped", (look(10), nil),
            (look(20, ahead: 9 * day), .ahead(9 * day))),
        Course(
            "another daemon, days later", (look(10), nil), (look(20 + 9 * day), nil),
            (look(30 + 19 * day, ahead: day), .ahead(day))),
        Course(
            "no battery: 1970 until the time is known", (dead(5), .beforeProgram),
            (dead(60), .beforeProgram), (look(61, ahead: 0), .ahead(start)), (look(61 + day), nil)),
        Course(
            "no battery, and looks of before", (look(10), nil),
            (dead(5, boot: "b"), .beforeProgram),
            (look(15, ahead: hour, boot: "b"), .ahead(start + hour)),
            (look(15 + day, ahead: hour, boot: "b"), nil)),
        Course(
            "started again soon", (look(10 * day), nil),
            (look(5, ahead: 10 * day + hour, boot: "b"), nil)),
        Course(
            "started again after the holidays", (look(10), nil),
            (look(10, ahead: 9 * day, boot: "b"), .longAfter(9 * day)),
            (look(909, ahead: 9 * day, boot: "b"), .longAfter(9 * day)),
            (look(910, ahead: 9 * day, boot: "b"), nil)),
        Course(
            "started again, the clock wrong and then put right", (look(10), nil),
            (look(10, ahead: 900 * day, boot: "b"), .longAfter(900 * day)),
            (look(70, ahead: hour, boot: "b"), nil)),
        Course(
            "started again, the clock behind", (look(9 * day), nil),
            (look(10, ahead: 8 * day, boot: "b"), nil),
            (look(20, ahead: 9 * day, boot: "b"), .ahead(day))),
        Course(
            "a jump each morning does not put it off for ever", (look(10), nil),
            (look(20, ahead: hour), .ahead(hour)),
            (look(20 + 15 * hour, ahead: hour), .ahead(hour)),
            (look(5, ahead: 48 * hour, boot: "b"), .ahead(hour)),
            (look(10, ahead: 50 * hour, boot: "b"), .ahead(hour)),
            (look(9 * hour + 10, ahead: 50 * hour, boot: "b"), nil)),
        Course(
            "a machine whose starts have no names", (look(10, boot: ""), nil),
            (look(20, ahead: hour, boot: ""), nil),
            (look(30, ahead: 2 * day, boot: ""), .longAfter(2 * day - hour + 10))),
    ]

    @Test(arguments: courses)
    func believesTheClockOrNot(course: Course) throws {
        var trust = ClockTrust()
        for (number, step) in course.looks.enumerated() {
            trust.look(step.moment, program: Self.program)
            #expect(trust.doubt == step.doubt, "look \(number + 1)")
            #expect((trust.remaining > 0) == (step.doubt != nil), "look \(number + 1)")
            // Each may be another daemon's.
            let data = try JSONEncoder().encode(trust)
            trust = try JSONDecoder().decode(ClockTrust.self, from: data)
        }
    }

    @Test func isNotedInTheSpool() throws {
        let scratch = try ScratchDirectory()
        let folder = try Directory(path: scratch.path)
        #expect(try ClockNote.read(in: folder) == nil)
        var trust = ClockTrust()
        trust.look(Self.look(10), program: Self.program)
        trust.look(Self.look(20, ahead: Self.day), program: Self.program)
        try ClockNote.write(trust, in: folder, durably: true)
        #expect(try ClockNote.read(in: folder) == trust)
        #expect(try folder.names() == [ClockNote.fileName])
        try folder.write([1, 2], to: ClockNote.fileName, replacing: true, durably: false)
        #expect(try ClockNote.read(in: folder) == nil)
    }

    /// What is measured against a file's time never grows by a jump.
    @Test(arguments: [
        (wall: 100.0, uptime: 5.0, time: 100.0), (200, 105, 200), (1e9, 105, 200), (50, 105, 50),
        (200, 1, 100),
    ])
    func theSteadyClockDoesNotJumpAhead(wall: Double, uptime: Double, time: Double) {
        #expect(SteadyClock(wall: 100, uptime: 5).time(wall: wall, uptime: uptime) == time)
    }
}
