import DarkroomPage
import DarkroomPicture

/// The result of the second step.
struct DevelopedPicture: Sendable {
    let report: PictureReport
    /// Of the picture's file; nil if its pixels are those of another image.
    let sourceSHA256: String?
    /// The small copies for the page; nil if the filter has made none.
    var previews: ImagePreviews?
}
