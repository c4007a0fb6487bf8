// A run on a canvas: every track a row, zoomed by wheel, drag and keys. What is narrower than a
// pixel is drawn as the share of the pixel that it takes.
'use strict';

const ROW = {[TRACK.warp]: 20, [TRACK.unit]: 14, [TRACK.barrier]: 14, [TRACK.counter]: 26, [TRACK.path]: 18};
const LABELS = 190;
const AXIS = 24;
const HEAD = 22;
const PRINTED = 2400;  // pixels of rows, at most

class Timeline {
  constructor(run, colours, place, share = 0.62) {
    this.run = run;
    this.share = share;  // of the window's height
    this.colours = colours;
    this.selected = -1;
    this.marked = [];  // slices that are pointed at: the waits of a barrier
    this.cursor = null;
    this.closed = new Set();
    this.scroll = 0;
    this.listeners = [];
    this.box = d3.select(place).append('div').attr('class', 'canvas');
    this.canvas = this.box.append('canvas').attr('tabindex', 0).attr('role', 'application')
      .attr('aria-roledescription', 'timeline')
      .attr('aria-label', run.title + ': ' + run.counted + '. Arrow keys select slices, which are then described.').node();
    this.tip = this.box.append('div').attr('class', 'tip');
    this.context = this.canvas.getContext('2d', {alpha: false});
    this.layOut();
    this.zoom = d3.zoom().scaleExtent([1, Math.max(2, run.end / 4)])
      .filter(() => !d3.event.button && !(d3.event.type === 'wheel' && !d3.event.ctrlKey && d3.event.shiftKey))
      .on('zoom', () => this.zoomed());
    d3.select(this.canvas).call(this.zoom).on('dblclick.zoom', null);
    this.canvas.addEventListener('mousemove', (event) => this.hover(event));
    this.canvas.addEventListener('mouseleave', () => this.tip.style('display', 'none'));
    this.canvas.addEventListener('click', (event) => this.click(event));
    this.canvas.addEventListener('wheel', (event) => {
      if (event.shiftKey) {
        this.scrollBy(event.deltaY || event.deltaX);
        event.preventDefault();
      }
    }, {passive: false});
    new ResizeObserver(() => this.resize()).observe(this.box.node());
    this.resize();
  }

  on(name, listener) { this.listeners.push({name, listener}); }
  tell(name, value) {
    for (const one of this.listeners) {
      if (one.name === name) {
        one.listener(value);
      }
    }
  }

  // Rows from the top: a head for each group, then its tracks.
  layOut() {
    this.rows = [];
    let y = 0;
    let group = null;
    this.run.order.forEach((index) => {
      const track = this.run.tracks[index];
      if (track.group !== group) {
        group = track.group;
        this.rows.push({head: group, y, height: HEAD});
        y += HEAD;
      }
      if (this.closed.has(group)) {
        return;
      }
      for (const stage of track.stages || []) {
        this.rows.push({stage, track: index, y, height: 12});
        y += 12;
      }
      if (!track.stages) {
        this.rows.push({track: index, y, height: ROW[track.kind]});
        y += ROW[track.kind];
      }
    });
    this.tall = y;
    this.rowOf = new Map(this.rows.filter((row) => row.track !== undefined && !row.stage)
      .map((row) => [row.track, row]));
  }

  resize() {
    const width = this.box.node().clientWidth;
    this.height = Math.min(this.tall + AXIS + 4,
      matchMedia('print').matches ? PRINTED : Math.max(300, window.innerHeight * this.share));
    const ratio = window.devicePixelRatio || 1;
    if (width === this.width && this.canvas.height === Math.round(this.height * ratio)) {
      return;
    }
    this.width = width;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = this.height + 'px';
    this.plot = Math.max(50, width - LABELS);
    this.base = d3.scaleLinear().domain([this.run.start, Math.max(this.run.end, this.run.start + 1)]).range([LABELS, width - 6]);
    this.zoom.extent([[LABELS, 0], [width - 6, this.height]])
      .translateExtent([[LABELS, 0], [width - 6, this.height]]);
    this.x = d3.zoomTransform(this.canvas).rescaleX(this.base);
    this.draw();
  }

