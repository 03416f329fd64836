'use strict';
// The lines of kernels, and which lines correspond to each other.

const texts = ['source', 'ptx', 'sass'];

/// How strongly a line is related to the selected one. `counterpart`: both come from the same line of the
/// source. `indirect`: one is a call through which the other was inlined, or no SASS names the line of PTX,
/// so that only the line of the source relates them.
const counterpart = 2, indirect = 1;

/// The lines of one kernel. A line is an index into one of its three texts, from 0.
class Kernel {
  constructor(data) {
    this.data = data;
    this.lines = {};
    for (const text of texts) {
      this.lines[text] = data[text].text.split('\n');
      this.lines[text].pop();
    }
    // compiledLines[text][row]: the lines of PTX or SASS that were compiled from a row of the source, or inlined
    // through a call in it, each with its strength.
    this.compiledLines = {ptx: new Map(), sass: new Map()};
    for (const text of ['ptx', 'sass'])
      data[text].locations.forEach((location, line) => this.addCompiledLine(text, location, line));
    this.sassOfPtx = new Map();
    data.sass.ptx.forEach((ptx, line) => {
      if (data.sass.addresses[line] !== null) append(this.sassOfPtx, ptx, line);
    });
    this.findings = {source: new Map(), ptx: new Map(), sass: new Map()};
    for (const finding of data.findings) this.addFinding(finding);
  }

  addCompiledLine(text, location, line) {
    this.chain(location).forEach(({row}, depth) => {
      if (row >= 0) append(this.compiledLines[text], row, {line, strength: depth === 0 ? counterpart : indirect});
    });
  }

  addFinding(finding) {
    if (!finding.ptx_line) return;
    const lines = {source: new Set(), ptx: new Set(), sass: new Set()};
    for (const number of [finding.ptx_line, ...(finding.also_lines ?? [])]) {
      lines.ptx.add(number - 1);
      for (const {row} of this.chain(this.data.ptx.locations[number - 1] ?? -1))
        if (row >= 0) lines.source.add(row);
      for (const line of this.sassOfPtx.get(number - 1) ?? []) lines.sass.add(line);
    }
    for (const text of texts)
      for (const line of lines[text]) append(this.findings[text], line, finding);
  }

  /// A location and the calls through which it was inlined, the innermost first: [{file, line, row, name}].
  /// `name` is the name of the inlined function.
  chain(location) {
    const chain = [];
    while (location >= 0) {
      const [file, line, row, next, name] = this.data.locations[location];
      chain.push({file, line, row, name});
      location = next;
    }
    return chain;
  }

  /// The line number or address that is shown before a line.
  number(text, line) {
    if (text === 'source') return this.data.source.lines[line] || '';
    if (text === 'ptx') return line + 1;
    const address = this.data.sass.addresses[line];
    return address === null ? '' : address.toString(16).padStart(4, '0');
  }

  /// The number of registers that are live at a line, for each kind of register; null if unknown.
  live(text, line) {
    const kinds = this.data[text].live;
    return kinds && kinds[0][line] !== null && kinds[0][line] !== undefined ? kinds.map(kind => kind[line]) :
                                                                              null;
  }

  isHeading(text, line) {
    return text === 'source' ? this.data.source.headings.includes(line) :
                               text === 'sass' && this.data.sass.addresses[line] === null;
  }

  /// The lines that are related to a line, with their strength, and the chains of calls through which it was
  /// inlined: {source: Map, ptx: Map, sass: Map, chains: []}.
  related(text, line) {
    const found = {source: new Map(), ptx: new Map(), sass: new Map(), chains: []};
    found[text].set(line, counterpart);
    if (text === 'source') {
      this.relateSource(line, found);
    } else {
      const location = this.data[text].locations[line] ?? -1;
      this.addChain(this.chain(location), found);
      if (text === 'ptx') this.relateSass(line, location, found);
      const ptx = text === 'sass' ? this.data.sass.ptx[line] : -1;
      if (ptx >= 0) strengthen(found.ptx, ptx, counterpart);
    }
    return found;
  }

