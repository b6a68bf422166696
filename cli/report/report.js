'use strict';
/* Zooms charts, hides and shows lines, and shows the values at the cursor. The page is complete without this script. Text
 * reaches the page through textContent only. The file is ASCII, because the program embeds its bytes. */
(() => {
  const WIDTH = 2000, HEIGHT = 500, STEPS = 4; /* PLOT_WIDTH, PLOT_HEIGHT and GRID_LINES in page.c */
  const MAX_NOTED = 12; /* lines that the note at the cursor lists */
  const data = JSON.parse(document.getElementById('data').textContent);

  /* ---- Data --------------------------------------------------------------------------------------------- */

  /* Converts differences to the numbers that they are between; the first number is the difference from 0. */
  const sums = list => {
    let sum = 0;
    return list.map(step => sum += step);
  };
  const times = sums(data.times);
  let first = Infinity, last = -Infinity;
  for (const time of times) {
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  const full = [first, last];
  let view = full;
  const range = document.createElement('output'); /* shows the times in view unless all are in view */

  /* ---- Text --------------------------------------------------------------------------------------------- */

  const pad = (number, size) => String(number).padStart(size, '0');

  /* Local time of the machine that made the page, with its offset from UTC. */
  function timeText(time) {
    let minutes = data.offsets[0][1];
    for (const [from, offset] of data.offsets) {
      if (from <= time)
        minutes = offset;
    }
    const text = new Date(Math.round(time) + minutes * 60000).toISOString();
    const size = Math.abs(minutes);
    return text.replace('T', ' ').replace('Z', minutes < 0 ? '-' : '+') +
      pad(Math.floor(size / 60), 2) + ':' + pad(size % 60, 2);
  }

  /* The part of a time that differs along the axis, as put_short_time() in page.c. */
  function shortTime(time) {
    const text = timeText(time);
    const span = view[1] - view[0];
    return span >= 86400000 ? text.slice(0, 16) : text.slice(11, span < 10000 ? 23 : 19);
  }

  function label(value) {
    const size = Math.abs(value);
    for (const [scale, suffix] of [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k']]) {
      if (size >= scale && size < 1e15)
        return Number((value / scale).toPrecision(4)) + suffix;
    }
    return String(Number(value.toPrecision(4)));
  }

  /* ---- Scales ------------------------------------------------------------------------------------------- */

  /* Chooses the same axis as choose_axis() in page.c. */
  function chooseAxis(min, max) {
    const minStep = max / STEPS - min / STEPS;
    if (minStep < 2.2250738585072014e-308) /* DBL_MIN */
      return {low: 0, step: 1 / STEPS};
    for (let power = Math.pow(10, Math.floor(Math.log10(minStep))); ; power *= 10) {
      for (const factor of [1, 2, 2.5, 5]) {
        const step = power * factor;
        const below = Math.ceil(-min / step);
        if (step >= minStep && max / step + below <= STEPS)
          return {low: -below * step, step};
      }
    }
  }

  const across = time => view[1] > view[0] ? (time - view[0]) / (view[1] - view[0]) * WIDTH : WIDTH / 2;

  /* ---- Charts ------------------------------------------------------------------------------------------- */

  const isNumber = value => typeof value === 'number';

  /* Positions of the points in view, and of one more on either side, so that lines reach the edges. */
  function pointsInView(line) {
    const inside = i => times[line.x[i]] >= view[0] && times[line.x[i]] <= view[1];
    const found = [];
    for (let i = 0; i < line.x.length; i++) {
      if (inside(i) || (i > 0 && inside(i - 1)) || (i + 1 < line.x.length && inside(i + 1)))
        found.push(i);
    }
    return found;
  }

  function drawLine(line, points, axis) {
    let path = '', joined = false, before = 0;
    points.forEach((i, n) => {
      if (!isNumber(line.y[i])) {
        joined = false;
        return;
      }
      const x = across(times[line.x[i]]);
      const y = (1 - (line.y[i] / axis.step - axis.low / axis.step) / STEPS) * HEIGHT;
      joined = joined && x >= before && points[n - 1] === i - 1;
      path += (joined ? 'L' : 'M') + x.toFixed(1) + ' ' + y.toFixed(1);
      const next = points[n + 1];
      const continues = next === i + 1 && isNumber(line.y[next]) && across(times[line.x[next]]) >= x;
      if (!joined && !continues)
        path += 'h0';
      joined = true;
      before = x;
    });
    line.path.setAttribute('d', path);
  }

  function drawGaps(chart, visible) {
    const marks = new Set();
    for (const {line, points} of visible) {
      for (const i of points) {
        if (!isNumber(line.y[i]))
          marks.add(Math.round(across(times[line.x[i]])));
      }
    }
    chart.gaps.setAttribute('d', Array.from(marks, x => 'M' + x + ' ' + (HEIGHT - 12) + 'v12').join(''));
  }

  function draw(chart) {
    const visible = chart.lines.filter(line => line.on).map(line => ({line, points: pointsInView(line)}));
    let min = 0, max = 0;
    for (const {line, points} of visible) {
      for (const i of points) {
        if (isNumber(line.y[i])) {
          min = Math.min(min, line.y[i]);
          max = Math.max(max, line.y[i]);
        }
      }
    }
    const axis = chooseAxis(min, max);
    for (const {line, points} of visible)
      drawLine(line, points, axis);
    drawGaps(chart, visible);
    chart.values.forEach((span, i) => span.textContent = label(axis.low + (STEPS - i) * axis.step));
    chart.times.forEach((span, i) => span.textContent =
      shortTime(view[0] + (view[1] - view[0]) * i / (chart.times.length - 1)));
    chart.stale = false;
  }

  /* A chart is drawn again after a change only when it is in or near the window. */
  const charts = [];
  const watcher = new IntersectionObserver(entries => {
    for (const entry of entries) {
      const chart = charts[entry.target.dataset.chart];
      chart.near = entry.isIntersecting;
      if (chart.near && chart.stale)
        draw(chart);
    }
  }, {rootMargin: '200px'});

  /* Shows a range of times in all charts, as far as it is in the range of the page. */
  function setView(from, to) {
    const min = Math.min(1, last - first); /* the smallest range, in milliseconds */
    const size = Math.min(Math.max(to - from, min), last - first);
    from = Math.min(Math.max(from, first), last - size);
    view = [from, from + size];
    for (const chart of charts) {
      chart.stale = true;
      hideNote(chart);
      if (chart.near)
        draw(chart);
    }
    range.textContent = view[0] === full[0] && view[1] === full[1] ? '' :
      timeText(view[0]) + ' to ' + timeText(view[1]);
  }

  const zoom = (factor, at) => setView(at - (at - view[0]) * factor, at + (view[1] - at) * factor);
  const middle = () => (view[0] + view[1]) / 2;
  const move = part => setView(view[0] + (view[1] - view[0]) * part, view[1] + (view[1] - view[0]) * part);

  /* ---- The note at the cursor --------------------------------------------------------------------------- */

  function hideNote(chart) {
    chart.note.hidden = true;
    chart.cursor.setAttribute('d', '');
    chart.at = null;
  }

  /* The position of the point of a line that is nearest to a time. */
  function nearest(line, time) {
    let found = -1;
    for (let i = 0; i < line.x.length; i++) {
      if (found < 0 || Math.abs(times[line.x[i]] - time) < Math.abs(times[line.x[found]] - time))
        found = i;
    }
    return found;
  }

  /* The value of a line at a time, or the reason why it has none. It is that of the last point at or before this time,
   * because the line may have no point of this sample (points are thinned). Undefined before the first point and after
   * the last one. */
  function valueAt(line, time) {
    const found = line.x.findLastIndex(x => times[x] <= time);
    return found >= 0 && time <= times[line.x.at(-1)] ? line.y[found] : undefined;
  }

  const rounded = value => Number.isInteger(value) ? value : Number(value.toPrecision(6));
  const nameOf = line => line.row.querySelector('span').textContent;

  function showNote(chart, time) {
    const lines = chart.lines.filter(line => line.on && line.x.length > 0);
    let sample = null;
    for (const line of lines) {
      const at = times[line.x[nearest(line, time)]];
      if (at >= view[0] && at <= view[1] && (sample === null || Math.abs(at - time) < Math.abs(sample - time)))
        sample = at;
    }
    if (sample === null) {
      hideNote(chart);
      return;
    }
    chart.at = sample;
    const x = across(sample);
    chart.cursor.setAttribute('d', 'M' + x.toFixed(1) + ' 0V' + HEIGHT);
    const rows = [timeText(sample)];
    const noted = lines.map(line => ({line, value: valueAt(line, sample)})).filter(({value}) => value !== undefined);
    const rank = ({value}) => isNumber(value) ? value : -Number.MAX_VALUE;
    if (noted.length > MAX_NOTED)
      noted.sort((a, b) => rank(b) - rank(a));
    for (const {line, value} of noted.slice(0, MAX_NOTED))
      rows.push(nameOf(line) + ': ' + (isNumber(value) ? rounded(value) : 'no value: ' + value));
    if (noted.length > MAX_NOTED)
      rows.push('and ' + (noted.length - MAX_NOTED) + ' more');
    chart.note.replaceChildren(...rows.map(text => {
      const row = document.createElement('li');
      row.textContent = text;
      return row;
    }));
    chart.note.hidden = false;
    const left = x > WIDTH / 2;
    chart.note.style.left = left ? 'auto' : (x / WIDTH * 100 + 1) + '%';
    chart.note.style.right = left ? (100 - x / WIDTH * 100 + 1) + '%' : 'auto';
  }

  /* Moves the cursor of a chart to its next sample if the direction is 1, to the previous one if it is -1. Without a
   * cursor, shows the first or the last sample in view. */
  function stepNote(chart, direction) {
    if (chart.at === null) {
      showNote(chart, direction > 0 ? view[0] : view[1]);
      return;
    }
    let found = null;
    for (const line of chart.lines) {
      if (!line.on)
        continue;
      for (const x of line.x) {
        const distance = (times[x] - chart.at) * direction;
        if (distance > 0 && (found === null || distance < (found - chart.at) * direction))
          found = times[x];
      }
    }
    if (found !== null && (found < view[0] || found > view[1]))
      setView(found - (view[1] - view[0]) / 2, found + (view[1] - view[0]) / 2);
    if (found !== null)
      showNote(chart, found);
  }

  /* ---- Input -------------------------------------------------------------------------------------------- */

  function timeAt(chart, event) {
    const box = chart.area.getBoundingClientRect();
    const part = box.width > 0 ? (event.clientX - box.left) / box.width : 0;
    return view[0] + Math.min(Math.max(part, 0), 1) * (view[1] - view[0]);
  }

  function listenToPointer(chart) {
    let begin = null;
    chart.area.addEventListener('pointerdown', event => {
      if (event.button !== 0)
        return;
      begin = timeAt(chart, event);
      chart.area.setPointerCapture(event.pointerId);
    });
    chart.area.addEventListener('pointermove', event => {
      const time = timeAt(chart, event);
      showNote(chart, time);
      if (begin !== null) {
        const x = [across(begin), across(time)].sort((a, b) => a - b);
        chart.picked.setAttribute('d', 'M' + x[0] + ' 0H' + x[1] + 'V' + HEIGHT + 'H' + x[0] + 'Z');
      }
    });
    chart.area.addEventListener('pointerup', event => {
      const time = timeAt(chart, event);
      chart.picked.setAttribute('d', '');
      if (begin !== null && Math.abs(across(time) - across(begin)) > WIDTH / 100)
        setView(Math.min(begin, time), Math.max(begin, time));
      begin = null;
    });
    chart.area.addEventListener('pointercancel', () => {
      begin = null;
      chart.picked.setAttribute('d', '');
    });
    chart.area.addEventListener('pointerleave', () => hideNote(chart));
    chart.area.addEventListener('dblclick', () => setView(...full));
  }

  function listenToKeys(chart) {
    const keys = {
      'ArrowLeft': () => stepNote(chart, -1), 'ArrowRight': () => stepNote(chart, 1),
      '+': () => zoom(1 / 2, chart.at ?? middle()), '-': () => zoom(2, chart.at ?? middle()),
      'Escape': () => setView(...full)
    };
    chart.area.addEventListener('keydown', event => {
      if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        keys[event.key]();
      }
    });
    chart.area.addEventListener('blur', () => hideNote(chart));
  }

  function addPath(svg, name) {
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('class', name);
    svg.append(path);
    return path;
  }

  /* Puts a checkbox before the content of a cell. */
  function addBox(cell, checked) {
    const box = document.createElement('input');
    const text = document.createElement('label');
    box.type = 'checkbox';
    box.checked = checked;
    text.append(box, ...cell.childNodes);
    cell.append(text);
    return box;
  }

  /* Shows or hides a line. Lines that the page does not show at first get their path when they are first shown. */
  function setLine(chart, line, on) {
    line.on = on;
    line.box.checked = on;
    line.row.classList.toggle('off', !on);
    if (on && !line.path) {
      line.path = addPath(chart.svg, 'line ' + line.row.querySelector('i').className);
      chart.svg.insertBefore(line.path, chart.cursor);
    }
    if (line.path)
      line.path.classList.toggle('off', !on);
  }

  /* Adds the checkboxes of a table: one for each line, and one in the head for all of them. */
  function addSwitches(chart, table, lines) {
    const all = lines.length > 1 ? addBox(table.querySelector('thead th'), lines[0].on) : null;
    if (all)
      all.setAttribute('aria-label', 'All lines of this table');
    for (const line of lines) {
      line.box = addBox(line.row.querySelector('th'), line.on);
      line.row.classList.toggle('off', !line.on);
    }
    table.addEventListener('change', event => {
      if (event.target === all) {
        lines.forEach(line => setLine(chart, line, all.checked));
      } else {
        const line = lines.find(each => each.box === event.target);
        setLine(chart, line, line.box.checked);
      }
      if (all) {
        const on = lines.filter(line => line.on).length;
        all.checked = on === lines.length;
        all.indeterminate = on > 0 && on < lines.length;
      }
      hideNote(chart);
      draw(chart);
    });
  }

  data.charts.forEach((lines, number) => {
    const article = document.getElementById('chart-' + number);
    const svg = article.querySelector('svg');
    const paths = svg.querySelectorAll('.line');
    const rows = article.querySelectorAll('tbody tr');
    const chart = {
      svg, area: article.querySelector('.area'), gaps: svg.querySelector('.gap'),
      values: article.querySelectorAll('.values span'), times: Array.from(article.querySelectorAll('.times span')),
      cursor: addPath(svg, 'cursor'), picked: addPath(svg, 'picked'), note: document.createElement('ul'),
      at: null, near: false, stale: false
    };
    chart.lines = lines.map((line, i) => ({
      x: sums(line.x), y: line.y, path: paths[i], on: i < paths.length, row: rows[i]
    }));
    let begin = 0;
    for (const table of article.querySelectorAll('table')) {
      const shown = chart.lines.slice(begin, begin += table.tBodies[0].rows.length);
      const folded = table.closest('details');
      if (folded)
        folded.addEventListener('toggle', () => addSwitches(chart, table, shown), {once: true});
      else
        addSwitches(chart, table, shown);
    }
    chart.note.className = 'note';
    chart.note.hidden = true;
    chart.note.setAttribute('aria-live', 'polite');
    chart.area.append(chart.note);
    chart.area.tabIndex = 0;
    chart.area.setAttribute('role', 'group');
    chart.area.setAttribute('aria-label', 'Chart: left and right arrow read values, plus and minus zoom, Escape shows all');
    article.dataset.chart = number;
    charts.push(chart);
    listenToPointer(chart);
    listenToKeys(chart);
    watcher.observe(article);
  });

  /* ---- Buttons ------------------------------------------------------------------------------------------ */

  if (charts.length === 0)
    return;
  const tools = document.getElementById('tools');
  for (const [text, run] of [
    ['Zoom in', () => zoom(1 / 2, middle())], ['Zoom out', () => zoom(2, middle())],
    ['Earlier', () => move(-0.5)], ['Later', () => move(0.5)], ['All times', () => setView(...full)]
  ]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.addEventListener('click', run);
    tools.append(button);
  }
  tools.append(range);
})();
