import DarkroomSpool

/// Why files of a watched folder are not taken. Each reason is told once for each file, and only a part of very many.
struct RefusedFiles<Name: Hashable, Why: RefusalReason> {
    /// How many files are remembered.
    private static var capacity: Int { 65_536 }

    enum Telling { case no, yes, sumLater }

    private(set) var all: [Name: Why] = [:]
    private var notices = NoticeLimit()

    subscript(name: Name) -> Why? {
        get { all[name] }
        set { all[name] = newValue }
    }

    /// Remembers why a file is not taken.
    ///
    /// - Returns: whether this is told. If it is the first that is not told one by one, a sum must be told later.
    mutating func refuse(_ name: Name, _ why: Why, now: UInt64) -> Telling {
        let former = all[name]
        guard former != nil || all.count < Self.capacity else { return .no }
        all[name] = why
        guard why.isTold, !(former.map(why.isSame) ?? false) else { return .no }
        if notices.take(at: now) { return .yes }
        return notices.withheld == 1 ? .sumLater : .no
    }

    mutating func keep(where isKept: (Name, Why) -> Bool) {
        all = all.filter { isKept($0.key, $0.value) }
    }

    /// How many were not told one by one since the last sum.
    mutating func takeWithheld() -> Int { notices.takeWithheld() }
}

/// Why a file is not taken, as `RefusedFiles` needs it to tell each reason once.
protocol RefusalReason {
    /// Whether it is told at all.
    var isTold: Bool { get }
    func isSame(as other: Self) -> Bool
}

extension SkipReason: RefusalReason {
    func isSame(as other: SkipReason) -> Bool { self == other }
}
