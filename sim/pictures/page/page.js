// Puts the page together from its data.
'use strict';

const NAMES = ['paper', 'panel', 'ink', 'soft', 'faint', 'line', 'hover', 'link', 'right', 'wrong', 'open', 'operation',
  'async', 'counter', 'hatch'];
const CATEGORIES = 8;

function coloursOfPage() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of NAMES) {
    colours[name] = style.getPropertyValue('--' + name).trim();
  }
  colours.path = d3.range(CATEGORIES).map((i) => style.getPropertyValue('--c' + i).trim());
  return colours;
}

class Page {
  constructor(data, runs) {
    this.data = data;
    this.runs = runs;
    this.timelines = [];
    this.colours = coloursOfPage();
    this.paint();
    this.main = d3.select('#main');
    this.head();
    this.verdict();
    this.drawings();
    if (data.comparison) {
      this.comparison();
    }
    this.timeline();
    data.findings.forEach((finding, i) => this.finding(finding, i));
    this.help();
    document.addEventListener('keydown', (event) => this.key(event));
    for (const media of ['(prefers-color-scheme: dark)', 'print']) {
      matchMedia(media).addEventListener('change', () => this.repaint());
    }
  }

  section(id, title, link) {
    const section = this.main.append('section').attr('id', id);
    section.append('h2').text(title);
    d3.select('#links').append('a').attr('href', '#' + id).text(link + ' ').style('margin-right', '.9rem');
    return section;
  }

  paint() {
    for (const run of this.runs) {
      for (const track of run.tracks) {
        track.colour = this.colours.path[track.hue % CATEGORIES];
      }
    }
  }
  repaint() {
    this.colours = coloursOfPage();
    this.paint();
    for (const timeline of this.timelines) {
      timeline.colours = this.colours;
      timeline.pattern = null;
      timeline.resize();
      timeline.draw();
    }
    d3.selectAll('.legend').each((run, i, all) => this.legend(d3.select(all[i]), run));
  }

