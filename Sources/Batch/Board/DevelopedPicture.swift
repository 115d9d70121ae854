import DarkroomPicture

/// The result of the second step.
struct DevelopedPicture: Sendable {
    let report: PictureReport
    /// Of the picture's file; nil if its pixels are those of another image.
    let sourceSHA256: String?
}
