//! Pictures as bytes: what all charts have in common.

use std::fmt;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

/// Okabe and Ito's colours, which people with any kind of colour vision tell apart.
pub(crate) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];
/// What stands behind: incidents, grids, points that matter less.
pub(crate) const SHADE: RGBColor = RGBColor(120, 120, 120);

/// How a chart is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlotFormat {
    /// Lines and text that scale.
    Svg,
    /// Pixels.
    Png,
}

impl PlotFormat {
    /// The format of a file by its ending; `None` where the ending is neither.
    pub fn of(path: &Path) -> Option<PlotFormat> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(PlotFormat::Svg),
            "png" => Some(PlotFormat::Png),
            _ => None,
        }
    }
}

/// A chart that could not be drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlotError(String);

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlotError {}

/// What can be drawn on any backend.
pub(crate) trait Picture {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws it.
    ///
    /// # Errors
    /// The drawing library refuses.
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError>;
}

/// A picture as a file's bytes.
///
/// # Errors
/// The drawing library refuses.
pub(crate) fn paint(picture: &impl Picture, format: PlotFormat) -> Result<Vec<u8>, PlotError> {
    // Text must be measured even for SVG; registering the same font again changes nothing.
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| PlotError("the font cannot be read".into()))?;
    let size = picture.size();
    match format {
        PlotFormat::Svg => {
            let mut text = String::new();
            picture.draw(&SVGBackend::with_string(&mut text, size).into_drawing_area())?;
            Ok(text.into_bytes())
        }
        PlotFormat::Png => {
            let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
            let backend = BitMapBackend::with_buffer(&mut pixels, size);
            picture.draw(&backend.into_drawing_area())?;
            encode(&pixels, size)
        }
    }
}

fn encode(pixels: &[u8], (width, height): (u32, u32)) -> Result<Vec<u8>, PlotError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(fault)?;
    writer.write_image_data(pixels).map_err(fault)?;
    writer.finish().map_err(fault)?;
    Ok(bytes)
}

/// The drawing library's refusal.
pub(crate) fn fault(error: impl fmt::Display) -> PlotError {
    PlotError(error.to_string())
}
