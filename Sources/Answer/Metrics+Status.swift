import DarkroomCore

extension Metrics {
    package func ended(_ status: Status) {
        manifests.add(status.state.rawValue)
        // Images that were cancelled while they waited are not reported elsewhere, so all are counted here.
        images.add(ImageState.cancelled.rawValue, status.counts.cancelled)
    }

    /// Counts an image that has ended, unless it was cancelled before it began.
    package func ended(_ image: ImageStatus) {
        if image.attempts > 0 {
            let milliseconds = UInt64(clamping: image.milliseconds.waited)
            stage(.waiting).add(nanoseconds: milliseconds.saturatingMultiply(1_000_000))
        }
        guard image.state != .cancelled else { return }
        images.add(image.state.rawValue)
        if image.isWarned { imagesWithWarnings.add(1) }
        if let output = image.output { writtenBytes.add(output.bytes) }
        if let code = image.error?.code { failures.add(code) }
    }
}
