import DarkroomCore

/// The filters that mix neighbouring pixels.
extension FilterCatalog {
    static let blurs: [FilterSpecification] = [
        filter("blur", "Gaussian blur", .number("sigma", 0.1...250), Filter.blur),
        FilterSpecification(
            name: "sharpen", summary: "unsharp mask",
            parameters: [
                .number("sigma", 0.1...250, default: 1), .number("amount", 0...10, default: 1),
                .number("threshold", 0...1, default: 0),
            ]
        ) {
            .sharpen(
                sigma: $0.number("sigma"), amount: $0.number("amount"),
                threshold: $0.number("threshold"))
        },
    ]
}
