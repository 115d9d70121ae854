import Synchronization

/// The values that were made last, for pictures that need the same ones: those of a batch often have one size.
final class RecentValues<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    private let most: Int
    private let entries = Mutex<[(key: Key, value: Value)]>([])

    /// - Parameter most: how many are kept.
    init(most: Int) { self.most = most }

    /// The value for `key`: a kept one, or a new one. Two threads may make the same one at the same time.
    ///
    /// - Parameter isKept: false for a value that is too large.
    func value(for key: Key, isKept: (Value) -> Bool, make: () -> Value) -> Value {
        let known = entries.withLock { entries -> Value? in
            guard let place = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = entries.remove(at: place)
            entries.insert(entry, at: 0)
            return entry.value
        }
        if let known { return known }
        let made = make()
        guard isKept(made) else { return made }
        entries.withLock { entries in
            guard !entries.contains(where: { $0.key == key }) else { return }
            entries.insert((key, made), at: 0)
            if entries.count > most { entries.removeLast() }
        }
        return made
    }
}

extension RecentValues {
    /// The same for a value that may fail to be made. A failure is not kept.
    func value<Made: Sendable>(
        for key: Key, make: () throws(PictureError) -> Made
    ) throws(PictureError) -> Made where Value == Result<Made, PictureError> {
        try value(
            for: key, isKept: { if case .success = $0 { true } else { false } },
            make: { Result { () throws(PictureError) in try make() } }
        ).get()
    }
}
