//! Colours of presentations: the colours of a theme, and their use in elements.

use std::collections::HashMap;

use crate::ReadFailure;
use crate::run_style::{InkColour, colour};
use crate::xml::{XmlElement, XmlEvent, XmlReader};

/// The colours of a theme, and the names by which a slide refers to them.
#[derive(Debug, Clone, Default)]
pub struct ThemeColours {
    colours: HashMap<String, [u8; 3]>,
    map: HashMap<String, String>,
}

/// A colour with its opacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapePaint {
    /// The colour.
    pub paint: InkColour,
    /// The opacity, from 0 to 1.
    pub opaque: f64,
}

impl ThemeColours {
    /// Parses the colours of a theme.
    pub fn read(theme: &str) -> Result<Self, ReadFailure> {
        let mut colours = HashMap::new();
        let mut xml = XmlReader::with_namespaces(theme, &["a"]);
        while let Some(event) = xml.step()? {
            let XmlEvent::Start(element) = event else { continue };
            let name = element.name();
            let listed = ["dk1", "lt1", "dk2", "lt2", "hlink", "folHlink"].contains(&name.as_str());
            if listed || name.starts_with("accent") {
                let coat = Self::default().coat(&mut xml)?;
                if let Some(ShapePaint { paint: InkColour::Rgb(rgb), .. }) = coat {
                    colours.entry(name).or_insert(rgb);
                }
            }
        }
        Ok(Self { colours, map: HashMap::new() })
    }

    /// Reads the colour map of a master, or a slide's map that replaces it.
    pub fn rename(&mut self, part: &str) -> Result<(), ReadFailure> {
        // Most slides inherit the map: a search is cheaper than reading them once more.
        if !part.contains("clrMap ") && !part.contains("overrideClrMapping") {
            return Ok(());
        }
        let mut xml = XmlReader::with_namespaces(part, &["p", "a"]);
        while let Some(event) = xml.step()? {
            let XmlEvent::Start(element) = event else { continue };
            if !matches!(element.name().as_str(), "clrMap" | "overrideClrMapping") {
                continue;
            }
            for name in ["bg1", "tx1", "bg2", "tx2"] {
                if let Some(of) = element.attr(name) {
                    self.map.insert(name.to_owned(), of);
                }
            }
        }
        Ok(())
    }

    /// Reads the colour in the element that began last, to its end. A gradient of indistinguishable
    /// colours counts as one colour. Returns `None` if the element has no colour.
    pub fn coat(&self, xml: &mut XmlReader<'_>) -> Result<Option<ShapePaint>, ReadFailure> {
        let mut coats: Vec<ShapePaint> = Vec::new();
        xml.within(|element| {
            let val = element.number("val").unwrap_or_default() / 100_000.0;
            match (element.name().as_str(), coats.last_mut()) {
                ("alpha", Some(coat)) => coat.opaque = val,
                ("lumMod", Some(coat)) => coat.paint = shaded(coat.paint, |light| light * val),
                ("lumOff", Some(coat)) => coat.paint = shaded(coat.paint, |light| light + val),
                // A shade or tint this slight is not visible.
                ("shade" | "tint", Some(_)) if val > 0.95 => {}
                (
                    "shade" | "tint" | "lum" | "inv" | "comp" | "gray" | "red" | "green" | "blue"
                    | "hue" | "hueMod" | "hueOff" | "sat" | "satMod" | "satOff" | "gamma"
                    | "invGamma" | "alphaMod" | "alphaOff" | "redMod" | "redOff" | "greenMod"
                    | "greenOff" | "blueMod" | "blueOff",
                    Some(coat),
                ) => coat.paint = InkColour::Other,
                _ => {
                    coats.extend(
                        self.colour_of(element).map(|paint| ShapePaint { paint, opaque: 1.0 }),
                    );
                }
            }
        })?;
        let Some(first) = coats.first().copied() else { return Ok(None) };
        let same = coats.iter().all(|coat| coat.paint.alike(first.paint));
        let opaque = coats.iter().map(|coat| coat.opaque).fold(1.0, f64::min);
        Ok(Some(ShapePaint { paint: if same { first.paint } else { InkColour::Other }, opaque }))
    }

    /// Returns the colour that an element names.
    fn colour_of(&self, element: &XmlElement<'_>) -> Option<InkColour> {
        let val = element.attr("val").unwrap_or_default();
        let part = |name: &str| element.number(name).unwrap_or_default() / 100_000.0;
        Some(match element.name().as_str() {
            "srgbClr" => colour(&val).map_or(InkColour::Other, InkColour::Rgb),
            // The system colour itself depends on the reader's settings.
            "sysClr" => {
                let last = element.attr("lastClr").unwrap_or_default();
                colour(&last).map_or(InkColour::Other, InkColour::Rgb)
            }
            "prstClr" => match val.as_str() {
                "white" => InkColour::Rgb([255; 3]),
                "black" => InkColour::Rgb([0; 3]),
                _ => InkColour::Other,
            },
            "schemeClr" => {
                let name = self.map.get(&val).unwrap_or(&val);
                self.colours.get(name).map_or(InkColour::Other, |rgb| InkColour::Rgb(*rgb))
            }
            // Near the ends of the scale, hue and saturation do not matter.
            "hslClr" if part("lum") > 0.98 => InkColour::Rgb([255; 3]),
            "hslClr" if part("lum") < 0.02 => InkColour::Rgb([0; 3]),
            "hslClr" => InkColour::Other,
            "scrgbClr" => {
                let byte = |name: &str| {
                    // The values are linear; the file's other colours are sRGB.
                    let linear = part(name).clamp(0.0, 1.0);
                    let curved = 1.055 * linear.powf(1.0 / 2.4) - 0.055;
                    let value = if linear <= 0.003_130_8 { linear * 12.92 } else { curved };
                    (value * 255.0) as u8
                };
                InkColour::Rgb([byte("r"), byte("g"), byte("b")])
            }
            _ => return None,
        })
    }
}

/// Returns a lighter or darker grey. The result is unknown for other colours.
fn shaded(paint: InkColour, light: impl Fn(f64) -> f64) -> InkColour {
    match paint {
        InkColour::Rgb([red, green, blue]) if red == green && green == blue => {
            let light = light(f64::from(red) / 255.0).clamp(0.0, 1.0);
            InkColour::Rgb([(light * 255.0) as u8; 3])
        }
        _ => InkColour::Other,
    }
}
