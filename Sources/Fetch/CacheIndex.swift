/// Which answers the cache holds, how large they are, and in which order they were used last. A value without
/// files or clocks.
///
/// Each operation takes the same time however many there are: the entries are a list linked by numbers.
struct CacheIndex: Sendable {
    struct Victim: Sendable, Equatable {
        let key: CacheKey
        let bytes: Int
    }

    private struct Node: Sendable {
        var key: CacheKey
        var bytes: Int
        /// Numbers of nodes; `none` at an end.
        var older: Int32
        var newer: Int32
    }

    private static let none: Int32 = -1
    /// Of the size allowed, what is left when room has been made.
    private static let keptShare = 0.95

    private var numbers: [CacheKey: Int32] = [:]
    private var nodes: [Node] = []
    /// Nodes that no entry has.
    private var free: [Int32] = []
    private var oldest = none
    private var newest = none
    /// Of all entries; wide enough for the sum of any sizes.
    private var total: Int128 = 0

    var bytes: Int { Int(clamping: total) }

    var count: Int { numbers.count }

    func contains(_ key: CacheKey) -> Bool { numbers[key] != nil }

    // MARK: Entries

    /// Notes an entry as the last one used, in place of a former one.
    mutating func insert(_ key: CacheKey, bytes: Int) {
        remove(key)
        let number = take(Node(key: key, bytes: bytes, older: newest, newer: Self.none))
        if newest == Self.none { oldest = number } else { nodes[Int(newest)].newer = number }
        newest = number
    }

    /// Notes an entry that a former daemon has left as the one whose use is longest ago; one that is known already
    /// has been used since the start, and stays.
    mutating func insertOldest(_ key: CacheKey, bytes: Int) {
        guard !contains(key) else { return }
        let number = take(Node(key: key, bytes: bytes, older: Self.none, newer: oldest))
        if oldest == Self.none { newest = number } else { nodes[Int(oldest)].older = number }
        oldest = number
    }

    /// Notes that an entry was used. One that is not known yet, for the scan has not come to it, is noted too; one
    /// that is known keeps its size, for what was used may have been replaced since it was opened.
    mutating func use(_ key: CacheKey, bytes: Int) {
        guard let number = numbers[key] else { return insert(key, bytes: bytes) }
        if number != newest { insert(key, bytes: nodes[Int(number)].bytes) }
    }

    mutating func remove(_ key: CacheKey) {
        guard let number = numbers.removeValue(forKey: key) else { return }
        let node = nodes[Int(number)]
        if node.older == Self.none {
            oldest = node.newer
        } else {
            nodes[Int(node.older)].newer = node.newer
        }
        if node.newer == Self.none {
            newest = node.older
        } else {
            nodes[Int(node.newer)].older = node.older
        }
        total -= Int128(node.bytes)
        free.append(number)
    }

    private mutating func take(_ node: Node) -> Int32 {
        total += Int128(node.bytes)
        let number: Int32
        if let old = free.popLast() {
            number = old
            nodes[Int(old)] = node
        } else {
            number = Int32(nodes.count)
            nodes.append(node)
        }
        numbers[node.key] = number
        return number
    }

    // MARK: Room

    /// Lets go of the entries whose use is longest ago, if there is no room for `bytes` more within `limit`, until
    /// there is room and 5 % are free, so that this is not done for each new one.
    mutating func makeRoom(for bytes: Int, limit: Int) -> [Victim] {
        guard total + Int128(bytes) > limit else { return [] }
        let target = min(limit - bytes, Int(Double(limit) * Self.keptShare))
        var victims: [Victim] = []
        while total > target, oldest != Self.none {
            let node = nodes[Int(oldest)]
            victims.append(Victim(key: node.key, bytes: node.bytes))
            remove(node.key)
        }
        return victims
    }

    /// From the one whose use is longest ago.
    var keys: [CacheKey] {
        var keys: [CacheKey] = []
        var number = oldest
        while number != Self.none {
            keys.append(nodes[Int(number)].key)
            number = nodes[Int(number)].newer
        }
        return keys
    }
}
