extension HistoryStore {
    /// Adds the runs of another history that are not here yet, each as a whole.
    ///
    /// - Returns: how many were added, and how many were here.
    public func merge(_ other: HistoryStore) throws(HistoryError) -> (added: Int, known: Int) {
        var added = 0, known = 0
        let catalog = try other.catalog(paths: true)
        for run in try other.runs() {
            if try add(run, try other.content(of: run.id, catalog)).isNew { added += 1 } else { known += 1 }
        }
        return (added, known)
    }
}
