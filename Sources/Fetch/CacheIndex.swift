/// The responses in the cache, their sizes, and the order in which they were used. A value without files or clocks.
///
/// Each operation takes constant time: the entries are a linked list of numbers.
struct CacheIndex: Sendable {
    struct Victim: Sendable, Equatable {
        let key: CacheKey
        let bytes: Int
    }

    private struct Node: Sendable {
        var key: CacheKey
        var bytes: Int
        /// Numbers of nodes; `none` at the ends.
        var older: Int32
        var newer: Int32
    }

    private static let none: Int32 = -1
    /// The share of the allowed size that is kept when room is made.
    private static let keptShare = 0.95

    private var numbers: [CacheKey: Int32] = [:]
    private var nodes: [Node] = []
    private var free: [Int32] = []
    private var oldest = none
    private var newest = none
    /// The size of all entries; wide enough for the sum of any sizes.
    private var total: Int128 = 0

    var bytes: Int { Int(clamping: total) }

    var count: Int { numbers.count }

    func contains(_ key: CacheKey) -> Bool { numbers[key] != nil }

    // MARK: Entries

    /// Adds an entry as the most recently used one, and replaces an older one.
    mutating func insert(_ key: CacheKey, bytes: Int) {
        remove(key)
        let number = take(Node(key: key, bytes: bytes, older: newest, newer: Self.none))
        if newest == Self.none { oldest = number } else { nodes[Int(newest)].newer = number }
        newest = number
    }

    /// Adds an entry that a previous daemon has left, as the least recently used one. An entry that exists has been
    /// used since the start and stays.
    mutating func insertOldest(_ key: CacheKey, bytes: Int) {
        guard !contains(key) else { return }
        let number = take(Node(key: key, bytes: bytes, older: Self.none, newer: oldest))
        if oldest == Self.none { newest = number } else { nodes[Int(oldest)].older = number }
        oldest = number
    }

    /// Records the use of an entry. An entry that the scan has not found yet is added. An existing entry keeps its
    /// size, because the used file may have been replaced since it was opened.
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

    /// Removes the least recently used entries if there is no room for `bytes` more within `limit`. It removes until
    /// there is room and 5 % are free, so that it does not run for each new entry.
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
}
