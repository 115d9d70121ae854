import DarkroomCore

extension Status.Counts {
    /// The number of images in a state.
    package subscript(state: ImageState) -> Int {
        get {
            switch state {
            case .new: new
            case .downloading: downloading
            case .downloaded: downloaded
            case .filtering: filtering
            case .filtered: filtered
            case .failed: failed
            case .cancelled: cancelled
            }
        }
        set {
            switch state {
            case .new: new = newValue
            case .downloading: downloading = newValue
            case .downloaded: downloaded = newValue
            case .filtering: filtering = newValue
            case .filtered: filtered = newValue
            case .failed: failed = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }

    /// How many of the filtered images have warnings; 0 if that is not known.
    package var warned: Int {
        get { warnings ?? 0 }
        set { warnings = newValue }
    }

    /// `3 with warnings`; nil if no image has any, or if that is not known.
    package var warningText: String? { warned > 0 ? "\(warned) with warnings" : nil }

    /// Counts an image, or one less. The total stays.
    package mutating func count(_ state: ImageState, isWarned: Bool, times factor: Int = 1) {
        self[state] += factor
        if isWarned { warned += factor }
    }

    /// Adds the numbers of other images. They come from a file and may have any values. What is not known of one part
    /// is not known of the sum.
    package mutating func add(_ other: Status.Counts) { combine(other) { $0.saturatingAdd($1) } }

    /// Subtracts the numbers of some of the images in the same way.
    package mutating func subtract(_ other: Status.Counts) {
        combine(other) { $0.saturatingSubtract($1) }
    }

    private mutating func combine(_ other: Status.Counts, _ change: (Int, Int) -> Int) {
        total = change(total, other.total)
        for state in ImageState.allCases { self[state] = change(self[state], other[state]) }
        warnings = warnings.flatMap { own in other.warnings.map { change(own, $0) } }
    }

    /// Whether a status with these counts may have the images that `images` counts: all numbers are the same, as far as
    /// they are known.
    package func agree(with images: Status.Counts) -> Bool {
        var images = images
        if warnings == nil { images.warnings = nil }
        return self == images
    }
}
