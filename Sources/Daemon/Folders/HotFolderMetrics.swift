/// What the metrics say about a hot folder.
struct HotFolderMetrics: Sendable {
    let path: String
    /// Whether it is there, is the one that it was, and its pictures are taken.
    let isUp: Bool
    /// The pictures that were taken since the start.
    let taken: Int
    /// Pictures that will be taken, and files that somebody must do something about.
    let waiting: Int
    let refused: Int
}