  head() {
    const {data} = this;
    document.title = 'warptwin: ' + data.title;
    d3.select('#title').text(data.title);
    const signs = {right: '✓', wrong: '✗', open: '?'};
    d3.select('#verdict').classed(data.verdict, true).text(signs[data.verdict] + ' ' + data.word);
    d3.select('#theme').on('click', () => this.theme());
    d3.select('#keys').on('click', () => this.toggleHelp());
  }
  theme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    this.repaint();
  }

  verdict() {
    const section = this.section('said', 'What the command says', 'Verdict');
    section.append('pre').attr('class', 'answer').text(this.data.answer);
    const notes = section.append('ul').attr('class', 'meta').attr('aria-label', 'runs');
    for (const run of this.runs) {
      notes.append('li').text(run.title + ': ' + run.ending + '; ' + run.counted);
      for (const note of run.notes) {
        notes.append('li').text(note);
      }
    }
  }

  drawings() {
    for (const drawing of this.data.drawings) {
      const section = this.section(drawing.id, drawing.title, drawing.link);
      section.append('p').attr('class', 'meta').text(drawing.text);
      section.append('div').attr('class', 'drawing').html(drawing.svg);
    }
  }

  comparison() {
    const {comparison} = this.data;
    const section = this.section('differences', 'Where the two runs differ', 'Differences');
    if (!comparison.mismatches.length) {
      section.append('p').text('Nowhere.');
      return;
    }
    const table = section.append('table');
    table.append('tr').selectAll('th').data(['where', 'first run', 'second run', 'last agreement']).enter()
      .append('th').text((word) => word);
    section.append('button').attr('id', 'to-difference').text('Show the first on the timeline')
      .on('click', () => this.showDifference());
    const rows = table.selectAll('tr.row').data(comparison.mismatches).enter().append('tr').attr('class', 'row');
    for (const column of ['where', 'first', 'second', 'before']) {
      rows.append('td').text((row) => row[column]);
    }
  }

  // Where both runs differ first, in each of them.
  showDifference() {
    for (const timeline of [...this.timelines].reverse()) {
      for (const mark of timeline.run.marks.slice(0, 1)) {
        timeline.showMark(mark);
      }
    }
  }

  // --- Timeline -------------------------------------------------------------------------------------

  timeline() {
    const section = this.section('timeline', 'Timeline', 'Timeline');
    const bar = section.append('div').attr('class', 'bar');
    const first = () => this.active || this.timelines[0];
    const button = (id, text, title, action) =>
      bar.append('button').attr('id', id).attr('title', title).text(text).on('click', action);
    button('zoom-in', '+', 'zoom in (w)', () => first().zoomBy(1.8));
    button('zoom-out', '−', 'zoom out (s)', () => first().zoomBy(1 / 1.8));
    button('zoom-all', 'All', 'the whole run (0)', () => first().all());
    this.chooseBarrier(bar);
    button('previous-wait', '◀ wait', 'the wait before (p)', () => this.stepWait(-1)).property('disabled', true);
    button('next-wait', 'wait ▶', 'the next wait (n)', () => this.stepWait(1)).property('disabled', true);
    bar.append('span').attr('id', 'found').attr('class', 'meta').attr('role', 'status');
    bar.append('span').attr('class', 'grow');
    const stage = section.append('div').attr('class', 'stage');
    const canvases = stage.append('div').attr('class', 'canvases');
    this.details = stage.append('aside').attr('class', 'details').attr('id', 'details').attr('aria-live', 'polite')
      .attr('aria-label', 'the slice that is selected');
    this.runs.forEach((run, number) => {
      if (this.runs.length > 1) {
        canvases.append('h3').text('Run ' + (number + 1) + ': ' + run.title);
      }
      const timeline = new Timeline(run, this.colours, canvases.append('div').node(),
        this.runs.length > 1 ? 0.36 : 0.62);
      timeline.on('select', (slice) => {
        this.active = timeline;
        this.describe(timeline, slice);
      });
      timeline.on('follow', (way) => this.follow(timeline, way));
      timeline.on('zoom', (event) => {
        for (const other of this.timelines) {
          if (other !== timeline) {
            other.follow(event.transform);
          }
        }
      });
      this.timelines.push(timeline);
      this.legend(canvases.append('ul').attr('class', 'legend').attr('aria-label', 'colours').datum(run), run);
    });
    this.describe(this.timelines[0], -1);
    if (this.data.comparison) {
      this.showDifference();
    }
  }

  // Two choices: of the barriers of one CTA, and of which CTA of which run.
  chooseBarrier(bar) {
    bar.append('label').attr('for', 'barrier').text('Waits for');
    const choice = bar.append('select').attr('id', 'barrier');
    const places = new Map();
    this.runs.forEach((run, number) => {
      const waits = run.waitsByBarrier();
      for (const barrier of [...waits.keys()].sort((a, b) => a - b)) {
        const place = (this.runs.length > 1 ? 'run ' + (number + 1) + ', ' : '') + run.tracks[barrier].group.replace(/:.*/, '');
        if (!places.has(place)) {
          places.set(place, []);
        }
        places.get(place).push({number, barrier, ...waits.get(barrier)});
      }
    });
    const fill = (place) => {
      choice.selectAll('option').remove();
      choice.append('option').attr('value', '').text('a barrier …');
      for (const {number, barrier, count, time} of places.get(place) || []) {
        const run = this.runs[number];
        choice.append('option').attr('value', number + ':' + barrier)
          .text(run.tracks[barrier].label + ': ' + count + (count === 1 ? ' wait, ' : ' waits, ') + run.unit(time));
      }
    };
    choice.on('change', () => this.findWaits(choice.property('value')));
    fill(places.keys().next().value);
    if (places.size > 1) {
      const where = bar.append('select').attr('id', 'barrier-place').attr('aria-label', 'of which CTA')
        .on('change', () => {
          fill(where.property('value'));
          this.findWaits('');
        });
      for (const place of places.keys()) {
        where.append('option').attr('value', place).text(place);
      }
    }
  }

  legend(list, run) {
    const hues = new Map();
    for (const track of run.tracks) {
      if (track.kind === TRACK.barrier && !hues.has(track.hue % CATEGORIES)) {
        hues.set(track.hue % CATEGORIES, new Set());
      }
      if (track.kind === TRACK.barrier) {
        hues.get(track.hue % CATEGORIES).add(track.name.replace(/\[\d+\]$/, ''));
      }
    }
    list.selectAll('li').remove();
    const add = (colour, text, wait) => {
      const row = list.append('li');
      row.append('i').attr('class', wait ? 'wait' : '').style('background-color', colour);
      row.append('span').text(text);
    };
    add(this.colours.operation, 'an operation');
    add(this.colours.async, 'under way');
    for (const [hue, names] of hues) {
      const all = [...names];
      add(this.colours.path[hue], 'a wait for ' + all.slice(0, 4).join(', ') + (all.length > 4 ? ', …' : ''), true);
    }
    add(this.colours.faint, 'another wait', true);
  }

  describe(timeline, slice) {
    const box = this.details;
    box.html('');
    if (slice < 0) {
      box.append('h3').text('Select a slice');
      box.append('p').attr('class', 'meta').text('Click one to see what it is, what released it and what it led to. ' +
        'Wheel and drag zoom and move; shift and wheel scroll the rows; a click on a heading folds it.');
      return;
    }
    const {run} = timeline;
    const kind = run.kindOf(slice);
    const track = run.tracks[run.sliceTrack[slice]];
    box.append('h3').attr('id', 'selected').text(run.titleOf(slice));
    const list = box.append('dl');
    const fact = (name, text) => {
      if (text !== '' && text !== undefined) {
        list.append('dt').text(name);
        list.append('dd').text(text);
      }
    };
    fact('of', track.label);
    if (kind.kind === KIND.wait) {
      fact('operation', kind.name);
    }
    fact('object', kind.object);
    if (kind.barrier !== NONE) {
      fact('barrier', kind.kind === KIND.phase ? '' : run.tracks[kind.barrier].label);
      fact('phase', run.phase[slice]);
    }
    fact('arrivals', kind.count || '');
    fact('bytes', kind.bytes ? d3.format(',')(kind.bytes) : '');
    fact('from', run.begin[slice] + ' to ' + run.finish[slice]);
    fact('takes', run.unit(run.finish[slice] - run.begin[slice]));
    fact('line', kind.site);
    fact('ended', kind.unfinished ? 'not in this run' : '');
    this.jumps(timeline, box, 'because of', run.flowsTo(slice), true);
    this.jumps(timeline, box, 'led to', run.flowsFrom(slice), false);
  }
  jumps(timeline, box, title, flows, back) {
    if (!flows.length) {
      return;
    }
    const words = {[FLOW.arrival]: ['released by', 'releases'], [FLOW.data]: ['reads the data of', 'read by'],
      [FLOW.issue]: ['issued by', 'starts']};
    const {run} = timeline;
    box.append('h3').text(title);
    const list = box.append('ul').attr('class', 'jump').attr('aria-label', title);
    for (const flow of flows.slice(0, 40)) {
      const other = back ? run.flowFrom[flow] : run.flowTo[flow];
      list.append('li').append('button').attr('class', back ? 'to-cause' : 'to-effect').attr('data-slice', other)
        .text(words[run.flowKind[flow]][back ? 0 : 1] + ': ' + run.titleOf(other) + ', ' +
              run.tracks[run.sliceTrack[other]].label)
        .on('click', () => timeline.select(other));
    }
    if (flows.length > 40) {
      list.append('li').text(flows.length - 40 + ' more');
    }
  }
  follow(timeline, way) {
    if (timeline.selected < 0) {
      return;
    }
    const {run} = timeline;
    const flows = way === 'to' ? run.flowsTo(timeline.selected) : run.flowsFrom(timeline.selected);
    if (flows.length) {
      timeline.select(way === 'to' ? run.flowFrom[flows[0]] : run.flowTo[flows[0]]);
    }
  }

  findWaits(value) {
    for (const timeline of this.timelines) {
      timeline.marked = [];
      timeline.later();
    }
    d3.selectAll('#previous-wait, #next-wait').property('disabled', value === '');
    d3.select('#found').text('');
    if (value === '') {
      return;
    }
    const [number, barrier] = value.split(':').map(Number);
    this.active = this.timelines[number];
    this.active.marked = this.runs[number].waitsOf(barrier);
    this.wait = -1;
    this.stepWait(1);
  }
  stepWait(by) {
    const marked = this.active ? this.active.marked : [];
    if (!marked.length) {
      return;
    }
    this.wait = (this.wait + by + marked.length) % marked.length;
    this.active.select(marked[this.wait]);
    d3.select('#found').text('wait ' + (this.wait + 1) + ' of ' + marked.length);
  }

  // --- Findings -------------------------------------------------------------------------------------

  finding(finding, number) {
    const section = this.section('finding-' + number, finding.id, number === 0 ? 'Finding' : String(number + 1));
    section.append('div').attr('class', 'finding ' + finding.severity).append('pre').text(finding.text);
    if (finding.drawing) {
      section.append('h3').text('Who waits for whom');
      section.append('div').attr('class', 'drawing').html(finding.drawing);
    }
    if (finding.steps.length) {
      this.steps(section, finding);
    }
  }

  steps(section, finding) {
    section.append('h3').text(finding.left_out ? 'How it comes about: the last ' + finding.steps.length + ' steps'
      : 'How it comes about');
    const bar = section.append('div').attr('class', 'bar');
    const place = section.append('div').attr('class', 'steps');
    const list = place.append('ol').attr('tabindex', 0).attr('aria-label', 'steps that lead to ' + finding.id);
    const source = place.append('div').attr('class', 'source').attr('tabindex', 0).attr('role', 'region')
      .attr('aria-label', 'the line of the step');
    const rows = list.selectAll('li').data(finding.steps).enter().append('li')
      .classed('finding', (step, i) => i === finding.steps.length - 1)
      .on('click', (step, i) => go(i));
    rows.append('span').attr('class', 'number').text((step) => step.number || '');
    rows.append('span').text((step) => step.agent);
    rows.append('span').text((step) => step.what);
    rows.append('span').attr('class', 'where').text((step) => (step.line ? step.file.replace(/^.*\//, '') + ':' + step.line : ''));
    let at = 0;
    const go = (next) => {
      at = Math.max(0, Math.min(finding.steps.length - 1, next));
      rows.attr('aria-current', (step, i) => (i === at ? 'step' : null));
      const row = rows.nodes()[at];
      list.node().scrollTop = row.offsetTop - list.node().clientHeight / 2;
      d3.select(bar.node()).select('.count').text('step ' + (at + 1) + ' of ' + finding.steps.length);
      this.source(source, finding.steps[at]);
      this.point(finding.steps[at]);
    };
    const button = (name, text, title, to) =>
      bar.append('button').attr('class', name).attr('title', title).text(text).on('click', () => go(to()));
    button('first', '|◀', 'the first step (Home)', () => 0);
    button('back', '◀ back', 'a step back (j)', () => at - 1);
    button('forward', 'forward ▶', 'a step forward (k)', () => at + 1);
    button('last', '▶|', 'the finding (End)', () => finding.steps.length - 1);
    bar.append('span').attr('class', 'count meta').attr('role', 'status');
    list.on('keydown', () => {
      const to = {ArrowUp: at - 1, ArrowLeft: at - 1, ArrowDown: at + 1, ArrowRight: at + 1, Home: 0,
        End: finding.steps.length - 1}[d3.event.key];
      if (to !== undefined) {
        go(to);
        d3.event.preventDefault();
      }
    });
    if (!this.stepping) {
      this.stepping = (by) => go(at + by);
    }
    go(finding.steps.length - 1);
  }

  source(box, step) {
    const file = this.data.sources[step.file];
    if (box.attr('data-file') !== step.file) {
      box.attr('data-file', step.file).html('');
      if (!file) {
        box.append('div').text(step.file ? step.file + ':' + step.line + ' (not read)' : 'no source line');
        return;
      }
      box.append('div').append('b').style('width', 'auto').text(file.name);
      box.selectAll('div.line').data(file.lines).enter().append('div').attr('class', 'line')
        .each((text, i, all) => {
          d3.select(all[i]).append('b').text(i + 1);
          all[i].appendChild(document.createTextNode(text));
        });
    }
    const lines = box.selectAll('div.line').classed('here', (text, i) => i + 1 === step.line);
    const here = lines.nodes()[step.line - 1];
    if (here) {
      box.node().scrollTop = here.offsetTop - box.node().clientHeight / 2;
    }
  }
  point(step) {
    const timeline = this.timelines[0];
    if (!timeline) {
      return;
    }
    const time = step.number || timeline.run.end;  // what is found at the end has no step
    timeline.cursor = time;
    const track = timeline.run.tracks.findIndex((one) => one.label === step.agent);
    if (track >= 0) {
      timeline.reveal(track);
    }
    const [low, high] = timeline.x.domain();
    if (time < low || time > high) {
      timeline.show(time - (high - low) / 2, time + (high - low) / 2);
    }
    timeline.later();
  }

  // --- Keys -----------------------------------------------------------------------------------------

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) {
      return;
    }
    const actions = {t: () => this.theme(), n: () => this.stepWait(1), p: () => this.stepWait(-1),
      j: () => this.stepping && this.stepping(-1), k: () => this.stepping && this.stepping(1),
      '?': () => this.toggleHelp()};
    if (actions[event.key]) {
      actions[event.key]();
    } else {
      const own = this.timelines.find((timeline) => timeline.canvas === event.target);
      const timeline = own || (event.target === document.body ? this.active || this.timelines[0] : null);
      if (timeline) {
        timeline.key(event);
      }
    }
  }
  help() {
    const rows = [['w s', 'zoom in and out'], ['a d', 'move left and right'], ['0', 'the whole run'],
      ['← →', 'the slice before, and behind, of the same row'], ['↑ ↓', 'the slice of the row above, and below'],
      ['PgUp PgDn', 'scroll the rows'], ['r', 'to what released it'], ['f', 'to what it led to'],
      ['n p', 'the next wait, and the one before, of the barrier that is chosen'],
      ['j k', 'a step of the finding back and forward'], ['t', 'light or dark'], ['?', 'these keys']];
    const dialog = d3.select('#help');
    dialog.append('h2').text('Keys');
    const table = dialog.append('table');
    for (const [keys, text] of rows) {
      const row = table.append('tr');
      const cell = row.append('td');
      for (const key of keys.split(' ')) {
        cell.append('kbd').text(key);
      }
      row.append('td').text(text);
    }
  }
  toggleHelp() {
    const dialog = document.getElementById('help');
    dialog.open ? dialog.close() : dialog.showModal();
  }
}

(async () => {
  const data = JSON.parse(document.getElementById('page-data').textContent);
  const runs = await Promise.all(data.runs.map(Run.of));
  window.page = new Page(data, runs);
  document.documentElement.dataset.ready = 'yes';
})();
