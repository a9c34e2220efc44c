import LoopGallery

/// Runs one of the project's examples.
@main struct Main {
    static func main() async { await GalleryProgram.main() }
}
