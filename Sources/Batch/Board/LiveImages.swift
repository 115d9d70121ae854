/// The admitted images of a batch, by their index, and how many of them only wait: for the publisher, or for a download
/// that may not begin yet.
struct LiveImages {
    private var images: [Int: Batch.Live] = [:]
    /// The images in the phase `recording`.
    private(set) var recordingCount = 0
    /// The images in the phase `waitingDownload`.
    private(set) var waitingCount = 0

    var count: Int { images.count }
    var isEmpty: Bool { images.isEmpty }
    /// The images that are in a queue for a transfer or a filter, or have one.
    var workingCount: Int { count - recordingCount - waitingCount }
    var indices: some Sequence<Int> { images.keys }

    subscript(index: Int) -> Batch.Live? {
        get { images[index] }
        set {
            count(images[index]?.phase, -1)
            count(newValue?.phase, 1)
            images[index] = newValue
        }
    }

    private mutating func count(_ phase: Batch.Phase?, _ change: Int) {
        if phase == .recording { recordingCount += change }
        if phase == .waitingDownload { waitingCount += change }
    }

    /// Removes an image.
    ///
    /// - Returns: false if it was not admitted.
    mutating func remove(_ index: Int) -> Bool {
        defer { self[index] = nil }
        return images[index] != nil
    }
}

extension LiveImages: Sequence {
    func makeIterator() -> Dictionary<Int, Batch.Live>.Iterator { images.makeIterator() }
}
