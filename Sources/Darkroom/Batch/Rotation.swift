/// Batches taking turns.
struct Rotation {
    private var keys: [BatchKey] = []
    private var head = 0

    mutating func append(_ key: BatchKey) {
        keys.append(key)
    }

    mutating func next() -> BatchKey? {
        guard head < keys.count else { return nil }
        defer {
            head += 1
            // What has been taken is let go of once it is the larger part.
            if head > 64, head * 2 > keys.count {
                keys.removeFirst(head)
                head = 0
            }
        }
        return keys[head]
    }
}
