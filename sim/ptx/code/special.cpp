#include "sim/ptx/code/special.hpp"

#include <algorithm>
#include <iterator>

namespace warptwin::ptx {

namespace {

struct Row {
  std::string_view name;
  std::uint32_t bits = 32;
};

constexpr Row kSpecials[] = {
    {"%tid.x"},
    {"%tid.y"},
    {"%tid.z"},
    {"%ntid.x"},
    {"%ntid.y"},
    {"%ntid.z"},
    {"%ctaid.x"},
    {"%ctaid.y"},
    {"%ctaid.z"},
    {"%nctaid.x"},
    {"%nctaid.y"},
    {"%nctaid.z"},
    {"%cluster_ctaid.x"},
    {"%cluster_ctaid.y"},
    {"%cluster_ctaid.z"},
    {"%cluster_nctaid.x"},
    {"%cluster_nctaid.y"},
    {"%cluster_nctaid.z"},
    {"%clusterid.x"},
    {"%clusterid.y"},
    {"%clusterid.z"},
    {"%nclusterid.x"},
    {"%nclusterid.y"},
    {"%nclusterid.z"},
    {"%cluster_ctarank"},
    {"%cluster_nctarank"},
    {"%is_explicit_cluster", 1},
    {"%laneid"},
    {"%warpid"},
    {"%nwarpid"},
    {"%smid"},
    {"%nsmid"},
    {"%gridid", 64},
    {"%lanemask_eq"},
    {"%lanemask_le"},
    {"%lanemask_lt"},
    {"%lanemask_ge"},
    {"%lanemask_gt"},
    {"%clock"},
    {"%clock_hi"},
    {"%clock64", 64},
    {"%globaltimer", 64},
    {"%globaltimer_lo"},
    {"%globaltimer_hi"},
    {"%total_smem_size"},
    {"%aggr_smem_size"},
    {"%dynamic_smem_size"},
    {"%reserved_smem_offset_begin"},
    {"%reserved_smem_offset_end"},
    {"%reserved_smem_offset_cap"},
    {"%current_graph_exec", 64},
    {"%envreg0"},
    {"%envreg1"},
    {"%envreg2"},
    {"%envreg3"},
    {"%envreg4"},
    {"%envreg5"},
    {"%envreg6"},
    {"%envreg7"},
    {"%envreg8"},
    {"%envreg9"},
    {"%envreg10"},
    {"%envreg11"},
    {"%envreg12"},
    {"%envreg13"},
    {"%envreg14"},
    {"%envreg15"},
    {"%envreg16"},
    {"%envreg17"},
    {"%envreg18"},
    {"%envreg19"},
    {"%envreg20"},
    {"%envreg21"},
    {"%envreg22"},
    {"%envreg23"},
    {"%envreg24"},
    {"%envreg25"},
    {"%envreg26"},
    {"%envreg27"},
    {"%envreg28"},
    {"%envreg29"},
    {"%envreg30"},
    {"%envreg31"},
};

}  // namespace

std::optional<SpecialRegister> special_named(std::string_view name, std::uint8_t component) {
  constexpr std::string_view kComponents = " xyzw";
  const auto found = std::find_if(std::begin(kSpecials), std::end(kSpecials), [&](const Row& row) {
    if (component == 0) {
      return row.name == name;
    }
    return row.name.size() == name.size() + 2 && row.name.starts_with(name) &&
           row.name.ends_with(std::string_view{&kComponents[component], 1}) &&
           row.name[name.size()] == '.';
  });
  if (found == std::end(kSpecials)) {
    return std::nullopt;
  }
  return SpecialRegister{static_cast<std::uint32_t>(found - std::begin(kSpecials))};
}

std::string_view name_of(SpecialRegister special) {
  return kSpecials[special.index].name;
}

std::uint32_t bits_of(SpecialRegister special) {
  return kSpecials[special.index].bits;
}

}  // namespace warptwin::ptx
