import Testing

@testable import DarkroomBoard

/// Where work stands: each cell of the table of `Admission`. `BoardMachineTests` has it in random sequences of events.
struct AdmissionTests {
    private typealias Place = Admission.Place

    // MARK: Every cell

    /// One piece of work, brought to a place, and what an event makes of it.
    private enum Event: String, CaseIterable {
        case enter, turnFree, leaderEnds, leaderFails, storageWorks, tryStorage, begin, staleBegin
        case left, leave
    }

    /// From each place (nil: it has not entered), where each event leads. What is not listed changes nothing.
    private static let table: [(from: Place?, event: Event, to: Place?)] = [
        (nil, .enter, .queued),
        (.flight, .leaderEnds, .queued), (.flight, .leaderFails, nil), (.flight, .leave, nil),
        (.storage, .storageWorks, .queued), (.storage, .tryStorage, .queued),
        (.storage, .leave, nil),
        (.turn, .turnFree, .queued), (.turn, .leave, nil),
        (.queued, .begin, .running), (.queued, .left, nil), (.queued, .leave, nil),
        (.running, .left, nil), (.running, .leave, nil),
    ]

    @Test(arguments: [nil] + Place.allCases.map(Optional.some), Event.allCases)
    private func everyCell(from: Place?, event: Event) {
        let desk = AdmissionFixture(places: 1)
        let work = desk.bring(to: from)
        #expect(desk.admission.place(of: work) == from)
        switch event {
        case .enter: desk.enter(work)
        case .turnFree: desk.freeTurn()
        case .leaderEnds: desk.endLeader(.shared)
        case .leaderFails: desk.endLeader(.failed)
        case .storageWorks: desk.storageWorks()
        case .tryStorage: desk.tryStorage()
        case .begin: desk.begin(work)
        case .staleBegin: desk.begin(work, number: 0)
        case .left: desk.left(work)
        case .leave: desk.leave(work)
        }
        let cell = Self.table.first { $0.from == from && $0.event == event }
        #expect(desk.admission.place(of: work) == (cell.map(\.to) ?? from))
        desk.check()
    }

    // MARK: By hand

    @Test func anOperationOfAFormerEntryDoesNothing() throws {
        let desk = AdmissionFixture(places: 4)
        let work = desk.bring(to: .queued)
        let former = try #require(desk.tickets[work])
        desk.leave(work)
        desk.enter(work)
        let (beginning, begun) = desk.admission.begin(former)
        #expect(beginning == .unwanted && begun == Admission.Outcome())
        let left = desk.admission.left(former)
        #expect(left == Admission.Outcome())
        #expect(desk.admission.place(of: work) == .queued)
    }

    @Test func aPausedHostSendsBackWhatIsQueued() throws {
        let desk = AdmissionFixture(places: 4)
        let work = desk.bring(to: .queued)
        let ticket = try #require(desk.tickets[work])
        let isNew = desk.admission.pause("h", until: 10, now: 1, at: "")
        #expect(isNew)
        let (beginning, _) = desk.admission.begin(ticket)
        #expect(beginning == .back)
        desk.left(work)
        desk.enter(work)
        #expect(desk.admission.place(of: work) == .turn)
        let (early, again) = desk.admission.resume("h", now: 5)
        #expect(early == Admission.Outcome() && again == 10)
        let (resumed, _) = desk.admission.resume("h", now: 10)
        #expect(resumed.starts.map(\.request.work) == [work])
    }

    @Test func whatWaitsElsewhereDecidesNothingOfTheDisk() throws {
        let desk = AdmissionFixture(places: 1)
        let other = Work.download(9, source: 9)
        desk.enter(other)
        let work = desk.bring(to: .storage)
        let attempt = desk.admission.tryStorage()
        #expect(attempt?.again.map(\.work) == [work])
        // The only place is another's.
        let outcome = desk.enter(work)
        #expect(outcome.isUndecided)
        #expect(desk.admission.place(of: work) == .turn)
        let isTried = desk.admission.endAttempt(of: nil)
        #expect(!isTried)
    }
}
