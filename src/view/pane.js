// A list of lines, of which only the visible ones are drawn.

/// Creates an element with attributes and children. Strings become text, never HTML.
function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'onclick')
      created.addEventListener('click', value);
    else if (value !== undefined)
      created.setAttribute(key, value);
  }
  created.append(...children);
  return created;
}

/// Names of the kinds of registers in Kernel.live().
const liveKinds = {
  ptx: ['registers of 32 bits', 'predicates'],
  sass: ['registers', 'predicates', 'uniform registers', 'uniform predicates'],
};

const keywords = 'const constexpr auto if else for while do return struct class template typename using ' +
    'namespace void bool int unsigned float double static inline extern __global__ __device__ __shared__ ' +
    '__forceinline__ asm volatile true false public private switch case break continue';

/// Group 1 matches comments, group 2 keywords or opcodes, group 3 directives.
const tokens = {
  source: new RegExp(`(//.*|/\\*.*?\\*/|"[^"]*")|\\b(${keywords.replaceAll(' ', '|')})\\b|^(\\s*#.*)`, 'g'),
  ptx: /(\/\/.*)|^\s*(?:@!?%p\d+\s+)?([a-z][\w.:]*)|(^\s*\.loc.*)/g,
  sass: /(\/\/.*)|^(?:@!?\w+\s+)?([A-Z][\w.]*)|(^$)/g,
};

/// The pieces of a line. Comments, keywords or opcodes, and directives each have their own class.
function highlighted(text, line) {
  const pieces = [];
  let end = 0;
  for (const match of line.matchAll(tokens[text])) {
    const group = match.slice(1).findIndex(each => each);
    if (group < 0) continue;
    const begin = match.index + match[0].indexOf(match[group + 1]);
    pieces.push(
        line.slice(end, begin),
        element('span', {class: ['remark', 'word', 'directive'][group]}, match[group + 1]));
    end = begin + match[group + 1].length;
  }
  pieces.push(line.slice(end));
  return pieces;
}

/// The pieces of a line, with every occurrence of `term` marked. `term` is in lower case.
function withMarks(line, term) {
  const pieces = [];
  const lower = line.toLowerCase();
  let end = 0;
  for (let at = lower.indexOf(term); at >= 0; at = lower.indexOf(term, end)) {
    pieces.push(line.slice(end, at), element('mark', {}, line.slice(at, at + term.length)));
    end = at + term.length;
  }
  pieces.push(line.slice(end));
  return pieces;
}

/// Upper bound of a line's columns: a tab counts as four.
function columnsOf(line) { return line.length + 3 * (line.match(/\t/g)?.length ?? 0); }

class Pane {
  /// onSelect(pane, row) is called when the cursor moves, onHover(pane, row) when the pointer does.
  constructor(rows, onSelect, onHover) {
    this.rows = rows;
    this.text = rows.text;
    this.cursor = 0;
    this.marked = new Map();
    this.term = '';
    this.drawn = new Map();  // elements by row
    this.section = document.getElementById(this.text);
    this.space = element('div', {class: 'space'});
    this.view = element(
        'div', {
          class: 'lines',
          tabindex: 0,
          role: 'listbox',
          'aria-label': this.section.querySelector('h2').firstChild.textContent.trim()
        },
        this.space);
    this.section.append(this.view);
    this.height = parseFloat(getComputedStyle(this.view).lineHeight);
    const longest = Math.max(20, ...this.lengths());
    this.space.style.height = `${this.rows.length * this.height}px`;
    const columnsBeforeText = 14;  // sign, finding, number and live registers, see page.css
    this.space.style.minWidth = `${longest + columnsBeforeText}ch`;
    this.view.addEventListener('scroll', () => this.draw(), {passive: true});
    new ResizeObserver(() => {
      if (this.cursorInSight) this.reveal(this.cursor);
      this.draw();
    }).observe(this.view);
    // Drawing would clear the user's selection of text.
    const isSelecting = event => event.buttons !== 0 || getSelection().type === 'Range';
    this.view.addEventListener('mousemove', event => {
      const row = this.rowAt(event);
      if (row === this.hovered || row >= this.rows.length || isSelecting(event)) return;
      onHover(this, this.hovered = row);
    });
    this.view.addEventListener('mouseleave', event => {
      if (isSelecting(event)) return;
      this.hovered = undefined;
      onHover(this, undefined);
    });
    this.view.addEventListener('click', event => {
      const row = this.rowAt(event);
      if (row < this.rows.length && !isSelecting(event)) onSelect(this, row);
    });
  }

  /// The columns of the longest line in each 1000 rows: Math.max takes a limited number of arguments.
  lengths() {
    const lengths = [];
    for (let row = 0; row < this.rows.length; row += 1000) {
      let longest = 0;
      for (let i = row; i < Math.min(row + 1000, this.rows.length); ++i)
        longest = Math.max(longest, columnsOf(this.rows.textOf(i)));
      lengths.push(longest);
    }
    return lengths;
  }

