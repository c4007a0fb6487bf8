// Micro-programs about registers, requests for clusters, and grids that start early.

#include "common/trace/texts.hpp"

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

namespace {

constexpr SharedAddress kResponse{1056};

// The CTA asks for a cluster, on barrier kBar; `f` has it to wait, and to read the response.
Body request(std::function<void(M&)> f, SharedAddress response = kResponse) {
  return after_init(1, [=](M& m) {
    m.elect_one([&] {
      m.mbarrier_arrive_expect_tx(kBar, kClcResponseBytes);
      m.clc_try_cancel(response, kBar, false);
    });
    f(m);
  });
}

void read_response(M& m) {
  m.elect_one([&] {
    if (m.clc_is_canceled(kResponse)) {
      m.clc_first_cta(kResponse);
    }
  });
}

// Asks once more, into the same place.
void ask_again(M& m) {
  m.elect_one([&] {
    m.mbarrier_arrive_expect_tx(kBar, kClcResponseBytes);
    m.clc_try_cancel(kResponse, kBar, false);
  });
  wait(m, 1);
  read_response(m);
}

// Where all have met, the first lane of warp 0 stops the kernel, or does not.
Body stopping(std::uint32_t says, bool stops) {
  return [=](M& m) {
    m.cta_sync();
    if (stops && m.warp_index() == 0) {
      Operation op{Op::kTrap};
      op.lanes = 1;
      op.as<operands::Trap>().says = says;
      op.site = SourceSite::current();
      m.perform(op);
    }
  };
}

void add_traps(List& list) {
  const std::uint32_t says = 1 + number_of_text("kernel.cu:3: k: assertion `n > 0` fails");
  list.add("KERNEL_TRAP", 2, stopping(0, true), stopping(0, false));
  list.add("ASSERTION_FAILED", 2, stopping(says, true), stopping(says, false));
}

void add_requests(List& list) {
  const Body good = request([](M& m) {
    wait(m, 0);
    read_response(m);
  });
  list.add("CLC_RESP_ALIGN", 1, request([](M&) {}, SharedAddress{1064}), good);
  list.add("CLC_RESP_READ_EARLY",
           1,
           request([](M& m) {
             m.elect_one([&] { m.clc_is_canceled(kResponse); });
             wait(m, 0);
           }),
           good);
  list.add("CLC_CTAID_ON_FAIL",
           1,
           request([](M& m) {
             wait(m, 0);
             m.elect_one([&] { m.clc_first_cta(kResponse); });
           }),
           good);
  list.add("CLC_OUTSTANDING_AT_EXIT", 1, request([](M&) {}), good, "lazy:1");
  list.add("CLC_AFTER_FAIL",
           1,
           request([](M& m) {
             wait(m, 0);
             read_response(m);
             m.fence_proxy_async(ProxySpace::kSharedCta);
             ask_again(m);
           }),
           good);
  const auto again = [](bool fence) {
    return request([=](M& m) {
      wait(m, 0);
      read_response(m);
      if (fence) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
      ask_again(m);
    });
  };
  list.in_grid("CLC_RESP_OVERWRITE", 3, 1, again(false), again(true));
  list.in_grid("CLC_WORK_LOST", 2, 1, request([](M& m) { wait(m, 0); }), good);
  // For all CTAs of a cluster: who asks, who expects, who is still there.
  const auto for_all = [](std::uint32_t askers, bool all_expect) {
    return cluster_init(1, [=](M& m) {
      m.elect_one([&] {
        if (m.cta_rank() == 0 || all_expect) {
          m.mbarrier_arrive_expect_tx(kBar, askers * kClcResponseBytes);
        }
        if (m.cta_rank() < askers) {
          m.clc_try_cancel(kResponse, kBar, true);
        }
      });
      wait(m, 0);
      read_response(m);
    });
  };
  list.in_cluster("CLC_TX_MISMATCH", 2, for_all(1, false), for_all(1, true));
  list.in_cluster("CLC_MULTI_REQUEST", 2, for_all(2, true), for_all(1, true));
  const auto after_the_end = [](bool stays) -> Body {
    return [=](M& m) {
      m.elect_one([&] {
        m.mbarrier_init(kBar, 1);
        m.fence_mbarrier_init();
      });
      m.barrier_cluster_arrive();
      m.barrier_cluster_wait();
      m.elect_one([&] { m.mbarrier_arrive_expect_tx(kBar, kClcResponseBytes); });
      if (m.cta_rank() == 0) {
        m.elect_one([&] { m.clc_try_cancel(kResponse, kBar, true); });
      }
      if (m.cta_rank() == 0 || stays) {
        wait(m, 0);
        read_response(m);
        m.barrier_cluster_arrive();
        m.barrier_cluster_wait();
      }
    };
  };
  list.in_cluster(
      "CLC_MULTICAST_PEER_EXITED", 2, after_the_end(false), after_the_end(true), "starve:0");
}

void add_registers(List& list) {
  const auto dec = [](M& m) { m.setmaxnreg_dec<40>(); };
  const auto each = [](std::function<void(M&)> f) -> Body { return [=](M& m) { f(m); }; };
  list.add("SETMAXNREG_RANGE", 4, each([](M& m) { m.setmaxnreg_dec<20>(); }), each(dec));
  list.add("SETMAXNREG_DIRECTION", 4, each([](M& m) { m.setmaxnreg_dec<240>(); }), each(dec));
  list.add("SETMAXNREG_NOT_WARPGROUP",
           4,
           each([](M& m) {
             if (m.warp_index() == 0) {
               m.setmaxnreg_dec<40>();
             }
           }),
           each(dec));
  const auto twice = [](bool meet) -> Body {
    return [=](M& m) {
      m.setmaxnreg_dec<40>();
      if (meet) {
        m.cta_sync();
      }
      m.setmaxnreg_dec<24>();
    };
  };
  list.add("SETMAXNREG_NO_SYNC", 4, twice(false), twice(true));
  const auto takes = [](bool given) -> Body {
    return [=](M& m) {
      if (m.warp_index() >= 4) {
        m.setmaxnreg_inc<240>();
      } else if (given) {
        m.setmaxnreg_dec<40>();
      }
    };
  };
  list.add("SETMAXNREG_POOL", 8, takes(false), takes(true));
}

void add_dependents(List& list) {
  const auto early = [&](const char* id, std::uint32_t warps, Body wrong, Body right) {
    MicroProgram program{id, std::move(wrong), std::move(right), warps};
    program.dependent = true;
    list.push(std::move(program));
  };
  const auto read = [](bool waits) {
    return after_init(1, [=](M& m) {
      if (waits) {
        m.griddepcontrol_wait();
      }
      fill(m);
      wait(m, 0);
    });
  };
  early("PDL_MISSING_WAIT", 1, read(false), read(true));
  const auto hand_on = [](bool meet) {
    return after_init(1, [=](M& m) {
      if (m.warp_index() == 0) {
        m.griddepcontrol_wait();
      }
      if (meet) {
        m.cta_sync();
      }
      if (m.warp_index() == 1) {
        fill(m);
        wait(m, 0);
      }
    });
  };
  early("PDL_WAIT_NOT_PUBLISHED", 2, hand_on(false), hand_on(true));
  const auto primary = [&](const char* id, Body wrong, Body right) {
    MicroProgram program{id, std::move(wrong), std::move(right)};
    program.has_dependents = true;
    program.rules.profile = Profile::kStrict;
    list.push(std::move(program));
  };
  const auto write = [](M& m) { m.elect_one([&] { m.st_release_global_u32(kFlag, 1); }); };
  const auto launch = [](M& m) { m.griddepcontrol_launch_dependents(); };
  const auto both = [](auto first, auto second) -> Body {
    return [=](M& m) {
      first(m);
      second(m);
    };
  };
  primary("PDL_TRIGGER_BEFORE_WRITE", both(launch, write), both(write, launch));
  primary("PDL_NO_TRIGGER", write, both(write, launch));
}

}  // namespace

void add_launches(List& list) {
  add_registers(list);
  add_requests(list);
  add_traps(list);
  add_dependents(list);
}

}  // namespace warptwin::sim::micro
