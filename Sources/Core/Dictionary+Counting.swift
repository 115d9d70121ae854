extension Dictionary where Value == Int {
    /// Counts one less of this key. A key of which nothing is left is dropped.
    package mutating func countDown(_ key: Key) {
        let left = (self[key] ?? 1) - 1
        self[key] = left > 0 ? left : nil
    }
}
