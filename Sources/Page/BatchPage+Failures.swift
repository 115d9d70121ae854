import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The failures at the top of the first page.
extension BatchPage {
    /// With more of them, the pictures would be too far below.
    private static let mostUnfolded = 3
    private static let mostReasons = 5

    func failures() {
        let count = summary.codes.values.reduce(0, +)
        guard count > 0 else { return }
        html(.section) {
            html(.h2, text: Words.count(count, "failure"))
            if count > Self.mostUnfolded {
                reasons()
                html(.details) {
                    html(
                        .summary,
                        text: count == summary.failures.count
                            ? "All \(count) failures"
                            : "The first \(summary.failures.count) failures")
                    articles(of: count)
                }
            } else {
                articles(of: count)
            }
        }
    }

    private func articles(of count: Int) {
        for item in summary.failures {
            html(.article, .class("failure")) {
                html(.h3) { link(to: item) }
                reason(for: item.image)
            }
        }
        if count > summary.failures.count {
            html(
                .p,
                text:
                    "\(count - summary.failures.count) more failed images are marked in the lists below."
            )
        }
    }

    /// The most frequent reasons, each with the first image that has it.
    private func reasons() {
        let order = summary.codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        html(.ul) {
            for (code, count) in order.prefix(Self.mostReasons) {
                html(.li) {
                    html.text("\(Words.count(count, "image")): ")
                    html(.code, text: code.string)
                    guard let item = summary.examples[code] else { return }
                    html.text(count > 1 ? ", for example " : ", ")
                    link(to: item)
                    if let error = item.image.error { html.text(": \(error.message)") }
                }
            }
            if order.count > Self.mostReasons {
                let rest = order.dropFirst(Self.mostReasons)
                html(
                    .li,
                    text: "\(Words.count(rest.reduce(0) { $0 + $1.value }, "image")): "
                        + Words.count(rest.count, "other reason"))
            }
        }
    }
}
