import Testing

@testable import DarkroomPicture

/// The most that a resize comes to, against what it comes to for every size there may be.
struct ResizeBoundTests {
    static let boxes: [(Int?, Int?)] = [
        (1, nil), (7, nil), (40, nil), (nil, 1), (nil, 9), (nil, 40), (5, 5), (12, 3), (3, 12),
        (40, 40), (1, 30),
    ]

    @Test(arguments: boxes, Filter.Fit.allCases)
    func boundsEverySize(box: (Int?, Int?), fit: Filter.Fit) {
        let limits = PictureLimits()
        for (most, isSmaller) in [
            ((12, 9), false), ((12, 9), true), ((3, 17), false), ((3, 17), true),
        ] {
            let resize = Filter.Resize(
                width: box.0, height: box.1, fit: fit, withoutEnlargement: isSmaller)
            let bound = ResizeBound(resize, width: most.0, height: most.1, limits: limits)
            var largest = (width: 0, height: 0, pixels: 0)
            for width in 1...most.0 {
                for height in 1...most.1 {
                    let plan = ResizePlan(resize, width: width, height: height)
                    let (canvas, window) = (plan.canvas, plan.window)
                    largest.width = max(largest.width, canvas.width)
                    largest.height = max(largest.height, canvas.height)
                    largest.pixels = max(largest.pixels, canvas.width * canvas.height)
                    let down = ResampleAxis(
                        input: height, scaled: plan.scaled.height,
                        window: window.y..<window.y + window.height, kernel: .lanczos3)
                    let isResampled =
                        plan.scaled != ResizePlan.Size(width: width, height: height)
                    #expect(!isResampled || window.width * down.longest <= bound.ringPixels)
                    #expect(
                        !bound.isExact
                            || canvas == ResizePlan.Size(width: bound.width, height: bound.height))
                }
            }
            #expect(largest.width <= bound.width)
            #expect(largest.height <= bound.height)
            #expect(largest.pixels <= bound.pixels)
            // Not much more than there is.
            if !isSmaller, fit != .inside {
                #expect(bound.width == largest.width && bound.height == largest.height)
            }
        }
    }

    /// Larger results fail, so that they need no room.
    @Test func keepsToTheLimits() {
        let limits = PictureLimits()
        let wide = ResizeBound(
            Filter.Resize(width: 800), width: 4000, height: 3000, limits: limits)
        #expect(wide.width == 800 && wide.height == limits.pixels / 800)
        #expect(wide.pixels <= limits.pixels)
        let huge = ResizeBound(
            Filter.Resize(width: 1_000_000, height: 1_000_000, fit: .outside), width: 1_000_000,
            height: 1_000_000, limits: limits)
        #expect(huge.width == limits.side && huge.pixels == limits.pixels)
    }
}
