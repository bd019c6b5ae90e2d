//! A program that contains nothing: what the others are compared with.

fn main() -> std::io::Result<()> {
    let text = std::io::read_to_string(std::io::stdin())?;
    println!("{}", text.len());
    Ok(())
}