  zoomed() {
    this.x = d3.event.transform.rescaleX(this.base);
    this.tell('zoom', d3.event);
    this.later();
  }
  // From another timeline that is zoomed with this one.
  follow(transform) {
    this.canvas.__zoom = transform;
    this.x = transform.rescaleX(this.base);
    this.later();
  }
  later() {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }
  }

  // Shows [from, to] of time.
  show(from, to) {
    const [low, high] = this.base.domain();
    const scale = Math.min((high - low) / Math.max(to - from, 1e-9), this.zoom.scaleExtent()[1]);
    const middle = this.base((from + to) / 2);
    d3.select(this.canvas).call(this.zoom.transform,
      d3.zoomIdentity.translate(LABELS + this.plot / 2 - middle * scale, 0).scale(scale));
  }
  showSlice(slice) {
    const run = this.run;
    const [low, high] = this.x.domain();
    const span = high - low;
    const length = Math.max(run.finish[slice] - run.begin[slice], 1);
    if (length * 400 < span || length > span || run.begin[slice] < low || run.finish[slice] > high) {
      const wide = Math.max(length * 12, Math.min(span, length * 60));
      const middle = (run.begin[slice] + run.finish[slice]) / 2;
      this.show(middle - wide / 2, middle + wide / 2);
    }
    this.reveal(run.sliceTrack[slice]);
    this.later();
  }
  // Its row, and what was done there, as what is selected.
  showMark(mark) {
    if (mark.track !== NONE) {
      this.reveal(mark.track);
      const track = this.run.tracks[mark.track];
      // In steps an operation begins at its time, in cycles it ends then.
      const time = this.run.clock === 'step' ? mark.time : mark.time - 0.5;
      const slice = Math.min(this.run.firstAfter(track, time), track.first + track.count - 1);
      if (track.count) {
        this.select(slice, false);
      }
    }
    this.later();
  }
  reveal(track) {
    const group = this.run.tracks[track].group;
    if (this.closed.delete(group)) {
      this.layOut();
    }
    const row = this.rowOf.get(track);
    if (row && (row.y < this.scroll || row.y + row.height > this.scroll + this.height - AXIS)) {
      this.scroll = Math.max(0, Math.min(row.y - this.height / 3, this.tall - this.height + AXIS));
    }
  }
  scrollBy(pixels) {
    this.scroll = Math.max(0, Math.min(this.scroll + pixels, this.tall - this.height + AXIS + 4));
    this.later();
  }
  zoomBy(factor) { d3.select(this.canvas).call(this.zoom.scaleBy, factor); }
  moveBy(share) {
    const scale = d3.zoomTransform(this.canvas).k;
    d3.select(this.canvas).call(this.zoom.translateBy, -share * this.plot / scale, 0);
  }
  all() { d3.select(this.canvas).call(this.zoom.transform, d3.zoomIdentity); }

  select(slice, show = true) {
    this.selected = slice;
    if (slice >= 0 && show) {
      this.showSlice(slice);
    }
    this.tell('select', slice);
    this.later();
  }
  // The slice before or behind the one that is selected, on its track; where none is, the first.
  step(by) {
    const track = this.selected < 0 ? null : this.run.tracks[this.run.sliceTrack[this.selected]];
    const next = this.selected + by;
    if (!track) {
      this.stepRow(1);
    } else if (next >= track.first && next < track.first + track.count) {
      this.select(next);
    }
  }
  // The slice of the same time on the next track above or below that has slices.
  stepRow(by) {
    const {run} = this;
    const rows = this.rows.filter((row) => row.track !== undefined && !row.stage &&
      run.tracks[row.track].kind !== TRACK.counter && run.tracks[row.track].count);
    const at = this.selected < 0 ? -1 : rows.findIndex((row) => row.track === run.sliceTrack[this.selected]);
    const row = rows[Math.max(at + by, 0)];
    if (row) {
      const track = run.tracks[row.track];
      const time = this.selected < 0 ? -1 : run.begin[this.selected];
      this.select(Math.min(run.firstAfter(track, time), track.first + track.count - 1));
    }
  }

  key(event) {
    const actions = {
      w: () => this.zoomBy(1.6), s: () => this.zoomBy(1 / 1.6), a: () => this.moveBy(-0.2), d: () => this.moveBy(0.2),
      '+': () => this.zoomBy(1.6), '-': () => this.zoomBy(1 / 1.6), '0': () => this.all(),
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      ArrowUp: () => this.stepRow(-1), ArrowDown: () => this.stepRow(1),
      PageUp: () => this.scrollBy(-this.height / 2), PageDown: () => this.scrollBy(this.height / 2),
      r: () => this.tell('follow', 'to'), f: () => this.tell('follow', 'from'), Escape: () => this.select(-1),
    };
    const action = actions[event.key];
    if (action && !event.ctrlKey && !event.metaKey && !event.altKey) {
      action();
      event.preventDefault();
    }
  }

  rowAt(y) {
    const at = y - AXIS + this.scroll;
    return y < AXIS ? null : this.rows.find((row) => at >= row.y && at < row.y + row.height) || null;
  }
  sliceAt(event) {
    const row = this.rowAt(event.offsetY);
    if (!row || row.track === undefined || row.stage || event.offsetX < LABELS) {
      return -1;
    }
    const track = this.run.tracks[row.track];
    if (track.kind === TRACK.counter) {
      return -1;
    }
    const pixel = this.x.invert(event.offsetX + 1) - this.x.invert(event.offsetX);
    const time = this.x.invert(event.offsetX);
    const last = track.first + track.count;
    let best = -1;
    for (let i = this.run.firstAfter(track, time - 2 * pixel); i < last && this.run.begin[i] <= time + 2 * pixel; ++i) {
      const far = Math.max(this.run.begin[i] - time, time - this.run.finish[i], 0);
      if (best < 0 || far < best.far) {
        best = {i, far};
      }
      if (far === 0 && this.run.finish[i] > this.run.begin[i]) {
        return i;
      }
    }
    return best < 0 ? -1 : best.i;
  }
  click(event) {
    const row = this.rowAt(event.offsetY);
    this.canvas.focus({preventScroll: true});
    if (row && row.head) {
      this.closed.has(row.head) ? this.closed.delete(row.head) : this.closed.add(row.head);
      this.layOut();
      this.scrollBy(0);
      return;
    }
    this.select(this.sliceAt(event), false);
  }
  hover(event) {
    const slice = this.sliceAt(event);
    const row = this.rowAt(event.offsetY);
    let text = '';
    if (slice >= 0) {
      const run = this.run;
      text = run.titleOf(slice) + ': ' + run.unit(run.finish[slice] - run.begin[slice]) + ' from ' + run.begin[slice];
    } else if (row && row.track !== undefined && this.run.tracks[row.track].kind === TRACK.counter && event.offsetX > LABELS) {
      const track = this.run.tracks[row.track];
      const at = d3.bisectRight(track.times, this.x.invert(event.offsetX)) - 1;
      text = track.name + ': ' + d3.format(',.4~r')(at < 0 ? 0 : track.values[at]) + ' ' + track.unit;
    } else if (row && row.track !== undefined) {
      text = this.run.tracks[row.track].label;
    }
    this.tip.style('display', text ? 'block' : 'none').text(text)
      .style('left', Math.min(event.offsetX + 12, this.width - 200) + 'px').style('top', event.offsetY + 16 + 'px');
  }

  // --- Drawing --------------------------------------------------------------------------------------

  draw() {
    const c = this.context;
    const ratio = window.devicePixelRatio || 1;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = this.colours.paper;
    c.fillRect(0, 0, this.width, this.height);
    this.drawn = 0;
    for (const row of this.rows) {
      const y = row.y - this.scroll + AXIS;
      if (y + row.height < AXIS || y > this.height) {
        continue;
      }
      if (row.head) {
        this.drawHead(row, y);
        continue;
      }
      const track = this.run.tracks[row.track];
      if (row.stage) {
        this.drawStage(row.stage, y, row.height);
      } else if (track.kind === TRACK.counter) {
        this.drawCounter(track, y, row.height);
      } else {
        this.drawSlices(track, y, row.height);
      }
      this.drawLabel(row.stage ? row.stage.name : track.short, y, row.height, row.stage ? '' : track.role);
    }
    this.drawFlows();
    this.drawMarks();
    this.drawAxis();
    this.drawScroll();
    this.tell('drawn', this.drawn);
  }

  // How much of the rows is shown.
  drawScroll() {
    const shown = this.height - AXIS;
    const below = this.rows.filter((row) => row.y - this.scroll + AXIS > this.height).length;
    if (below && matchMedia('print').matches) {
      this.context.fillStyle = this.colours.ink;
      this.context.font = '600 12px system-ui, "DejaVu Sans", sans-serif';
      this.context.fillText(below + ' more rows are not printed', 8, this.height - 10);
    } else if (this.tall > shown) {
      this.context.fillStyle = this.colours.faint;
      this.context.fillRect(this.width - 5, AXIS + this.scroll / this.tall * shown, 4, Math.max(shown / this.tall * shown, 12));
    }
  }

  drawHead(row, y) {
    const c = this.context;
    c.fillStyle = this.colours.hover;
    c.fillRect(0, y, this.width, row.height - 1);
    c.fillStyle = this.colours.ink;
    c.font = '600 12px system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    c.fillText((this.closed.has(row.head) ? '▸ ' : '▾ ') + row.head, 8, y + row.height / 2);
  }
  drawLabel(text, y, height, role) {
    const c = this.context;
    c.fillStyle = this.colours.paper;
    c.fillRect(0, y, LABELS - 2, height);
    c.textBaseline = 'middle';
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.fillStyle = this.colours.soft;
    const whole = role ? role + ' · ' + text : text;
    let shown = whole;
    while (shown.length > 4 && c.measureText(shown).width > LABELS - 24) {
      shown = shown.slice(0, -2) + (shown.endsWith('…') ? '' : '…');
      shown = shown.replace(/…+$/, '…');
    }
    c.fillText(shown, 16, y + height / 2);
  }

  colourOf(kind) {
    if (kind.kind === KIND.wait) {
      return kind.barrier === NONE ? this.colours.faint : this.run.tracks[kind.barrier].colour;
    }
    return kind.kind === KIND.path ? this.colours.path[kind.part % this.colours.path.length]
      : kind.kind === KIND.phase ? this.run.tracks[kind.barrier].colour
      : kind.kind === KIND.async ? this.colours.async : this.colours.operation;
  }

  // From pixel to pixel: of what begins and ends in one, the shares of waiting and working.
  drawSlices(track, y, height) {
    const run = this.run;
    const c = this.context;
    const from = this.x.invert(LABELS);
    const perPixel = this.x.invert(LABELS + 1) - from;
    const last = track.first + track.count;
    const top = y + 2;
    const tall = height - 4;
    let i = run.firstAfter(track, from);
    while (i < last) {
      const begin = this.x(run.begin[i]);
      if (begin > this.width) {
        break;
      }
      const end = this.x(run.finish[i]);
      ++this.drawn;
      if (end - begin >= 1.5 || perPixel < 0.05) {
        this.drawSlice(i, Math.max(begin, LABELS), Math.max(Math.min(end, this.width), begin + 1), top, tall);
        ++i;
        continue;
      }
      // Everything up to the end of this pixel, as one.
      const left = Math.max(Math.floor(begin), LABELS);
      const right = this.x.invert(left + 1);
      let next = i + 1;
      let step = 1;
      while (next + step < last && run.begin[next + step] < right) {
        next += step;
        step *= 2;
      }
      for (; step >= 1; step = step >> 1) {
        while (next + step < last && run.begin[next + step] < right) {
          next += step;
        }
      }
      next = next < last && run.begin[next] < right ? next + 1 : next;
      // The last one may go on: it is drawn by itself.
      next = next - 1 > i && run.finish[next - 1] > right + perPixel ? next - 1 : next;
      const worked = run.busySum[next] - run.busySum[i];
      const waited = run.waitSum[next] - run.waitSum[i];
      const share = Math.min(1, Math.max(0.25, (worked + waited) / perPixel));
      c.globalAlpha = share;
      c.fillStyle = waited > worked ? this.colourOf(run.kindOf(this.longestWait(i, next))) : this.colourOf(run.kindOf(i));
      c.fillRect(left, top, 1, tall);
      c.globalAlpha = 1;
      i = next;
    }
  }
  longestWait(from, to) {
    let best = from;
    const last = Math.min(to, from + 64);
    for (let i = from; i < last; ++i) {
      if (this.run.kindOf(i).kind === KIND.wait &&
          (this.run.kindOf(best).kind !== KIND.wait ||
           this.run.finish[i] - this.run.begin[i] > this.run.finish[best] - this.run.begin[best])) {
        best = i;
      }
    }
    return best;
  }
  drawSlice(i, begin, end, top, tall) {
    const c = this.context;
    const kind = this.run.kindOf(i);
    const colour = this.colourOf(kind);
    const width = Math.max(end - begin - (end - begin > 4 ? 1 : 0), 1);
    c.fillStyle = colour;
    const faint = kind.kind === KIND.phase ? (this.run.phase[i] % 2 ? 0.75 : 0.4) : 1;
    c.globalAlpha = faint;
    c.fillRect(begin, top, width, tall);
    c.globalAlpha = 1;
    if (kind.kind === KIND.wait && width > 3) {
      c.fillStyle = this.hatch();
      c.fillRect(begin, top, width, tall);
    }
    if (kind.unfinished && width > 2) {
      c.strokeStyle = this.colours.wrong;
      c.lineWidth = 2;
      c.setLineDash([4, 3]);
      c.strokeRect(begin + 1, top + 1, width - 2, tall - 2);
      c.setLineDash([]);
    }
    if (width > 34) {
      const text = this.run.titleOf(i);
      c.font = '11px system-ui, "DejaVu Sans", sans-serif';
      c.textBaseline = 'middle';
      const room = width - 8;
      const wide = c.measureText(text).width;
      const shown = wide <= room ? text : text.slice(0, Math.floor(text.length * room / wide) - 1) + '…';
      if (shown.length > 2) {
        if (kind.kind === KIND.wait) {
          c.fillStyle = colour;
          c.fillRect(begin + 3, top + 1, Math.min(wide, room) + 3, tall - 2);
        }
        c.fillStyle = contrast(d3.interpolateRgb(this.colours.paper, colour)(faint));
        c.fillText(shown, begin + 4, top + tall / 2 + 0.5);
      }
    }
  }
  hatch() {
    if (!this.pattern) {
      const tile = document.createElement('canvas');
      tile.width = tile.height = 6;
      const t = tile.getContext('2d');
      t.strokeStyle = this.colours.hatch;
      t.globalAlpha = 0.5;
      t.lineWidth = 1.4;
      t.beginPath();
      for (const shift of [-6, 0, 6]) {
        t.moveTo(shift, 6);
        t.lineTo(shift + 6, 0);
      }
      t.stroke();
      this.pattern = this.context.createPattern(tile, 'repeat');
    }
    return this.pattern;
  }

  drawCounter(track, y, height) {
    const c = this.context;
    const {times, values} = track;
    const high = (value) => y + height - 3 - (height - 6) * Math.max(0, Math.min(1, value / track.most));
    let i = Math.max(0, d3.bisectRight(times, this.x.invert(LABELS)) - 1);
    c.beginPath();
    c.moveTo(LABELS, y + height - 3);
    let value = i < values.length && times[i] <= this.x.invert(LABELS) ? values[i] : 0;
    c.lineTo(LABELS, high(value));
    for (; i < times.length; ++i) {
      let x = Math.max(this.x(times[i]), LABELS);
      if (x > this.width) {
        break;
      }
      ++this.drawn;
      let most = values[i];
      const pixel = this.x.invert(x + 1);
      while (i + 1 < times.length && times[i + 1] < pixel) {
        most = Math.max(most, values[++i]);
      }
      c.lineTo(x, high(value));
      c.lineTo(x, high(most));
      value = values[i];
      c.lineTo(x, high(value));
    }
    c.lineTo(this.x(this.run.end) > this.width ? this.width : this.x(this.run.end), high(value));
    c.lineTo(Math.min(this.width, this.x(this.run.end)), y + height - 3);
    c.closePath();
    c.fillStyle = this.colours.counter;
    c.globalAlpha = 0.45;
    c.fill();
    c.globalAlpha = 1;
    c.strokeStyle = this.colours.counter;
    c.lineWidth = 1;
    c.stroke();
  }

  // A stage: full from its full barrier's phase to the same one of its empty barrier, else empty.
  drawStage(stage, y, height) {
    const c = this.context;
    const run = this.run;
    const full = run.tracks[stage.full];
    const empty = run.tracks[stage.empty];
    c.fillStyle = this.colours.line;
    c.fillRect(LABELS, y + 2, this.width - LABELS, height - 4);
    if (!full) {
      return;
    }
    let i = Math.max(full.first, run.firstAfter(full, this.x.invert(LABELS)) - 1);
    let lastPixel = -1;
    for (; i < full.first + full.count; ++i) {
      const from = Math.max(this.x(run.finish[i]), LABELS);
      if (from > this.width) {
        break;
      }
      const at = empty && empty.count ? empty.first + (run.phase[i] - run.phase[empty.first]) : NONE;
      const freed = at !== NONE && at >= empty.first && at < empty.first + empty.count;
      const until = freed ? run.finish[at] : run.end;
      const to = Math.min(this.x(until), this.width);
      if (to < LABELS || Math.floor(to) === lastPixel) {
        continue;
      }
      lastPixel = Math.floor(to);
      ++this.drawn;
      c.fillStyle = full.colour;
      c.fillRect(from, y + 2, Math.max(to - from, 1), height - 4);
    }
  }

  drawFlows() {
    if (this.selected < 0) {
      return;
    }
    for (const flow of this.run.flowsTo(this.selected)) {
      this.arrow(this.run.flowFrom[flow], this.selected, this.run.flowKind[flow]);
    }
    for (const flow of this.run.flowsFrom(this.selected)) {
      this.arrow(this.selected, this.run.flowTo[flow], this.run.flowKind[flow]);
    }
  }
  place(slice, at) {
    const row = this.rowOf.get(this.run.sliceTrack[slice]);
    return row ? [this.x(at), row.y - this.scroll + AXIS + row.height / 2] : null;
  }
  arrow(from, to, kind) {
    const c = this.context;
    const a = this.place(from, this.run.finish[from]);
    const b = this.place(to, kind === FLOW.arrival ? this.run.finish[to] : this.run.begin[to]);
    if (!a || !b) {
      return;
    }
    c.save();
    c.beginPath();
    c.rect(LABELS, AXIS, this.width, this.height);
    c.clip();
    c.strokeStyle = this.colours.ink;
    c.lineWidth = kind === FLOW.arrival ? 2 : 1.3;
    c.setLineDash(kind === FLOW.arrival ? [] : kind === FLOW.data ? [6, 3] : [2, 3]);
    const bend = Math.max(14, Math.abs(b[0] - a[0]) / 3);
    c.beginPath();
    c.moveTo(a[0], a[1]);
    c.bezierCurveTo(a[0] + bend, a[1], b[0] - bend, b[1], b[0], b[1]);
    c.stroke();
    c.setLineDash([]);
    c.fillStyle = this.colours.ink;
    c.beginPath();
    c.moveTo(b[0], b[1]);
    c.lineTo(b[0] - 7, b[1] - 4);
    c.lineTo(b[0] - 7, b[1] + 4);
    c.fill();
    c.restore();
  }
  outline(slice, colour, width) {
    const row = this.rowOf.get(this.run.sliceTrack[slice]);
    if (!row) {
      return;
    }
    const c = this.context;
    const from = Math.max(this.x(this.run.begin[slice]), LABELS);
    const to = Math.min(this.x(this.run.finish[slice]), this.width);
    if (to < LABELS || from > this.width) {
      return;
    }
    const y = row.y - this.scroll + AXIS;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.strokeRect(from - 1, y + 1, Math.max(to - from, 3) + 1, row.height - 2);
  }
  drawMarks() {
    for (const slice of this.marked.slice(0, 4000)) {
      this.outline(slice, this.colours.ink, 1.5);
    }
    if (this.selected >= 0) {
      this.outline(this.selected, this.colours.link, 3);
    }
    const c = this.context;
    for (const mark of this.run.marks) {
      this.upright(mark.time, this.colours.wrong, mark.name, []);
      const row = this.rowOf.get(mark.track);
      const x = this.x(mark.time);
      if (row && x >= LABELS) {
        const y = row.y - this.scroll + AXIS + row.height / 2;
        c.fillStyle = this.colours.wrong;
        c.beginPath();
        c.moveTo(x, y - 8);
        c.lineTo(x + 8, y);
        c.lineTo(x, y + 8);
        c.lineTo(x - 8, y);
        c.fill();
      }
    }
    if (this.cursor !== null) {
      this.upright(this.cursor, this.colours.link, '', []);
    }
  }
  upright(time, colour, text, dash) {
    const x = this.x(time);
    if (x < LABELS || x > this.width) {
      return;
    }
    const c = this.context;
    c.strokeStyle = colour;
    c.lineWidth = 1.5;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(x, AXIS);
    c.lineTo(x, this.height);
    c.stroke();
    c.setLineDash([]);
    if (text) {
      c.font = '600 11px system-ui, "DejaVu Sans", sans-serif';
      const wide = c.measureText(text).width + 8;
      const left = Math.min(x, this.width - wide - 4);
      c.fillStyle = colour;
      c.fillRect(left, this.height - 18, wide, 16);
      c.fillStyle = this.colours.paper;
      c.textBaseline = 'middle';
      c.fillText(text, left + 4, this.height - 10);
    }
  }
  drawAxis() {
    const c = this.context;
    c.fillStyle = this.colours.panel;
    c.fillRect(0, 0, this.width, AXIS);
    c.strokeStyle = this.colours.line;
    c.lineWidth = 1;
    c.strokeRect(-1, -1, this.width + 2, AXIS + 0.5);
    c.fillStyle = this.colours.soft;
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    c.fillText(this.run.clock + 's', 16, AXIS / 2);
    const format = d3.format(',');
    for (const tick of this.x.ticks(Math.max(2, Math.floor(this.plot / 110)))) {
      const x = this.x(tick);
      c.fillText(format(tick), x + 3, AXIS / 2);
      c.beginPath();
      c.moveTo(x + 0.5, 4);
      c.lineTo(x + 0.5, AXIS);
      c.stroke();
    }
  }
}

// Black or white, whichever is read on the colour.
function contrast(colour) {
  const {r, g, b} = d3.rgb(colour);
  return 0.299 * r + 0.587 * g + 0.114 * b > 150 ? '#111' : '#fff';
}
