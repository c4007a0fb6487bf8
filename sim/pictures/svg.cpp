#include "sim/pictures/svg.hpp"

#include <cmath>
#include <cstdio>

#include "sim/pictures/colours.hpp"

namespace warptwin::sim {

namespace {

constexpr double kCharacter = 0.54;  // of the size of its font, on average

std::string at(const char* name, double value) {
  return " " + std::string{name} + "=\"" + short_number(value) + "\"";
}

std::string class_of(const std::string& classes) {
  return classes.empty() ? "" : " class=\"" + classes + "\"";
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // What XML has no place for is told apart from what it has.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (text.size() <= columns) {
    return text;
  }
  std::size_t cut = columns > 0 ? columns - 1 : 0;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80) {
    --cut;
  }
  return text.substr(0, cut) + "…";
}

double text_width(const std::string& text, double pixels) {
  std::size_t characters = 0;
  for (const char c : text) {
    characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80 ? 1 : 0;
  }
  return kCharacter * pixels * static_cast<double>(characters);
}

std::string short_number(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f", value);
  std::string out{text};
  while (out.back() == '0') {
    out.pop_back();
  }
  if (out.back() == '.') {
    out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

void Svg::rect(double x,
               double y,
               double width,
               double height,
               const std::string& classes,
               const std::string& title,
               double round) {
  body_ += "<rect" + at("x", x) + at("y", y) + at("width", width) + at("height", height) +
           (round > 0 ? at("rx", round) : "") + class_of(classes);
  body_ += title.empty() ? "/>\n" : "><title>" + escaped(title) + "</title></rect>\n";
}

void Svg::wait(double x,
               double y,
               double width,
               double height,
               const std::string& classes,
               const std::string& title) {
  rect(x, y, width, height, classes, title);
  if (width > 2) {
    body_ += "<rect" + at("x", x) + at("y", y) + at("width", width) + at("height", height) +
             " fill=\"url(#hatch)\" pointer-events=\"none\"/>\n";
  }
}

void Svg::text(
    double x, double y, const std::string& text, const std::string& classes, const char* anchor) {
  body_ += "<text" + at("x", x) + at("y", y) + class_of(classes) +
           (std::string{anchor} == "start" ? "" : " text-anchor=\"" + std::string{anchor} + "\"") +
           ">" + escaped(text) + "</text>\n";
}

void Svg::path(const std::string& d, const std::string& classes) {
  body_ += "<path d=\"" + d + "\"" + class_of(classes) + "/>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& classes) {
  body_ += "<line" + at("x1", x1) + at("y1", y1) + at("x2", x2) + at("y2", y2) + class_of(classes) +
           "/>\n";
}

std::string Svg::whole(bool page) const {
  const std::string size = short_number(width_) + " " + short_number(height_);
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\"" +
                     at("width", width_) + at("height", height_) + " role=\"img\" aria-label=\"" +
                     escaped(description_) + "\">\n";
  text +=
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect width=\"1.6\" height=\"6\" "
      "class=\"hatch\"/></pattern></defs>\n";
  if (!page) {
    text += "<style>" + drawing_style(false) +
            "</style>\n<rect width=\"100%\" height=\"100%\" "
            "fill=\"#ffffff\"/>\n";
  }
  return text + body_ + "</svg>\n";
}

}  // namespace warptwin::sim
