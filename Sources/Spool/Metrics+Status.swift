import DarkroomCore

extension Metrics {
    /// A manifest has been answered for good.
    package func ended(_ status: Status) {
        manifests.add(status.state.rawValue)
        // Those that ended while they waited are told of nowhere else, so all are counted here.
        images.add(ImageState.cancelled.rawValue, status.counts.cancelled)
    }

    /// An image has ended otherwise than by being cancelled before it began.
    package func ended(_ image: ImageStatus) {
        if image.attempts > 0 {
            let milliseconds = UInt64(clamping: image.milliseconds.waited)
            stage(.waiting).add(nanoseconds: milliseconds.saturatingMultiply(1_000_000))
        }
        guard image.state != .cancelled else { return }
        images.add(image.state.rawValue)
        if let output = image.output { writtenBytes.add(output.bytes) }
        if let code = image.error?.code { failures.add(code) }
    }
}
