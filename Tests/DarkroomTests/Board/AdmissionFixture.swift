import Testing

@testable import DarkroomBoard
@testable import DarkroomFetch

/// An `Admission` whose outcomes are followed as the board follows them, with the operations that are made.
final class AdmissionFixture {
    var admission: Admission
    /// The operation of each piece of work that has one.
    private(set) var tickets: [Work: Admission.Ticket] = [:]
    /// Those that run.
    private var running: Set<Work> = []
    /// What is wanted and has not ended.
    private var wanted: Set<Work> = []
    private var leader: Work?
    private var filler: Work?

    init(places: Int) {
        admission = Admission(
            downloads: .init(places: places, perHost: 100),
            filters: FilterSlots(width: 1, keptForBatches: 0, keptForOwners: 0))
    }

    // MARK: Events

    private func wish(_ work: Work) -> Admission.Wish {
        let request = WorkRequest(work: work, priority: .normal, quality: .default)
        switch work {
        case .download(let batch, let source):
            // Sources of one number are one URL; odd ones may not be kept.
            let key =
                source % 2 == 0
                ? CacheKey(bytes: [UInt8](repeating: UInt8(source), count: 32)) : nil
            return Admission.Wish(
                request: request, owner: UInt32(batch % 3), source: "s\(source)",
                host: source % 5 == 0 ? "h" : "g", cacheKey: key,
                piece: .source(batch, source))
        case .filter(let batch, let image):
            return Admission.Wish(
                request: request, owner: UInt32(batch % 3), piece: .image(batch, image))
        }
    }

    @discardableResult
    func enter(_ work: Work) -> Admission.Outcome {
        wanted.insert(work)
        return follow(admission.enter(wish(work)))
    }

    func begin(_ work: Work, number: Int? = nil) {
        guard var ticket = tickets[work] else { return }
        if let number { ticket = Admission.Ticket(work: work, number: number) }
        let (beginning, outcome) = admission.begin(ticket, key: wish(work).cacheKey)
        follow(outcome)
        switch beginning {
        case .unwanted: break
        case .back:
            left(work)
            enter(work)
        case .goes: running.insert(work)
        }
    }

    /// Its operation has ended.
    func left(_ work: Work) {
        guard let ticket = tickets.removeValue(forKey: work) else { return }
        running.remove(work)
        wanted.remove(work)
        follow(admission.left(ticket))
    }

    func ended(_ work: Work, _ ending: RequestCoalescer.Ending) {
        follow(admission.ended(work, ending))
    }

    func leave(_ work: Work) {
        wanted.remove(work)
        running.remove(work)
        let (ticket, outcome) = admission.leave(work)
        #expect(ticket == tickets.removeValue(forKey: work))
        follow(outcome)
    }

    func storageWorks() { follow(admission.storageWorks().0) }

    func tryStorage() {
        if let outcome = admission.tryStorage() { follow(outcome) }
    }

    @discardableResult
    private func follow(_ outcome: Admission.Outcome) -> Admission.Outcome {
        for start in outcome.starts {
            #expect(tickets[start.request.work] == nil, "started twice: \(start)")
            #expect(wanted.contains(start.request.work), "nobody wants \(start)")
            tickets[start.request.work] = start.ticket
        }
        for work in outcome.waiting { #expect(wanted.contains(work)) }
        for work in outcome.failed { wanted.remove(work) }
        for request in outcome.again { follow(admission.enter(wish(request.work))) }
        let turns = admission.takeTurns()
        if turns != Admission.Outcome() { follow(turns) }
        return outcome
    }

    // MARK: A piece of work in a place

    /// Brings a download there; the desk has a single place.
    func bring(to place: Admission.Place?) -> Work {
        let work = Work.download(1, source: 0)
        switch place {
        case nil: return work
        case .queued, .running: break
        case .turn:
            let filler = Work.download(2, source: 1)
            self.filler = filler
            enter(filler)
        case .storage: admission.isStorageWorking = false
        case .flight:
            let leader = Work.download(2, source: 0)
            self.leader = leader
            enter(leader)
            begin(leader)
        }
        enter(work)
        if place == .running { begin(work) }
        return work
    }

    func freeTurn() {
        if let filler { left(filler) }
    }

    func endLeader(_ ending: RequestCoalescer.Ending) {
        guard let leader else { return }
        left(leader)
        ended(leader, ending)
    }

    /// What must hold after each event.
    func check() {
        for work in wanted {
            let place = admission.place(of: work)
            #expect(place != nil, "forgotten: \(work)")
            #expect((place == .queued || place == .running) == (tickets[work] != nil), "\(work)")
            #expect((place == .running) == running.contains(work), "\(work)")
        }
        #expect(admission.count == wanted.count)
        #expect(admission.isConsistent)
    }
}
