extension Status.Counts {
    /// The number of images in a state.
    package subscript(state: ImageState) -> Int {
        get {
            switch state {
            case .new: new
            case .downloading: downloading
            case .downloaded: downloaded
            case .filtering: filtering
            case .filtered: filtered
            case .failed: failed
            case .cancelled: cancelled
            }
        }
        set {
            switch state {
            case .new: new = newValue
            case .downloading: downloading = newValue
            case .downloaded: downloaded = newValue
            case .filtering: filtering = newValue
            case .filtered: filtered = newValue
            case .failed: failed = newValue
            case .cancelled: cancelled = newValue
            }
        }
    }
}
