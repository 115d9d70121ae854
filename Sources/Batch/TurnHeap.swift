/// Batches by the turns they wait since, the longest wait first: a binary heap.
struct TurnHeap: Sendable {
    struct Entry: Sendable {
        let turn: Int
        let batch: BatchKey
    }

    private var entries: [Entry] = []

    var count: Int { entries.count }
    var first: Entry? { entries.first }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var place = entries.count - 1
        while place > 0, entries[place].turn < entries[(place - 1) / 2].turn {
            entries.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var place = 0
        while let child = earlierChild(of: place), entries[child].turn < entries[place].turn {
            entries.swapAt(place, child)
            place = child
        }
    }

    func filter(_ isKept: (Entry) -> Bool) -> TurnHeap {
        var heap = TurnHeap()
        // In the order of their turns they are a heap already.
        heap.entries = entries.filter(isKept).sorted { $0.turn < $1.turn }
        return heap
    }

    private func earlierChild(of place: Int) -> Int? {
        let (left, right) = (2 * place + 1, 2 * place + 2)
        guard right < entries.count else { return left < entries.count ? left : nil }
        return entries[left].turn < entries[right].turn ? left : right
    }
}
