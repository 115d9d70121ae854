import DarkroomCore

/// The folders of a pass through events, so that each is opened once.
struct OpenFolders {
    private let root: Directory
    private var open: [RelativePath: Directory] = [:]
    /// Not more are kept open.
    private static let most = 16

    init(_ root: Directory) { self.root = root }

    mutating func open(_ path: RelativePath) -> Directory? {
        if path == .root { return root }
        if let folder = open[path] { return folder }
        guard let folder = try? root.folder(beneath: path) else { return nil }
        if open.count >= Self.most { open = [:] }
        open[path] = folder
        return folder
    }
}
