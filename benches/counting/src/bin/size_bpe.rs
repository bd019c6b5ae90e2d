//! A program that contains `bpe-openai`.

fn main() -> std::io::Result<()> {
    let text = std::io::read_to_string(std::io::stdin())?;
    println!("{}", bpe_openai::o200k_base().count(&text));
    Ok(())
}
