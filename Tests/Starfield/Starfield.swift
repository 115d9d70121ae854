import ArgumentParser

@main
struct Starfield: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make a picture of a starry sky.")
}
