import TestPictures
import Testing

@testable import DarkroomPicture

/// The sizes that resize comes to, with sharp's meaning of the fits.
struct ResizePlanTests {
    struct Case: Sendable, CustomStringConvertible {
        let size: (Int, Int)
        let box: (Int?, Int?)
        let fit: Filter.Fit
        var keeps = false
        let scaled: (Int, Int)
        var window: (Int, Int, Int, Int)?
        var canvas: (Int, Int)?
        var description: String {
            "\(size) to \(box), \(fit)\(keeps ? ", without enlargement" : "")"
        }
    }

    static let cases: [Case] = [
        Case(size: (400, 300), box: (200, nil), fit: .inside, scaled: (200, 150)),
        Case(size: (400, 300), box: (nil, 150), fit: .cover, scaled: (200, 150)),
        Case(size: (400, 300), box: (800, nil), fit: .fill, scaled: (800, 600)),
        Case(size: (400, 300), box: (800, nil), fit: .inside, keeps: true, scaled: (400, 300)),
        Case(size: (400, 300), box: (nil, 301), fit: .outside, keeps: true, scaled: (400, 300)),
        // 150.5 is rounded up, 150.25 down
        Case(size: (400, 301), box: (200, nil), fit: .inside, scaled: (200, 151)),
        Case(size: (400, 601), box: (100, nil), fit: .inside, scaled: (100, 150)),
        Case(size: (1000, 1), box: (10, nil), fit: .inside, scaled: (10, 1)),
        Case(size: (1, 1000), box: (10, 10), fit: .inside, scaled: (1, 10)),

        Case(size: (400, 300), box: (200, 200), fit: .inside, scaled: (200, 150)),
        Case(size: (300, 400), box: (200, 200), fit: .inside, scaled: (150, 200)),
        Case(size: (400, 300), box: (800, 700), fit: .inside, scaled: (800, 600)),
        Case(size: (400, 300), box: (800, 700), fit: .inside, keeps: true, scaled: (400, 300)),
        Case(size: (400, 300), box: (800, 150), fit: .inside, keeps: true, scaled: (200, 150)),

        Case(size: (400, 300), box: (200, 200), fit: .outside, scaled: (267, 200)),
        Case(size: (400, 300), box: (500, 200), fit: .outside, keeps: true, scaled: (400, 300)),
        Case(size: (400, 300), box: (200, 100), fit: .outside, keeps: true, scaled: (200, 150)),

        Case(size: (400, 300), box: (50, 600), fit: .fill, scaled: (50, 600)),
        Case(size: (400, 300), box: (50, 600), fit: .fill, keeps: true, scaled: (50, 300)),

        Case(
            size: (400, 300), box: (200, 200), fit: .cover, scaled: (267, 200),
            window: (33, 0, 200, 200), canvas: (200, 200)),
        Case(
            size: (300, 400), box: (200, 200), fit: .cover, scaled: (200, 267),
            window: (0, 33, 200, 200), canvas: (200, 200)),
        Case(
            size: (400, 300), box: (500, 100), fit: .cover, keeps: true, scaled: (400, 300),
            window: (0, 100, 400, 100), canvas: (400, 100)),

        Case(
            size: (400, 300), box: (200, 200), fit: .contain, scaled: (200, 150),
            canvas: (200, 200)),
        Case(
            size: (400, 300), box: (500, 500), fit: .contain, keeps: true, scaled: (400, 300),
            canvas: (500, 500)),
        Case(
            size: (1_000_000, 1), box: (999_999, 1_000_000), fit: .contain, scaled: (999_999, 1),
            canvas: (999_999, 1_000_000)),
    ]

    @Test(arguments: cases)
    func plans(_ test: Case) {
        let plan = ResizePlan(
            Filter.Resize(
                width: test.box.0, height: test.box.1, fit: test.fit,
                withoutEnlargement: test.keeps),
            width: test.size.0, height: test.size.1)
        #expect(plan.scaled == ResizePlan.Size(width: test.scaled.0, height: test.scaled.1))
        let window = test.window ?? (0, 0, test.scaled.0, test.scaled.1)
        #expect(
            plan.window
                == ResizePlan.Rectangle(
                    x: window.0, y: window.1, width: window.2, height: window.3))
        let canvas = test.canvas ?? test.scaled
        #expect(plan.canvas == ResizePlan.Size(width: canvas.0, height: canvas.1))
    }

    /// For whatever sizes: `inside` fits, `outside` covers, and one side of each is the box's.
    @Test func fitsHoldForManySizes() {
        var noise = SplitMix64(seed: 7)
        for _ in 0..<20_000 {
            let sides = (0..<4).map { _ in
                1 + Int(noise.next() % (noise.next() % 2 == 0 ? 20 : 5000))
            }
            let box = (sides[2], sides[3])
            let inside = ResizePlan(
                Filter.Resize(width: box.0, height: box.1), width: sides[0], height: sides[1])
            let a = inside.scaled
            #expect(a.width <= box.0 && a.height <= box.1)
            #expect(a.width == box.0 || a.height == box.1)
            let cover = ResizePlan(
                Filter.Resize(width: box.0, height: box.1, fit: .cover), width: sides[0],
                height: sides[1])
            let b = cover.scaled
            #expect(b.width >= box.0 && b.height >= box.1)
            #expect(b.width == box.0 || b.height == box.1)
            #expect(cover.canvas == ResizePlan.Size(width: box.0, height: box.1))
        }
    }

    @Test(arguments: [
        Filter.Resize(width: 1_000_000, height: 1_000_000, fit: .fill),
        Filter.Resize(width: 1_000_000, height: 1_000_000, fit: .contain),
        Filter.Resize(width: 1_000_000), Filter.Resize(width: 16_385, height: 16_384, fit: .fill),
    ])
    func refusesTooManyPixels(_ resize: Filter.Resize) {
        let source = GridStage(.noise(2, 3, channels: 3))
        let error = #expect(throws: PictureError.self) {
            _ = try FilterStage.make(.resize(resize), upstream: source, limits: PictureLimits())
        }
        #expect(error?.kind == .tooManyPixels)
        #expect(error?.isTransient == false)
    }

    @Test func refusesTooLongASide() {
        let limits = PictureLimits { $0.side = 99 }
        let source = GridStage(.noise(3, 2, channels: 1))
        expectFailure(.tooManyPixels) {
            _ = try FilterStage.make(
                .resize(Filter.Resize(width: 100)), upstream: source, limits: limits)
        }
    }
}
