// The cursor, the keyboard and the search.

class Page {
  constructor(data) {
    this.kernels = data.kernels.map(each => new Kernel(each));
    const rows =
        Object.fromEntries(texts.map(text => [text, new Rows(text, this.kernels, data.diffs?.[text])]));
    this.rows = rows;
    this.panes = Object.fromEntries(texts.map(
        text =>
            [text,
             new Pane(
                 rows[text], (pane, row) => this.select(pane, row), (pane, row) => this.hover(pane, row))]));
    this.active = this.panes.source;
    this.matches = [];
    this.addNotes();
    this.addFiles();
    addHead(this.kernels);
    addDetails(this.kernels, (kernel, line) => {
      const row = rows.ptx.rows[this.kernels.indexOf(kernel)][line];
      this.panes.ptx.view.focus();
      this.select(this.panes.ptx, row);
    });
    this.listen();
    this.select(...this.initialCursor());
    this.active.view.focus({preventScroll: true});
  }

  /// The pane and row in which the cursor begins: the source line of the first instruction whose line is
  /// known, in the outermost caller; without one, the first line of PTX.
  initialCursor() {
    const [kernel] = this.kernels;
    for (const location of kernel.data.ptx.locations) {
      const row = kernel.chain(location).at(-1)?.row ?? -1;
      if (row >= 0) return [this.panes.source, this.rows.source.rows[0][row]];
    }
    return [this.panes.ptx, 0];
  }

  addNotes() {
    for (const text of ['ptx', 'sass']) {
      const notes = this.kernels.map(kernel => kernel.data[text].missing_reason).filter(each => each);
      document.querySelector(`#${text} small`).textContent = [...new Set(notes)].join('; ');
    }
    let note = '';
    if (this.rows.source.length === 0) note = 'no source is at hand';
    if (this.kernels.every(kernel => kernel.data.locations.length === 0)) note = 'no line information';
    document.querySelector('#source h2').append(element('small', {}, note));
  }

  addFiles() {
    const select = document.querySelector('#source select');
    const {source} = this.rows;
    for (let row = 0; row < source.length; ++row)
      if (source.isHeading(row)) select.append(element('option', {value: row}, source.textOf(row)));
    select.hidden = select.options.length < 2;
    select.addEventListener('change', () => {
      this.panes.source.view.scrollTop = Number(select.value) * this.panes.source.height;
    });
    // Selects the file of the first visible line.
    this.panes.source.view.addEventListener('scroll', () => {
      const first = this.panes.source.view.scrollTop / this.panes.source.height;
      const above = [...select.options].filter(option => Number(option.value) <= first + 0.5);
      if (above.length > 0) select.value = above.at(-1).value;
    }, {passive: true});
  }

  activate(pane) {
    this.active = pane;
    for (const each of Object.values(this.panes)) each.section.classList.toggle('active', each === pane);
  }

  /// Moves the cursor to a row, and marks the related rows.
  select(pane, row) {
    this.activate(pane);
    pane.cursor = Math.min(Math.max(row, 0), pane.rows.length - 1);
    pane.reveal(pane.cursor);
    this.relate(pane, pane.cursor);
  }

  /// Marks the rows related to the row under the pointer. If there is none, marks those of the cursor's row.
  hover(pane, row) {
    if (row === undefined)
      this.relate(this.active, this.active.cursor, false);
    else
      this.relate(pane, row);
  }

  /// Marks the rows of all panes that are related to a row, and shows its chains of calls. If `follow`, the
  /// other panes scroll to the marked rows.
  relate(pane, row, follow = true) {
    if (pane.rows.length === 0) return;
    const found = relatedRows(this.rows, pane.text, row);
    for (const text of texts) this.panes[text].mark(found[text], follow && text !== pane.text);
    this.found = found;
    this.depth = 0;
    this.showCalls(found.chains);
  }

  showCalls(chains) {
    const maxShown = 6;
    const lines = chains.slice(0, maxShown).map(({kernel, chain}) => this.callLine(kernel, chain));
    if (chains.length > maxShown)
      lines.push(element('p', {}, `and ${chains.length - maxShown} more chains of calls`));
    if (lines.length === 0) lines.push(element('p', {}, 'no line of the source is known'));
    document.getElementById('calls').replaceChildren(...lines);
  }

  /// "init h.cuh:3 ← k.cu:10  text": before each location is the name of the inlined function that it is in.
  /// The line ends with the text of the innermost location.
  callLine(kernel, chain) {
    const line = element('p');
    chain.forEach((location, depth) => {
      const row = this.rows.source.rows[kernel][location.row];
      if (depth > 0) line.append(' ← ');
      if (location.name) line.append(`${location.name} `);
      line.append(element(
          'button', {
            type: 'button',
            title: this.kernels[kernel].lines.source[location.row]?.trim(),
            disabled: row === undefined ? '' : undefined,
            onclick: () => this.select(this.panes.source, row)
          },
          `${location.file}:${location.line}`));
    });
    const text = this.kernels[kernel].lines.source[chain[0].row]?.trim();
    if (text) line.append(element('code', {}, `  ${text}`));
    return line;
  }

  /// Shows the next caller in the source.
  nextCaller() {
    const {kernel, chain} = this.found.chains[0] ?? {kernel: 0, chain: []};
    const rows = chain.map(each => this.rows.source.rows[kernel][each.row]).filter(row => row !== undefined);
    if (rows.length === 0) return;
    this.depth = (this.depth + 1) % rows.length;
    this.panes.source.reveal(rows[this.depth]);
  }

