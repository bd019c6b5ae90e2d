//! A program that contains our tokenizer.

fn main() -> std::io::Result<()> {
    let text = std::io::read_to_string(std::io::stdin())?;
    println!("{}", daysheet_core::budget::count::tokens(&text));
    Ok(())
}
