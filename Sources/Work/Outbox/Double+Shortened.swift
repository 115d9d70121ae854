extension Double {
    /// The number with three significant digits, or with all digits before the point.
    package var shortened: Double {
        var scale = 1.0
        while abs(self) * scale < 100, scale < 1e6 { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