  /// Moves to the counterpart of the cursor's line in the next text that has one.
  toCounterpart() {
    const from = texts.indexOf(this.active.text);
    for (let step = 1; step < texts.length; ++step) {
      const pane = this.panes[texts[(from + step) % texts.length]];
      const rows = [...this.found[pane.text]].sort(([a, x], [b, y]) => y - x || a - b);
      if (rows.length === 0) continue;
      pane.view.focus({preventScroll: true});
      this.select(pane, rows[0][0]);
      return;
    }
  }

  /// Moves to the next text that has lines, or the previous one.
  toPane(step) {
    // The summand 9 keeps the index positive for a negative step.
    const order = [1, 2, 3].map(i => this.panes[texts[(texts.indexOf(this.active.text) + i * step + 9) % 3]]);
    const pane = order.find(each => each.rows.length > 0) ?? this.active;
    pane.view.focus({preventScroll: true});
    this.select(pane, pane.cursor);
  }

  search(term) {
    this.term = term.toLowerCase();
    this.matches = [];
    for (const text of texts) {
      const rows = this.rows[text];
      for (let row = 0; this.term !== '' && row < rows.length; ++row) {
        if (rows.textOf(row).toLowerCase().includes(this.term))
          this.matches.push({pane: this.panes[text], row});
      }
      this.panes[text].setTerm(this.term);
    }
    document.getElementById('matches').textContent = this.term === '' ? '' : `${this.matches.length} lines`;
  }

  /// Moves the cursor to the next position {pane, row}, or to the previous one; wraps around at the end.
  toNext(positions, step = 1) {
    if (positions.length === 0) return;
    // By text, then by row.
    const order = ({pane, row}) => texts.indexOf(pane.text) * 1e9 + row;
    const here = order({pane: this.active, row: this.active.cursor});
    const next = step > 0 ? positions.find(each => order(each) > here) ?? positions[0] :
                            positions.findLast(each => order(each) < here) ?? positions.at(-1);
    next.pane.view.focus({preventScroll: true});
    this.select(next.pane, next.row);
    if (positions === this.matches)
      document.getElementById('matches').textContent =
          `${positions.indexOf(next) + 1} of ${positions.length} lines`;
  }

  /// Rows of the active text for which `predicate` is true.
  rowsWhere(predicate) {
    const pane = this.active;
    return Array.from({length: pane.rows.length}, (_, row) => ({pane, row}))
        .filter(({row}) => predicate(pane.rows, row));
  }

  listen() {
    for (const pane of Object.values(this.panes)) {
      // `mousedown` precedes `focus`. It activates the pane, so that `focus` does not scroll to the cursor.
      pane.view.addEventListener('mousedown', () => this.activate(pane));
      pane.view.addEventListener('focus', () => {
        if (this.active !== pane) this.select(pane, pane.cursor);
      });
    }
    const box = document.getElementById('search'), keys = document.getElementById('keys');
    box.addEventListener('input', () => this.search(box.value));
    box.addEventListener('keydown', event => {
      if (event.key === 'Enter') this.toNext(this.matches, event.shiftKey ? -1 : 1);
      if (event.key === 'Escape') this.endSearch(box);
    });
    document.getElementById('keys-button').addEventListener('click', () => keys.showModal());
    document.addEventListener('keydown', event => {
      if (event.ctrlKey || event.altKey || event.metaKey || keys.open) return;
      if (event.target.matches('input, select, button, [role=tab]') && event.key !== 'Escape') return;
      if (this.performAction(event.key, box, keys)) event.preventDefault();
    });
  }

  endSearch(box) {
    box.value = '';
    this.search('');
    this.active.view.focus({preventScroll: true});
  }

  /// Performs a key's action. Returns whether it has one.
  performAction(key, box, keys) {
    const pane = this.active;
    const actions = {
      j: () => this.select(pane, pane.cursor + 1),
      k: () => this.select(pane, pane.cursor - 1),
      PageDown: () => this.select(pane, pane.cursor + pane.page),
      PageUp: () => this.select(pane, pane.cursor - pane.page),
      g: () => this.select(pane, 0),
      G: () => this.select(pane, pane.rows.length - 1),
      h: () => this.toPane(-1),
      l: () => this.toPane(1),
      o: () => this.toCounterpart(),
      c: () => this.nextCaller(),
      n: () => this.toNext(this.matches),
      N: () => this.toNext(this.matches, -1),
      f: () => this.toNext(this.rowsWhere((rows, row) => rows.findings(row).length > 0)),
      d: () => this.toNext(
          this.rowsWhere((rows, row) => rows.sign(row) !== '' && (row === 0 || rows.sign(row - 1) === ''))),
      '/': () => {
        box.focus();
        box.select();
      },
      '?': () => keys.showModal(),
      Escape: () => this.endSearch(box),
    };
    Object.assign(actions, {
      ArrowDown: actions.j,
      ArrowUp: actions.k,
      Home: actions.g,
      End: actions.G,
      ArrowLeft: actions.h,
      ArrowRight: actions.l
    });
    actions[key]?.();
    return key in actions;
  }
}

const page = new Page(JSON.parse(document.getElementById('data').textContent));
