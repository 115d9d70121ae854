import DarkroomCore

extension Failure {
    /// The failure of an image whose pixels depend on another image that has none.
    ///
    /// - Parameters:
    ///   - isOverlay: whether the other image is laid over this one.
    ///   - error: why the other image has failed, if it has.
    package init(
        dependingOn other: String, isOverlay: Bool, wasCancelled: Bool = false,
        _ error: Failure?
    ) {
        let cause = error.map { " (\($0.code))" } ?? ""
        // A retry begins with the other image, so it helps this one whenever it helps that one.
        self.init(
            .dependencyFailed,
            "it \(isOverlay ? "has the overlay" : "is made from") \(other), "
                + "which \(wasCancelled ? "was cancelled" : "has failed")\(cause)",
            isTransient: error?.isTransient ?? false)
    }
}