  addChain(chain, found) {
    if (chain.length === 0) return;
    found.chains.push(chain);
    chain.forEach(({row}, depth) => strengthen(found.source, row, depth === 0 ? counterpart : indirect));
  }

  /// If no SASS names a line of PTX, the SASS of the same line of the source is related to it, as `indirect`.
  relateSass(line, location, found) {
    const own = this.sassOfPtx.get(line) ?? [];
    for (const each of own) strengthen(found.sass, each, counterpart);
    const row = own.length === 0 ? this.chain(location)[0]?.row : undefined;
    for (const {line: each, strength} of this.compiledLines.sass.get(row) ?? [])
      if (strength === counterpart) strengthen(found.sass, each, indirect);
  }

  relateSource(row, found) {
    const known = new Set();
    for (const text of ['ptx', 'sass']) {
      for (const {line, strength} of this.compiledLines[text].get(row) ?? []) {
        strengthen(found[text], line, strength);
        const location = this.data[text].locations[line];
        if (known.has(location)) continue;
        known.add(location);
        const chain = this.chain(location);
        const depth = chain.findIndex(each => each.row === row);
        for (const each of chain) strengthen(found.source, each.row, indirect);
        const calls = chain.slice(depth);
        const isNew = found.chains.every(other => !sameChain(other, calls));
        if (isNew) found.chains.push(calls);
      }
    }
    found.source.set(row, counterpart);
  }
}

function append(map, key, value) {
  const list = map.get(key);
  if (list)
    list.push(value);
  else
    map.set(key, [value]);
}

function strengthen(map, line, strength) {
  if (line >= 0) map.set(line, Math.max(map.get(line) ?? 0, strength));
}

function sameChain(a, b) {
  return a.length === b.length && a.every((each, i) => each.row === b[i].row && each.line === b[i].line);
}

/// The rows of a pane: lines of one kernel, or a diff of two kernels. lines[kernel][row] is a line, or −1 if
/// the kernel lacks the row; rows[kernel][line] is its row.
class Rows {
  constructor(text, kernels, diff) {
    this.text = text;
    this.kernels = kernels;
    this.lines = diff ?? [kernels[0].lines[text].map((_, line) => line)];
    this.length = this.lines[0].length;
    this.rows = this.lines.map((lines, kernel) => {
      const rows = new Array(kernels[kernel].lines[text].length);
      lines.forEach((line, row) => {
        if (line >= 0) rows[line] = row;
      });
      return rows;
    });
  }
  /// The index of the kernel that a row's text is taken from.
  kernelOf(row) { return this.lines[0][row] >= 0 ? 0 : 1; }
  textOf(row) { return this.kernels[this.kernelOf(row)].lines[this.text][this.lines[this.kernelOf(row)][row]]; }
  /// '−' for a line of the first kernel alone, '+' for one of the second alone, '' for a common line.
  sign(row) {
    if (this.lines.length === 1) return '';
    return this.lines[1][row] < 0 ? '−' : this.lines[0][row] < 0 ? '+' : '';
  }
  isHeading(row) {
    const kernel = this.kernelOf(row);
    return this.kernels[kernel].isHeading(this.text, this.lines[kernel][row]);
  }
  findings(row) {
    return this.lines.flatMap(
        (lines, kernel) => this.kernels[kernel].findings[this.text].get(lines[row]) ?? []);
  }
}

/// The rows of all panes that are related to a row: {source: Map, ptx: Map, sass: Map, chains: []}.
function relatedRows(panes, text, row) {
  const found = {source: new Map(), ptx: new Map(), sass: new Map(), chains: []};
  panes[text].lines.forEach((lines, index) => {
    if (lines[row] < 0) return;
    const related = panes[text].kernels[index].related(text, lines[row]);
    for (const each of texts) {
      for (const [line, strength] of related[each])
        strengthen(found[each], panes[each].rows[index][line], strength);
    }
    for (const chain of related.chains) found.chains.push({kernel: index, chain});
  });
  return found;
}
