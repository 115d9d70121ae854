import DarkroomPicture

/// The result of the second step.
package struct DevelopedPicture: Sendable {
    package let report: PictureReport
    /// Of the picture's file; nil if its pixels are those of another image.
    package let sourceSHA256: String?

    package init(report: PictureReport, sourceSHA256: String?) {
        self.report = report
        self.sourceSHA256 = sourceSHA256
    }
}
