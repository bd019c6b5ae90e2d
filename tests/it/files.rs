//! Local files: access only in allowed folders, for all paths, links and names, and the saving of
//! attachments.

use daysheet::files::AllowedFolders;
use daysheet_core::compose::names;
use daysheet_core::error::ErrorKind;
use tempfile::TempDir;

/// Creates a state folder with a secret, and two allowed folders in another place.
fn place() -> (TempDir, AllowedFolders) {
    let place = TempDir::new().unwrap();
    for folder in ["home", "one/sub", "two", "secret"] {
        std::fs::create_dir_all(place.path().join(folder)).unwrap();
    }
    for file in ["home/key", "one/a.txt", "one/sub/b.txt", "one/.hidden", "two/c.txt", "secret/id"]
    {
        std::fs::write(place.path().join(file), file).unwrap();
    }
    let allowed = [place.path().join("one"), place.path().join("two")];
    let folders = AllowedFolders::new(&allowed, &place.path().join("home"));
    (place, folders)
}

#[test]
fn files_below_allowed_folders_are_read() {
    let (place, folders) = place();
    let whole = place.path().join("two/c.txt");
    for (input, expected) in [
        ("a.txt", "one/a.txt"),
        ("sub/b.txt", "one/sub/b.txt"),
        ("sub/../a.txt", "one/a.txt"),
        ("c.txt", "two/c.txt"),
        (whole.to_str().unwrap(), "two/c.txt"),
    ] {
        let found = folders.read(input, 100).unwrap();
        assert_eq!(found.bytes, expected.as_bytes(), "{input}");
        assert!(expected.ends_with(&found.name));
    }
}

#[cfg(unix)]
#[test]
fn files_outside_allowed_folders_are_refused() {
    use std::os::unix::fs::symlink;
    let (place, folders) = place();
    let root = place.path();
    symlink(root.join("secret"), root.join("one/link")).unwrap();
    symlink(root.join("secret/id"), root.join("one/id")).unwrap();
    symlink(root.join("one/sub/b.txt"), root.join("one/inside")).unwrap();
    symlink(root.join("secret/none"), root.join("one/gone")).unwrap();
    rustix_fifo(&root.join("one/pipe"));
    let secret = root.join("secret/id");
    for (input, kind, why) in [
        ("../secret/id", ErrorKind::Argument, "outside the allowed folders"),
        (secret.to_str().unwrap(), ErrorKind::Argument, "outside the allowed folders"),
        ("link/id", ErrorKind::Argument, "outside the allowed folders"),
        ("id", ErrorKind::Argument, "outside the allowed folders"),
        ("../home/key", ErrorKind::Argument, "outside the allowed folders"),
        (".hidden", ErrorKind::Argument, "is hidden"),
        ("sub", ErrorKind::Argument, "is not a file"),
        ("pipe", ErrorKind::Argument, "is not a file"),
        ("missing", ErrorKind::NotFound, "does not exist"),
        ("a\0.txt", ErrorKind::Argument, "has NUL in it"),
        ("/dev/zero", ErrorKind::Argument, "outside the allowed folders"),
        // Missing files outside the allowed folders cause the same error as existing ones.
        ("../secret/none", ErrorKind::Argument, "outside the allowed folders"),
        ("../none/none", ErrorKind::Argument, "outside the allowed folders"),
        ("/none/none", ErrorKind::Argument, "outside the allowed folders"),
        ("link/none", ErrorKind::Argument, "outside the allowed folders"),
        ("gone", ErrorKind::Argument, "outside the allowed folders"),
        ("gone/none", ErrorKind::Argument, "outside the allowed folders"),
        ("../home/none", ErrorKind::Argument, "outside the allowed folders"),
        ("sub/none/../../../secret/id", ErrorKind::NotFound, "does not exist"),
    ] {
        let error = folders.read(input, 100).unwrap_err();
        assert_eq!(error.kind(), kind, "{input}: {error}");
        assert!(error.message().ends_with(why), "{input}: {error}");
    }
    assert_eq!(folders.read("inside", 100).unwrap().bytes, b"one/sub/b.txt");
    let error = folders.read("a.txt", 8).unwrap_err();
    assert!(error.message().ends_with("is larger than 8 bytes"), "{error}");
    // Allowing a parent of the state folder does not make the state folder readable.
    let wide = AllowedFolders::new(&[root.to_path_buf()], &root.join("home"));
    assert_eq!(wide.read("secret/id", 100).unwrap().bytes, b"secret/id");
    let error = wide.read("home/key", 100).unwrap_err();
    assert!(error.message().ends_with("is outside the allowed folders"), "{error}");
}

