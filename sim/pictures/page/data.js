// What the page shows, unpacked: texts, and columns of numbers, deflated and in base64, as
// payload.cpp packs them.
'use strict';

const KIND = {operation: 0, wait: 1, async: 2, phase: 3, path: 4};
const TRACK = {warp: 0, unit: 1, barrier: 2, counter: 3, path: 4};
const FLOW = {arrival: 0, data: 1, issue: 2};
const NONE = 0xffffffff;

async function inflate(text) {
  const packed = await fetch('data:application/octet-stream;base64,' + text);
  return new Response(packed.body.pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
}

class Run {
  static async of(info) {
    const [words, texts] = await Promise.all([inflate(info.words), inflate(info.texts)]);
    return new Run(info, new Uint32Array(words), new TextDecoder().decode(texts).split('\0'));
  }
  constructor(info, words, texts) {
    for (const name of ['title', 'ending', 'clock', 'start', 'end', 'notes', 'counted', 'marks']) {
      this[name] = info[name];
    }
    this.texts = texts;
    let at = 0;
    const columns = (rows, count) => d3.range(count).map(() => words.subarray(at, at += rows));
    this.takeTracks(info.rows, columns);
    this.takeSlices(info.rows, columns);
    this.takeFlows(columns(info.rows.flows, 3));
    this.takeSamples(columns(info.rows.samples, 2));
  }

  takeTracks(rows, columns) {
    const {texts} = this;
    const [kind, name, short, label, role, unit, group, hue, first, count, rings] = columns(rows.tracks, 11);
    const [stageName, full, empty] = columns(rows.stages, 3);
    this.tracks = Array.from(kind, (_, i) => ({kind: kind[i], name: texts[name[i]], short: texts[short[i]],
      label: texts[label[i]], role: texts[role[i]], unit: texts[unit[i]], group: texts[group[i]], hue: hue[i],
      first: rings[i] ? 0 : first[i], count: count[i],
      stages: rings[i] ? d3.range(first[i], first[i] + rings[i])
        .map((stage) => ({name: texts[stageName[stage]], full: full[stage], empty: empty[stage]})) : null}));
    [this.order] = columns(rows.order, 1);
    this.kindColumns = columns(rows.kinds, 9);
    this.kinds = [];
  }

  takeSlices(rows, columns) {
    const n = rows.slices;
    const [gap, length, what, phase] = columns(n, 4);
    this.what = what;
    this.phase = phase;
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
    const [kinds] = this.kindColumns;
    for (let i = 0; i < n; ++i) {
      const wait = kinds[what[i]] === KIND.wait;
      this.busySum[i + 1] = this.busySum[i] + (wait ? 0 : length[i]);
      this.waitSum[i + 1] = this.waitSum[i] + (wait ? length[i] : 0);
    }
  }

  takeFlows([fromGap, to, kind]) {
    this.flowTo = to;
    this.flowKind = kind;
    this.flowFrom = new Uint32Array(fromGap.length);
    for (let i = 0, from = 0; i < fromGap.length; ++i) {
      from += fromGap[i];
      this.flowFrom[i] = from;
    }
    // By where they lead to: counted, not compared, because there are many.
    const starts = new Uint32Array(this.what.length + 1);
    for (const slice of to) {
      ++starts[slice + 1];
    }
    for (let i = 0; i < this.what.length; ++i) {
      starts[i + 1] += starts[i];
    }
    this.toStarts = starts.slice();
    this.byTo = new Uint32Array(to.length);
    to.forEach((slice, flow) => { this.byTo[starts[slice]++] = flow; });
  }

  takeSamples([gap, bits]) {
    const values = new Float32Array(bits.buffer, bits.byteOffset, bits.length);
    for (const track of this.tracks) {
      if (track.kind === TRACK.counter) {
        track.times = [];
        track.values = [];
        let time = 0;
        for (let i = track.first; i < track.first + track.count; ++i) {
          time += gap[i];
          track.times.push(time);
          track.values.push(values[i]);
        }
        track.most = track.unit === '%' ? 100 : Math.max(1, d3.max(track.values) || 0);
      }
    }
  }

  // What it has in common with others, read when it is first asked for.
  kindOf(slice) {
    const number = this.what[slice];
    if (!this.kinds[number]) {
      const [kind, name, object, site, barrier, bytes, count, unfinished, part] =
        this.kindColumns.map((column) => column[number]);
      this.kinds[number] = {kind, name: this.texts[name], object: this.texts[object], site: this.texts[site], barrier,
        bytes, count, unfinished: unfinished === 1, part};
    }
    return this.kinds[number];
  }
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
  flowsTo(slice) { return [...this.byTo.subarray(this.toStarts[slice], this.toStarts[slice + 1])]; }
  // Of each barrier that is waited for, how often and how long.
  waitsByBarrier() {
    const waits = new Map();
    const [kinds, , , , barriers] = this.kindColumns;
    for (let i = 0; i < this.what.length; ++i) {
      const barrier = barriers[this.what[i]];
      if (kinds[this.what[i]] !== KIND.wait || barrier === NONE) {
        continue;
      }
      const sum = waits.get(barrier) || {count: 0, time: 0};
      ++sum.count;
      sum.time += this.finish[i] - this.begin[i];
      waits.set(barrier, sum);
    }
    return waits;
  }
  // The waits for a barrier, in the order of time.
  waitsOf(barrier) {
    const found = [];
    const [kinds, , , , barriers] = this.kindColumns;
    for (let i = 0; i < this.what.length; ++i) {
      if (kinds[this.what[i]] === KIND.wait && barriers[this.what[i]] === barrier) {
        found.push(i);
      }
    }
    return found.sort((a, b) => this.begin[a] - this.begin[b] || a - b);
  }
}