  rowAt(event) {
    return Math.floor(
        (event.clientY - this.view.getBoundingClientRect().top + this.view.scrollTop) / this.height);
  }
  /// The number of rows by which PageDown and PageUp move: those that fit the pane, less one.
  get page() { return Math.max(1, Math.floor(this.view.clientHeight / this.height) - 1); }

  isVisible(row) {
    const top = row * this.height;
    return top >= this.view.scrollTop && top + this.height <= this.view.scrollTop + this.view.clientHeight;
  }
  /// Scrolls to a row, unless it is visible.
  reveal(row) {
    if (row === undefined || row < 0 || this.isVisible(row)) return;
    this.view.scrollTop = (row + 0.5) * this.height - this.view.clientHeight / 2;
  }
  /// Marks rows by their strength. If `follow` is set and none of the strongest rows is visible, scrolls to
  /// the first of them.
  mark(marked, follow) {
    this.marked = marked;
    if (follow && marked.size > 0) {
      const strongest = Math.max(...new Set(marked.values()));
      let first = Infinity, seen = false;
      for (const [row, strength] of marked) {
        if (strength !== strongest) continue;
        first = Math.min(first, row);
        seen = seen || this.isVisible(row);
      }
      if (!seen) this.reveal(first);
    }
    this.draw();
  }

  /// Marks every occurrence of the search's term, which is in lower case.
  setTerm(term) {
    this.term = term;
    this.drawn.clear();
    this.space.replaceChildren();
    this.draw();
  }

  /// Draws the visible lines. Elements of lines that stay visible are kept, which keeps a selection of text.
  draw() {
    this.cursorInSight = this.isVisible(this.cursor);
    const margin = 10;
    const first = Math.max(0, Math.floor(this.view.scrollTop / this.height) - margin);
    const last = Math.min(
        this.rows.length, Math.ceil((this.view.scrollTop + this.view.clientHeight) / this.height) + margin);
    for (const [row, created] of this.drawn) {
      if (row >= first && row < last) continue;
      created.remove();
      this.drawn.delete(row);
    }
    let next = this.space.firstChild;
    for (let row = first; row < last; ++row) {
      let created = this.drawn.get(row);
      if (created) {
        next = created.nextSibling;
      } else {
        created = this.lineElement(row);
        this.drawn.set(row, created);
        this.space.insertBefore(created, next);
      }
      created.className = this.classesOf(row);
      created.setAttribute('aria-selected', row === this.cursor);
    }
    const id = `${this.text}-${this.cursor}`;
    if (this.drawn.has(this.cursor))
      this.view.setAttribute('aria-activedescendant', id);
    else
      this.view.removeAttribute('aria-activedescendant');
  }

  classesOf(row) {
    const strength = this.marked.get(row), sign = this.rows.sign(row);
    const classes = ['line'];
    if (strength) classes.push(strength === counterpart ? 'counterpart' : 'indirect');
    if (row === this.cursor) classes.push('cursor');
    if (this.rows.isHeading(row)) classes.push('heading');
    if (sign) classes.push(sign === '−' ? 'only-left' : 'only-right');
    return classes.join(' ');
  }

  lineElement(row) {
    const {rows, text} = this;
    const kernel = rows.kernelOf(row), line = rows.lines[kernel][row];
    const created = element('div', {id: `${text}-${row}`, role: 'option'});
    created.style.top = `${row * this.height}px`;
    if (rows.lines.length > 1) created.append(element('span', {class: 'sign'}, rows.sign(row)));
    const found = rows.findings(row);
    const worst = ['mistake', 'omission', 'advice'].find(each => found.some(one => one.severity === each));
    created.append(element(
        'span', {
          class: `finding ${worst ?? ''}`,
          title: found.length ? found.map(one => `${one.rule}: ${one.found}`).join('\n') : undefined
        },
        found.length ? '●' : ''));
    created.append(element('span', {class: 'number'}, String(rows.kernels[kernel].number(text, line))));
    if (text !== 'source') created.append(this.liveElement(kernel, line));
    const content = rows.textOf(row);
    const isMatch = this.term !== '' && content.toLowerCase().includes(this.term);
    created.append(element(
        'span', {class: 'text'}, ...(isMatch ? withMarks(content, this.term) : highlighted(text, content))));
    return created;
  }

  liveElement(kernel, line) {
    const live = this.rows.kernels[kernel].live(this.text, line);
    if (!live) return element('span', {class: 'live'});
    const title = live.map((count, kind) => `${count} ${liveKinds[this.text][kind]}`).join(', ');
    return element('span', {class: 'live', title: `live: ${title}`}, String(live[0]));
  }
}
