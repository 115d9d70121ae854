import DarkroomBoard
import DarkroomCore

/// Measures how fast a batch, or the whole spool, progresses, and estimates how long the rest takes.
///
/// A value without a clock. It is given the sums at some moments, a few times a second or more rarely. Only the time in
/// which work may begin counts, so a pause changes neither the rates nor the estimate.
package struct ProgressMeter: Sendable {
    private struct Sample {
        /// The seconds of work until then.
        var seconds: Double
        var images: Int
        var bytes: Int
        var sizes: SourceSizes.Sums

        /// The work of the images that had ended, by what is known now. One of unknown size counts as the mean.
        func done(_ present: SourceSizes.Sums) -> Double {
            present.ended(at: sizes)
                + Double(max(0, images - sizes.endedImages)) * present.mean
        }
    }

    /// The rates are those of at least this many seconds of work and this many images, if there were so many.
    private static let window = 10.0
    private static let windowImages = 5

    /// The samples of the window, and the last one before it.
    private var samples: [Sample] = []
    /// The first sample.
    private var base: Sample?
    /// The first sample with an ended image. What happened before, such as the first download, does not repeat, so it
    /// says nothing about the rest.
    private var origin: Sample?
    /// The last sample in which further images had ended.
    private var latest: Sample?
    /// The seconds of work so far.
    private var seconds = 0.0
    /// What is known about the sizes now.
    private var present = SourceSizes.Sums()
    /// The time of the last sample, in nanoseconds, and whether work could begin since then.
    private var time: UInt64?
    private var isWorking = false

    package init() {}

    /// - Parameters:
    ///   - time: in nanoseconds of a clock that nobody sets.
    ///   - images: the number of ended images.
    ///   - bytes: the sum of the sizes of their outputs.
    ///   - sizes: what is known about the sizes of the sources; without a value, nothing.
    ///   - mayWork: whether work may begin from now on.
    package mutating func add(
        time now: UInt64, images: Int, bytes: Int, sizes: SourceSizes.Sums = SourceSizes.Sums(),
        mayWork: Bool
    ) {
        if isWorking, let time { seconds += Double(now.saturatingSubtract(time)) / 1e9 }
        time = now
        isWorking = mayWork
        let sample = Sample(seconds: seconds, images: images, bytes: bytes, sizes: sizes)
        if base == nil { base = sample }
        if images > (latest ?? base ?? sample).images {
            latest = sample
            if origin == nil { origin = sample }
        }
        present = sizes
        append(sample)
        while samples.count > 2, isWindow(from: samples[1]) { samples.removeFirst() }
    }

    private mutating func append(_ sample: Sample) {
        // While nothing ends, one sample is enough.
        if samples.count > 1, samples.suffix(2).allSatisfy({ $0.images == sample.images }) {
            samples.removeLast()
        }
        samples.append(sample)
    }

    private func isWindow(from start: Sample) -> Bool {
        guard let last = samples.last else { return false }
        return last.seconds - start.seconds >= Self.window
            && last.images - start.images >= Self.windowImages
    }

    // MARK: Rates

    /// The images that ended per second of work, recently; nil if none has ended, or while no work may begin.
    package var imagesPerSecond: Double? { rate(of: \.images) }

    /// The bytes of outputs per second of work, when `imagesPerSecond` is known.
    package var bytesPerSecond: Double? { rate(of: \.bytes) }

    private func rate(of sum: KeyPath<Sample, Int>) -> Double? {
        guard isWorking, let first = samples.first, let last = samples.last,
            last.images > first.images, last.seconds > first.seconds
        else { return nil }
        let difference = last[keyPath: sum].saturatingSubtract(first[keyPath: sum])
        return Double(difference) / (last.seconds - first.seconds)
    }

    // MARK: The time that is left

    /// The seconds of work for this many further images; nil if too little is known.
    package func secondsLeft(images: Int) -> Double? {
        guard let pace = secondsPerWork(left: images), let latest else { return nil }
        guard images > 0 else { return 0 }
        let unknown = max(0, images - present.leftImages)
        let work = max(0, present.left) + Double(unknown) * present.mean
        // The next image has been in work since the last one ended.
        let begun = min(seconds - latest.seconds, pace * work / Double(images))
        return max(0, work * pace - begun)
    }

    /// The mean over all images that have ended so far.
    private func secondsPerWork(left: Int) -> Double? {
        guard let base, let origin, let latest else { return nil }
        let ended = latest.images - origin.images
        guard ended > 0 else {
            // A batch of few large pictures gets an estimate when the first one has ended.
            let time = seconds - base.seconds
            let done = latest.done(present) - base.done(present)
            return time >= Self.slowStart && done > 0 ? time / done : nil
        }
        let isEnough =
            seconds - origin.seconds >= Self.leastTime
            || Double(ended) >= Self.leastPart * Double(ended + left)
        let done = latest.done(present) - origin.done(present)
        guard isEnough, done > 0 else { return nil }
        // If the next image takes longer than the others did, the mean grows before it has ended.
        return max(
            (latest.seconds - origin.seconds) / done,
            (seconds - origin.seconds) / (done + present.mean))
    }

    /// In seconds: what makes an estimate from the first ended images alone acceptable.
    private static let slowStart = 5.0
    /// An estimate needs this many seconds since the first ended image, or this part of the images.
    private static let leastTime = 2.0
    private static let leastPart = 0.05
}
