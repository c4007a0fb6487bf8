/* The pipeline load -> MMA -> epilogue on mbarriers, for SPIN, to stand beside our own search and
 * proof (scripts/benchmark_spin.py). One step of a process is one operation on a barrier.
 *
 *   STAGES of the input ring, ACCUMS accumulators, STEPS k-steps a tile, TILES tiles (0: for ever),
 *   LOADS copies a stage, READERS epilogue warps, QUEUE operations the tensor core may hold
 *
 * Laps are counted modulo 4 beside the parity, so that a wait which is lapped is seen: SPIN would
 * otherwise let the parity come round again.
 */
#ifndef TILES
#define TILES 2
#endif

typedef Barrier {
  byte missing;   /* arrivals the phase still lacks */
  byte arrivals;  /* that each phase takes */
  byte bytes;     /* copies announced and not landed */
  byte lap;       /* phases completed, modulo 4 */
}

Barrier filled[STAGES];
Barrier vacant[STAGES];
Barrier done[ACCUMS];    /* accumulator complete */
Barrier freed[ACCUMS];   /* accumulator read */
byte issued[STAGES];     /* copies on their way */
bool ready = false;

/* what the tensor core executes in order: an arrival on vacant[n] or done[n] */
#define FREE_STAGE 0
#define FINISH 1
chan tensor = [QUEUE] of { byte, byte };

#define NEXT(n) ((n + 1) % 4)
/* The hardware's test for phase n, told by parity; and what the program means by it. */
#define PASSES(b, n) ((b.lap % 2) != (n % 2))
#define MEANT(b, n) (b.lap == NEXT(n))

inline settle(b) {
  if
  :: b.missing == 0 && b.bytes == 0 -> b.lap = NEXT(b.lap); b.missing = b.arrivals
  :: else
  fi
}
inline arrive(b) {
  assert(b.missing > 0);
  b.missing--;
  settle(b)
}

init {
  byte i = 0;
  d_step {
    do
    :: i < STAGES ->
       filled[i].arrivals = 1; filled[i].missing = 1;
       vacant[i].arrivals = 1; vacant[i].missing = 1;
       i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < ACCUMS ->
       done[i].arrivals = 1; done[i].missing = 1;
       freed[i].arrivals = READERS; freed[i].missing = READERS;
       i++
    :: else -> break
    od;
    i = 0
  }
  atomic {
    do
    :: i < STAGES -> run copies(i); i++
    :: else -> break
    od;
    ready = true
  }
}

active proctype load() {
  byte stage = 0, lap = 3;  /* the phase before the first: 3 modulo 4 */
#if TILES > 0
  short left = TILES * STEPS;
#endif
  ready;
end_load:
  do
#if TILES > 0
  :: left == 0 -> break
  :: left > 0 ->
#else
  :: true ->
#endif
     atomic { PASSES(vacant[stage], lap) -> assert(MEANT(vacant[stage], lap)) }
     atomic { filled[stage].bytes = filled[stage].bytes + LOADS; arrive(filled[stage]) }
     atomic {
       issued[stage] = issued[stage] + LOADS;
       stage++;
       if
       :: stage == STAGES -> stage = 0; lap = NEXT(lap)
       :: else
       fi;
#if TILES > 0
       left--
#endif
     }
  od
}

/* The copies of one stage land in any order with those of the others. */
proctype copies(byte s) {
end_copies:
  do
  :: atomic { issued[s] > 0 -> issued[s]--; filled[s].bytes--; settle(filled[s]) }
  od
}

active proctype mma() {
  byte stage = 0, lap = 0, accum = 0, accum_lap = 3, step = 0;
#if TILES > 0
  byte tiles = TILES;
#endif
  ready;
end_mma:
  do
#if TILES > 0
  :: tiles == 0 -> break
  :: tiles > 0 ->
#else
  :: true ->
#endif
     atomic { PASSES(freed[accum], accum_lap) -> assert(MEANT(freed[accum], accum_lap)) }
     step = 0;
     do
     :: step == STEPS -> break
     :: step < STEPS ->
        atomic { PASSES(filled[stage], lap) -> assert(MEANT(filled[stage], lap)) }
        atomic {
          tensor!FREE_STAGE, stage;
          stage++;
          step++;
          if
          :: stage == STAGES -> stage = 0; lap = NEXT(lap)
          :: else
          fi
        }
     od;
     atomic {
       tensor!FINISH, accum;
       accum++;
       if
       :: accum == ACCUMS -> accum = 0; accum_lap = NEXT(accum_lap)
       :: else
       fi;
#if TILES > 0
       tiles--
#endif
     }
  od
}

active proctype tensor_core() {
  byte n;
end_tensor:
  do
  :: atomic { tensor?FREE_STAGE, n -> arrive(vacant[n]); n = 0 }
  :: atomic { tensor?FINISH, n -> arrive(done[n]); n = 0 }
  od
}

active [READERS] proctype epilogue() {
  byte accum = 0, lap = 0;
#if TILES > 0
  byte tiles = TILES;
#endif
  ready;
end_epilogue:
  do
#if TILES > 0
  :: tiles == 0 -> break
  :: tiles > 0 ->
#else
  :: true ->
#endif
     atomic { PASSES(done[accum], lap) -> assert(MEANT(done[accum], lap)) }
     atomic {
       arrive(freed[accum]);
       accum++;
       if
       :: accum == ACCUMS -> accum = 0; lap = NEXT(lap)
       :: else
       fi;
#if TILES > 0
       tiles--
#endif
     }
  od
}
