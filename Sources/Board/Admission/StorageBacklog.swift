/// The work that the scheduler holds back while the spool accepts no writes.
package struct StorageBacklog: Sendable {
    /// The piece of work for one attempt: an image on its way through all steps, identified by its source if it has
    /// one, because a source's download precedes its image's filters.
    package enum Piece: Hashable, Sendable {
        case source(BatchKey, Int)
        case image(BatchKey, Int)
    }

    private(set) var items: [WorkRequest] = []
    private(set) var unprepared: [(key: BatchKey, id: String)] = []
    /// The piece that tests whether writes are accepted again.
    var tried: Piece?

    var isEmpty: Bool { items.isEmpty && unprepared.isEmpty }

    mutating func add(_ item: WorkRequest) { items.append(item) }

    mutating func add(unprepared key: BatchKey, id: String) { unprepared.append((key, id)) }

    mutating func remove(_ work: Work) { items.removeAll { $0.work == work } }

    /// Takes one piece for an attempt: if possible an image whose source has been fetched, because it needs the least.
    mutating func takeOne() -> WorkRequest? {
        guard !items.isEmpty else { return nil }
        return items.remove(at: items.firstIndex { $0.work.isFilter } ?? 0)
    }

    mutating func takeUnprepared() -> (key: BatchKey, id: String)? {
        unprepared.isEmpty ? nil : unprepared.removeFirst()
    }

    mutating func takeAll() -> StorageBacklog { exchange(&self, with: StorageBacklog()) }
}

extension Work {
    fileprivate var isFilter: Bool {
        if case .filter = self { true } else { false }
    }
}
