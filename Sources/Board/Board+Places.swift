/// Who gets the free places.
extension Board {
    /// Fills the free places.
    ///
    /// - Returns: whether there were some, and images for them.
    mutating func admit() -> Bool {
        activate()
        var hasAdmitted = false
        for level in Level.all.reversed() {
            while let key = pool.nextInRotation(level) {
                change(key) { batch, pool in
                    let count = batch.live.count
                    batch.admitNext(&pool)
                    hasAdmitted = hasAdmitted || batch.live.count > count
                }
            }
        }
        return hasAdmitted
    }
}
