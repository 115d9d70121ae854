import DarkroomPicture

// Filters a picture into a JPEG, and looks at the rows of the result.
let (source, result) = (CommandLine.arguments[1], CommandLine.arguments[2])
do {
    let converter = PictureConverter(
        filters: [.sepia(intensity: 0.8), .resize(.init(width: 64))],
        output: OutputOptions(format: .jpeg, quality: 88))
    let report = try converter.convert(source, to: result)
    print("\(report.format.rawValue) \(report.width)×\(report.height)")

    let rows = try PictureRows(contentsOf: result)
    var (count, sum) = (0, 0)
    while try rows.next({ samples, range in
        count += range.count
        sum += samples.reduce(0) { $0 + Int($1) }
    }) {}
    print("\(count) rows of \(rows.layout.channels) channels, \(sum > 0 ? "not black" : "black")")
} catch {
    print("failed: \(error.code)")
}
