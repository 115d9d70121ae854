/// Convolutions by their definition, for references. They are here because this target is optimised, and the tests are not.
package enum Convolution {
    /// Each result is the weighted sum of the samples of its channel around it. The middle weight of the kernel, whose length
    /// is odd, is that of the sample itself. Beyond the ends, the first and the last pixel are repeated.
    ///
    /// - Parameter samples: those of a line of pixels, channels interleaved.
    package static func sums(
        of samples: [Double], channels: Int, by kernel: [Double]
    ) -> [Double] {
        let width = samples.count / channels
        let radius = kernel.count / 2
        var sums = [Double](repeating: 0, count: samples.count)
        for x in 0..<width {
            for (k, weight) in kernel.enumerated() {
                let from = min(max(x + k - radius, 0), width - 1)
                for c in 0..<channels {
                    sums[x * channels + c] += weight * samples[from * channels + c]
                }
            }
        }
        return sums
    }
}
