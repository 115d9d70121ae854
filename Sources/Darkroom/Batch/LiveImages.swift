/// The admitted images of a batch, by their index, and how many of them only wait for the publisher.
struct LiveImages {
    private var images: [Int: Batch.Live] = [:]
    /// Those in the phase `recording`.
    private(set) var recordingCount = 0

    var count: Int { images.count }
    var isEmpty: Bool { images.isEmpty }
    /// Those that wait for a transfer or a filter, or have one.
    var workingCount: Int { count - recordingCount }
    var indices: some Sequence<Int> { images.keys }

    subscript(index: Int) -> Batch.Live? {
        get { images[index] }
        set {
            if images[index]?.phase == .recording { recordingCount -= 1 }
            if newValue?.phase == .recording { recordingCount += 1 }
            images[index] = newValue
        }
    }

    /// Lets go of an image; false where it was not admitted.
    mutating func remove(_ index: Int) -> Bool {
        defer { self[index] = nil }
        return images[index] != nil
    }
}

extension LiveImages: Sequence {
    func makeIterator() -> Dictionary<Int, Batch.Live>.Iterator { images.makeIterator() }
}
