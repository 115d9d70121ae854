import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// One image as a page shows it.
struct PageEntry: Sendable {
    /// From 1 on, in the order of the manifest.
    let number: Int
    let image: ImageStatus
    /// In words, in their order; nil if the manifest cannot be read.
    let filters: [String]?
    var before: Preview?
    var after: Preview?
    var difference: PageImage?
    /// In pixels; nil if it is not known.
    var sourceSize: (width: Int, height: Int)?
    /// Whether the preview of the source has far fewer pixels than it is shown with.
    var isBeforeReduced = false
    /// Why there is no preview of the output, or of the source.
    var afterNote: String?
    var beforeNote: String?
    /// The output, from the folder of the page.
    var output: PageLink?

    /// Whether it has succeeded without a file, because only other images use it.
    var isOnlyForOthers: Bool { image.published == false && image.state == .filtered }

    var grid: AnchorID { AnchorID("image", number) }
    var view: AnchorID { AnchorID("view", number) }
}

/// What the first page says about the whole batch.
struct PageSummary: Sendable {
    /// The slowest images, or the first failed ones.
    struct Item: Sendable {
        let number: Int
        let image: ImageStatus
    }

    /// How many failures are listed one by one.
    static let mostFailures = 100
    static let mostSlow = 10

    /// The status without its images.
    let frame: Status
    /// Whether it is the folder of a run, and not an answer of the daemon.
    var isRun = false
    var imageCount = 0
    var outputBytes = 0
    var downloadedBytes = 0
    var warnedCount = 0
    var failures: [Item] = []
    /// The longest time of filters first.
    var slowest: [Item] = []
    /// Failed images by their codes.
    var codes: [ByteString: Int] = [:]
    /// The first failed image of each code.
    var examples: [ByteString: Item] = [:]
    var failuresOfPages: [Int] = []
    var warnedOfPages: [Int] = []
    var timeline = Timeline()

    init(frame: Status) { self.frame = frame }

    /// A batch without images has one.
    var pageCount: Int { max(1, failuresOfPages.count) }

    /// The counts of the status. An older version has not counted the images with warnings.
    var counts: Status.Counts {
        var counts = frame.counts
        if counts.warnings == nil { counts.warnings = warnedCount }
        return counts
    }

    mutating func add(_ image: ImageStatus, perPage: Int) {
        let page = imageCount / perPage
        if page == failuresOfPages.count {
            failuresOfPages.append(0)
            warnedOfPages.append(0)
        }
        imageCount += 1
        timeline.add(image, number: imageCount)
        let item = Item(number: imageCount, image: image)
        outputBytes = outputBytes.saturatingAdd(image.output?.bytes ?? 0)
        downloadedBytes = downloadedBytes.saturatingAdd(image.download?.bytes ?? 0)
        if image.isWarned {
            warnedCount += 1
            warnedOfPages[page] += 1
        }
        if image.state == .failed {
            failuresOfPages[page] += 1
            let code = ByteString(image.error?.code ?? "unknown")
            codes[code, default: 0] += 1
            if examples[code] == nil { examples[code] = item }
            if failures.count < Self.mostFailures { failures.append(item) }
        }
        let time = image.milliseconds.filtering
        guard time > 0 else { return }
        let place = slowest.firstIndex { $0.image.milliseconds.filtering < time } ?? slowest.count
        guard place < Self.mostSlow else { return }
        slowest.insert(item, at: place)
        if slowest.count > Self.mostSlow { slowest.removeLast() }
    }
}
