/// The answer to a picture that asks for memory.
package enum MemoryAnswer: Equatable, Sendable {
    case granted
    /// It must undo what it has begun, and wait.
    case later
    /// It needs more than an image can ever get, which is this number of bytes.
    case tooLarge(limit: Int)
}
