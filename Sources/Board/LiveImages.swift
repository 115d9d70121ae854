/// The admitted images of a batch, by their index, and how many of them are in each stage that others count.
struct LiveImages {
    /// An admitted image.
    struct Live {
        let stage: ImageStage
        /// When the stage began, or the first of several stages `waits`, in nanoseconds.
        let since: UInt64
    }

    private var images: [Int: Live] = [:]
    /// The images in a queue for a transfer or a filter, or with one.
    private(set) var workingCount = 0

    var count: Int { images.count }
    var isEmpty: Bool { images.isEmpty }
    var indices: some Sequence<Int> { images.keys }

    subscript(index: Int) -> Live? {
        get { images[index] }
        set {
            if images[index]?.stage.isWorking == true { workingCount -= 1 }
            if newValue?.stage.isWorking == true { workingCount += 1 }
            images[index] = newValue
        }
    }
}

extension LiveImages: Sequence {
    func makeIterator() -> Dictionary<Int, Live>.Iterator { images.makeIterator() }
}
