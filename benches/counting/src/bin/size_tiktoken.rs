//! A program that contains `tiktoken-rs`.

fn main() -> std::io::Result<()> {
    let text = std::io::read_to_string(std::io::stdin())?;
    println!(
        "{}",
        tiktoken_rs::o200k_base_singleton()
            .encode_ordinary(&text)
            .len()
    );
    Ok(())
}
