/// A drawing that is put together: shapes with classes of drawing_style, and text.

#pragma once

#include <string>

namespace warptwin::sim {

/// Of one picture, in pixels.
class Svg {
 public:
  Svg(double width, double height) : width_{width}, height_{height} {}

  void set_height(double height) { height_ = height; }
  /// There is nothing on it.
  bool empty() const { return height_ <= 0; }
  /// What follows is drawn below what is drawn already.
  void to_back(const Svg& other) { body_ = other.body_ + body_; }
  double width() const { return width_; }
  /// `title` is what a pointer that rests on it is told; it may be empty.
  void rect(double x,
            double y,
            double width,
            double height,
            const std::string& classes,
            const std::string& title = "",
            double round = 0);
  /// Hatched: a wait.
  void wait(double x,
            double y,
            double width,
            double height,
            const std::string& classes,
            const std::string& title);
  void text(double x,
            double y,
            const std::string& text,
            const std::string& classes = "",
            const char* anchor = "start");
  /// `d` as SVG's path has it.
  void path(const std::string& d, const std::string& classes);
  void line(double x1, double y1, double x2, double y2, const std::string& classes);
  /// Adds to what those are told who do not see it.
  void describe(const std::string& text) {
    description_ += (description_.empty() ? "" : "; ") + text;
  }

  /// For a page, which has the style; else a file of its own, on white.
  std::string in_page() const { return whole(true); }
  std::string alone() const { return whole(false); }

 private:
  std::string whole(bool page) const;

  double width_;
  double height_;
  std::string body_;
  std::string description_;
};

/// Text as XML and HTML take it.
std::string escaped(const std::string& text);
/// At most `columns` characters, the last of them "…" where it is cut.
std::string shortened(const std::string& text, std::size_t columns);
/// About how wide a text of a drawing is, of the size of its style.
double text_width(const std::string& text, double pixels = 12);
/// "4096", "1.25": as short as it can be said.
std::string short_number(double value);

}  // namespace warptwin::sim
