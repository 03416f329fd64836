// The page's head, and the tabs below the texts: findings, explanation, instructions and tiles.

function table(headings, rows) {
  return element(
      'table', {}, element('thead', {}, element('tr', {}, ...headings.map(each => element('th', {}, each)))),
      element(
          'tbody', {},
          ...rows.map(
              row => element(
                  'tr', {},
                  ...row.map(
                      each => element(
                          'td', {class: typeof each === 'number' ? 'count' : undefined}, cell(each)))))));
}

function cell(value) {
  if (value === null || value === undefined) return '–';
  return value instanceof Node ? value : String(value);
}

function addHead(kernels) {
  const head = document.getElementById('kernels');
  kernels.forEach((kernel, index) => {
    const sign = kernels.length === 1 ? '' : index === 0 ? '− ' : '+ ';
    head.append(element(
        'h1',
        {class: sign === '' ? '' :
             index === 0    ? 'only-left' :
                              'only-right'},
        sign + kernel.data.title));
    const facts = element('dl');
    for (const [heading, text] of kernel.data.rows)
      facts.append(element('div', {}, element('dt', {}, heading), element('dd', {}, text)));
    head.append(facts);
  });
}

function findingsOf(kernels, goTo) {
  const parts = [];
  for (const kernel of kernels) {
    if (kernels.length > 1) parts.push(element('h3', {}, kernel.data.title));
    const {findings} = kernel.data;
    if (findings.length === 0) parts.push(element('p', {}, 'jitc lint finds nothing in this PTX.'));
    for (const finding of findings) {
      const link = finding.ptx_line ?
          element(
              'button', {type: 'button', onclick: () => goTo(kernel, finding.ptx_line - 1)},
              `PTX line ${finding.ptx_line}`) :
          '';
      parts.push(element(
          'article', {class: finding.severity},
          element('h4', {}, `${finding.severity}: ${finding.rule} `, link),
          element(
              'dl', {},
              ...['found', 'expected', 'remedy'].flatMap(
                  key => [element('dt', {}, key), element('dd', {}, finding[key] ?? '')]))));
    }
  }
  return parts;
}

function explanationOf(kernels) {
  const parts = [];
  for (const kernel of kernels) {
    const {explanation} = kernel.data;
    if (!explanation) continue;
    const chosenTime = explanation.candidates[0].predicted_us;
    const rows = explanation.candidates.map(
        ({choice, predicted_us, measured_us, chosen}) =>
            [chosen ? `${choice} (chosen)` : choice, microseconds(predicted_us),
             relative(predicted_us / chosenTime), microseconds(measured_us)]);
    parts.push(
        element('pre', {}, explanation.text),
        table(['candidate', 'predicted µs', 'relative to the chosen', 'measured µs'], rows));
  }
  return parts;
}

function microseconds(time) { return element('span', {}, time ? time.toFixed(1) : '–'); }

/// A ratio as a number and a bar.
function relative(ratio) {
  if (!Number.isFinite(ratio)) return '–';
  const bar = element('meter', {min: 0, max: 4, value: ratio, 'aria-hidden': true});
  return element('span', {}, `${ratio.toFixed(2)} × `, bar);
}

/// A table of counts by name, largest first. It has a column for each kernel; for two, also their difference.
function compared(heading, kernels, countsOf) {
  const counts = kernels.map(countsOf);
  const names = [...new Set(counts.flatMap(each => Object.keys(each)))];
  const largest = name => Math.max(...counts.map(each => each[name] ?? 0));
  names.sort((a, b) => largest(b) - largest(a));
  const rows = names.map(name => {
    const numbers = counts.map(each => each[name] ?? 0);
    return [name, ...numbers, ...(numbers.length > 1 ? [signed(numbers[1] - numbers[0])] : [])];
  });
  const total = counts.map(each => Object.values(each).reduce((sum, one) => sum + one, 0));
  return {rows, total, head: [heading, ...(kernels.length > 1 ? ['−', '+', 'change'] : ['number'])]};
}

function signed(number) { return number > 0 ? `+${number}` : number < 0 ? `−${- number}` : ''; }

function instructionsOf(kernels) {
  const parts = [];
  if (kernels.every(kernel => kernel.data.resources)) {
    const {rows, head} = compared('resource', kernels, kernel => kernel.data.resources);
    parts.push(table(head, rows));
  }
  for (const [text, heading] of [['ptx', 'PTX'], ['sass', 'SASS']]) {
    const {rows, total, head} =
        compared(`${heading} instruction`, kernels, kernel => kernel.data[text].opcodes);
    if (rows.length === 0) continue;
    const all = ['all', ...total, ...(total.length > 1 ? [signed(total[1] - total[0])] : [])];
    parts.push(table(head, [all, ...rows]));
  }
  return [element('div', {class: 'side'}, ...parts)];
}

function tilesOf(kernels) {
  const parts = [];
  for (const kernel of kernels) {
    for (const {name, box, svg} of kernel.data.tiles) {
      const picture =
          element('img', {alt: `Layout of ${box}`, src: `data:image/svg+xml,${encodeURIComponent(svg)}`});
      parts.push(element('figure', {}, element('figcaption', {}, `${name}: ${box}`), picture));
    }
  }
  return parts;
}

/// Adds the tabs. Tabs Explanation and Tiles are omitted if empty. goTo(kernel, line) moves to a line of PTX.
function addDetails(kernels, goTo) {
  const section = document.getElementById('details');
  const list = section.querySelector('[role=tablist]');
  const number = kernels.reduce((sum, kernel) => sum + kernel.data.findings.length, 0);
  const tabs =
      [
        [`Findings (${number})`, () => findingsOf(kernels, goTo)],
        ['Explanation', () => explanationOf(kernels)], ['Instructions', () => instructionsOf(kernels)],
        ['Tiles', () => tilesOf(kernels)]
      ].filter(([name]) => name !== 'Tiles' || kernels.some(kernel => kernel.data.tiles.length > 0))
          .filter(([name]) => name !== 'Explanation' || kernels.some(kernel => kernel.data.explanation));
  const panels = tabs.map(([name, build], index) => {
    const tab = element(
        'button', {type: 'button', role: 'tab', id: `tab-${index}`, 'aria-controls': `panel-${index}`}, name);
    const panel = element('div', {role: 'tabpanel', id: `panel-${index}`, 'aria-labelledby': `tab-${index}`});
    tab.addEventListener('click', () => show(index));
    list.append(tab);
    section.append(panel);
    return {tab, panel, build};
  });
  /// Toggles a panel, and hides the other panels. A panel is built when it is first shown.
  function show(index) {
    panels.forEach(({tab, panel, build}, i) => {
      const shown = i === index && panel.hidden;
      if (shown && panel.childElementCount === 0) panel.append(...build());
      panel.hidden = !shown;
      tab.setAttribute('aria-selected', shown);
      tab.setAttribute('aria-expanded', shown);
    });
  }
  for (const {panel} of panels) panel.hidden = true;
  if (number > 0) show(0);
}
