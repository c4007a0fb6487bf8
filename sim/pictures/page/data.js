// What the page shows, unpacked: columns of numbers, deflated and in base64, as payload.cpp packs
// them.
'use strict';

const KIND = {operation: 0, wait: 1, async: 2, phase: 3, path: 4};
const TRACK = {warp: 0, unit: 1, barrier: 2, counter: 3, path: 4};
const FLOW = {arrival: 0, data: 1, issue: 2};
const NONE = 0xffffffff;

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint32Array(await new Response(stream).arrayBuffer());
}

class Run {
  constructor(info, words) {
    Object.assign(this, info);
    let at = 0;
    const take = (count) => words.subarray(at, at += count);
    const n = info.slices;
    const gap = take(n);
    const length = take(n);
    this.what = take(n);
    this.phase = take(n);
    this.begin = new Float64Array(n);
    this.finish = new Float64Array(n);
    // Sums in front of each slice: what is left out at a zoom is still counted.
    this.busySum = new Float64Array(n + 1);
    this.waitSum = new Float64Array(n + 1);
    this.sliceTrack = new Uint32Array(n);
    for (let t = 0; t < this.tracks.length; ++t) {
      const track = this.tracks[t];
      if (track.kind === TRACK.counter) {
        continue;  // its place is among the samples
      }
      let time = 0;
      for (let i = track.first; i < track.first + track.count; ++i) {
        time += gap[i];
        this.begin[i] = time;
        this.finish[i] = time + length[i];
        this.sliceTrack[i] = t;
      }
    }
    for (let i = 0; i < n; ++i) {
      const wait = this.kinds[this.what[i]].kind === KIND.wait;
      this.busySum[i + 1] = this.busySum[i] + (wait ? 0 : length[i]);
      this.waitSum[i + 1] = this.waitSum[i] + (wait ? length[i] : 0);
    }
    const m = info.flows;
    const fromGap = take(m);
    this.flowTo = take(m);
    this.flowKind = take(m);
    this.flowFrom = new Uint32Array(m);
    for (let i = 0, from = 0; i < m; ++i) {
      from += fromGap[i];
      this.flowFrom[i] = from;
    }
    this.byTo = Uint32Array.from(this.flowTo.keys());
    this.byTo.sort((a, b) => this.flowTo[a] - this.flowTo[b] || a - b);
    const sampleWords = take(2 * info.samples);
    const values = new Float32Array(sampleWords.buffer, sampleWords.byteOffset, sampleWords.length);
    for (const track of this.tracks) {
      if (track.kind === TRACK.counter) {
        track.times = [];
        track.values = [];
        let time = 0;
        for (let i = track.first; i < track.first + track.count; ++i) {
          time += sampleWords[2 * i];
          track.times.push(time);
          track.values.push(values[2 * i + 1]);
        }
        track.most = track.unit === '%' ? 100 : Math.max(1, ...track.values);
      }
    }
  }

  kindOf(slice) { return this.kinds[this.what[slice]]; }
  titleOf(slice) {
    const kind = this.kindOf(slice);
    return kind.kind === KIND.wait && kind.barrier !== NONE ? 'wait ' + this.tracks[kind.barrier].name
      : kind.kind === KIND.phase ? 'phase ' + this.phase[slice] : kind.name;
  }
  unit(value) { return value + ' ' + this.clock + (value === 1 ? '' : 's'); }

  // The first slice of a track that ends after `time`.
  firstAfter(track, time) {
    let low = track.first;
    let high = track.first + track.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.finish[middle] > time || (this.finish[middle] === time && this.begin[middle] === time)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  // Flows from a slice, and to it, as indices.
  flowsFrom(slice) {
    const found = [];
    let low = 0;
    let high = this.flowFrom.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      this.flowFrom[middle] < slice ? low = middle + 1 : high = middle;
    }
    for (; low < this.flowFrom.length && this.flowFrom[low] === slice; ++low) {
      found.push(low);
    }
    return found;
  }
  flowsTo(slice) {
    const found = [];
    let low = 0;
    let high = this.byTo.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      this.flowTo[this.byTo[middle]] < slice ? low = middle + 1 : high = middle;
    }
    for (; low < this.byTo.length && this.flowTo[this.byTo[low]] === slice; ++low) {
      found.push(this.byTo[low]);
    }
    return found;
  }
  // The waits for a barrier, in the order of time.
  waitsOf(barrier) {
    const found = [];
    const wanted = this.kinds.map((kind) => kind.kind === KIND.wait && kind.barrier === barrier);
    for (let i = 0; i < this.what.length; ++i) {
      if (wanted[this.what[i]]) {
        found.push(i);
      }
    }
    return found.sort((a, b) => this.begin[a] - this.begin[b] || a - b);
  }
}
