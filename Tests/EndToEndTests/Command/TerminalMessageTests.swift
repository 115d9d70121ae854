import TestSupport
import Testing

/// Sentences on a terminal: lines end between words, and a pipe gets them whole.
@Suite(.fewAtATime) struct TerminalMessageTests {
    @Test(
        arguments: [
            ["submit", "good.yaml", "--filter", "mono"], ["check", "list.csv"],
            ["check", "bad.yaml"], ["run", "bad.yaml", "-o", "out"], ["wait"],
            ["show", "x", "--no-such-option"], ["make", "small.png", "--json"],
            ["filter", "small.png", "-o", "a.gif"], ["watch", "x", "--spool", "none"],
        ] as [[String]], [80, 40])
    func endsLinesBetweenWords(words: [String], width: Int) async throws {
        let fixture = try RunFixture()
        try fixture.write("images: [small.png]\n", to: "good.yaml")
        try fixture.write(
            "images: [{source: small.png, output: gif}]\nqualityOfService: utilities\n",
            to: "bad.yaml")
        try fixture.write("source\nsmall.png\n", to: "list.csv")
        let spool = fixture.scratch.path
        let piped = try await ClientProcess.end(words, spool: spool, folder: fixture.scratch.path)
        #expect(piped.exit >= 64 && piped.output == "" || words.last == "--json", "\(piped)")
        let terminal = try PseudoTerminal(width: width, height: 24)
        let client = try ClientProcess(
            words, spool: spool, folder: fixture.scratch.path, terminal: terminal)
        #expect(try await client.result().exit == piped.exit)
        let text = terminal.text.replacing("\r\n", with: "\n")
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("{") }
        let shown: [Substring] = lines.flatMap { $0.split(separator: " ") }
        #expect(shown == piped.errors.split(whereSeparator: \.isWhitespace), "\(text)")
        for line in lines {
            let isOneWord = line.split(separator: " ").count == 1
            #expect(line.count <= width || isOneWord, "\(line)")
        }
        #expect(
            lines.count > piped.errors.split(separator: "\n").count
                || piped.errors.split(separator: "\n").allSatisfy { $0.count <= width }, "\(text)")
    }

    /// Results are sentences too.
    @Test(arguments: [["run", "good.yaml", "-o", "out"], ["verify", "out/"]])
    func endsLinesOfResultsBetweenWords(words: [String]) async throws {
        let fixture = try RunFixture()
        try fixture.write("images: [small.png]\n", to: "good.yaml")
        #expect(try await fixture.darkroom("run", "good.yaml", "-o", "out", "--quiet").exit == 0)
        let words = words + ["--progress", "none"]
        let piped = try await ClientProcess.end(words, folder: fixture.scratch.path)
        #expect(piped.exit == 0 && piped.errors == "", "\(piped)")
        #expect(piped.output.split(separator: "\n").count == 1, "\(piped)")
        let terminal = try PseudoTerminal(width: 30, height: 24)
        let client = try ClientProcess(words, folder: fixture.scratch.path, terminal: terminal)
        #expect(try await client.result().exit == 0)
        let lines = terminal.text.replacing("\r\n", with: "\n").split(separator: "\n")
        #expect(lines.count > 1 && lines.allSatisfy { $0.count <= 30 }, "\(lines)")
        let shown: [Substring] = lines.flatMap { $0.split(separator: " ") }
        #expect(shown == piped.output.split(whereSeparator: \.isWhitespace), "\(lines)")
    }
}