#[cfg(unix)]
fn rustix_fifo(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[cfg(unix)]
#[test]
fn files_are_saved_privately_and_never_overwrite() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (place, folders) = place();
    let root = place.path();
    let folder = folders.folder(None).unwrap();
    let save = |name: &str, bytes: &[u8], overwrite| {
        let saved = folder.save(name, bytes, overwrite).unwrap();
        (saved.path.file_name().unwrap().to_str().unwrap().to_owned(), saved.existing)
    };
    let path = folder.save("new.pdf", b"1", false).unwrap().path;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for (bytes, overwrite, name, existing) in [
        (b"1", false, "new.pdf", true),
        (b"2", false, "new (2).pdf", false),
        (b"2", false, "new (2).pdf", true),
        (b"3", false, "new (3).pdf", false),
        (b"4", true, "new.pdf", false),
    ] {
        assert_eq!(save("new.pdf", bytes, overwrite), (name.to_owned(), existing));
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"4");
    assert_eq!(save("bare", b"1", false), ("bare".to_owned(), false));
    assert_eq!(save("bare", b"2", false), ("bare (2)".to_owned(), false));
    // A link at the file's path is neither followed nor replaced.
    symlink(root.join("secret/id"), root.join("one/trap")).unwrap();
    for overwrite in [false, true] {
        assert_eq!(folder.save("trap", b"3", overwrite).unwrap_err().kind(), ErrorKind::Conflict);
    }
    assert_eq!(std::fs::read(root.join("secret/id")).unwrap(), b"secret/id");
    assert_eq!(folder.save("sub", b"3", true).unwrap_err().kind(), ErrorKind::Conflict);
    let names: Vec<String> = std::fs::read_dir(root.join("one"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.ends_with(".part")), "{names:?}");

    // Missing folders below an allowed one are created.
    for (input, expected) in [
        ("sub", "one/sub/x"),
        (root.join("two").to_str().unwrap(), "two/x"),
        ("made/twice", "one/made/twice/x"),
    ] {
        let path = folders.folder(Some(input)).unwrap().save("x", b"4", false).unwrap().path;
        assert!(path.ends_with(expected), "{}", path.display());
    }
    let made = std::fs::metadata(root.join("one/made")).unwrap();
    assert_eq!(made.permissions().mode() & 0o777, 0o700);
    symlink(root.join("secret"), root.join("one/out")).unwrap();
    for input in [
        "..", "../secret", "../new", "out", "out/new", "/tmp", "no/../../new", ".new", "a/.new",
        "a.txt/y",
    ] {
        assert!(folders.folder(Some(input)).is_err(), "{input}");
    }
    assert!(!root.join("new").exists() && !root.join("secret/new").exists());
}

#[test]
fn attachment_names_become_safe_file_names() {
    let long = format!("{}.pdf", "ü".repeat(200));
    for (input, expected) in [
        ("offer.pdf", "offer.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Windows\\win.ini", "win.ini"),
        (".bashrc", "bashrc"),
        ("...", "attachment"),
        ("", "attachment"),
        ("/", "attachment"),
        ("a\0b\r\nc.txt", "a b c.txt"),
        ("invoice\u{202e}fdp.exe", "invoicefdp.exe"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("com1.log", "_com1.log"),
        ("comb.log", "comb.log"),
        ("what? <x>:\"|*.txt", "what_ _x_____.txt"),
        ("x. . ", "x"),
        ("-rf.txt", "rf.txt"),
        ("Rechnung für März.pdf", "Rechnung für März.pdf"),
    ] {
        assert_eq!(names::clean(input), expected, "{input:?}");
    }
    let short = names::clean(&long);
    assert!(short.len() <= 150 && short.ends_with("ü.pdf"), "{short}");
}
