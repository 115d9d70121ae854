/// The steps of an image, in their order.
package enum Step: String, Sendable {
    /// It waited for another image.
    case wait
    case download
    case filter
    /// Its output is placed in another folder, too.
    case deliver
}
