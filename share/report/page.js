/* The report page: filters, search, keys, steps, copying. Everything it shows
 * is already in the page as text; nothing here makes markup. */
(() => {
  'use strict';
  const one = (s, from = document) => from.querySelector(s);
  const all = (s, from = document) => Array.from(from.querySelectorAll(s));
  const root = document.documentElement;
  root.classList.add('js');

  const placeOf = text => {
    const m = /^([^]*?)(?::(\d+))?(?::(\d+))?$/.exec(text);
    return { file: m[1], line: Number(m[2] || 0), column: Number(m[3] || 0) };
  };
  const findings = all('.f').map((el, index) => ({
    el,
    index,
    text: null,
    rule: one('.rule', el).textContent,
    ...placeOf(one('.place', el).textContent),
    technique: el.dataset.technique,
    level: el.dataset.level,
    verdict: el.dataset.verdict,
    status: el.dataset.status,
  }));
  const boxes = all('input[data-facet]');
  const search = one('#search');
  const count = one('#count');
  const nothing = one('#nothing');
  const list = one('#list');
  const sort = one('#sort');
  const group = one('#group');

  /* --- filters: in a facet with nothing checked, everything passes */
  function chosen() {
    const sets = {};
    for (const b of boxes)
      if (b.checked)
        (sets[b.dataset.facet] ||= new Set()).add(b.value);
    return Object.entries(sets);
  }

  function apply() {
    const sets = chosen();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const f of findings) {
      if (words.length && f.text === null)
        f.text = f.el.textContent.toLowerCase();
      const fits = sets.every(([facet, set]) => set.has(f[facet])) &&
        words.every(w => f.text.includes(w));
      if (f.el.hidden === fits)
        f.el.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown === findings.length
      ? `All ${shown} findings` : `${shown} of ${findings.length} findings`;
    nothing.hidden = shown > 0;
    for (const h of headings)
      label(h);
  }

  /* --- order: findings are moved, groups get a heading */
  let headings = [];
  const ranks = { error: 0, warning: 1, note: 2 };
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  const byPlace = (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column;
  const orders = {
    level: () => 0,
    place: byPlace,
    rule: (a, b) => compare(a.rule, b.rule) || byPlace(a, b),
  };

  function label(h) {
    const n = h.members.filter(f => !f.el.hidden).length;
    h.el.textContent = `${h.name} (${n})`;
    h.el.hidden = n === 0;
  }

  function arrange() {
    const key = group.value, order = orders[sort.value] || orders.level;
    const rank = f => key === 'level' ? ranks[f.level] : f[key];
    const sorted = findings.slice().sort((a, b) =>
      (key ? compare(rank(a), rank(b)) : 0) || order(a, b) || a.index - b.index);
    for (const h of headings)
      h.el.remove();
    headings = [];
    const parts = document.createDocumentFragment();
    for (const f of sorted) {
      let h = headings[headings.length - 1];
      if (key && (!h || h.name !== f[key])) {
        h = { name: f[key], el: document.createElement('h3'), members: [] };
        h.el.className = 'group';
        headings.push(h);
        parts.append(h.el);
      }
      if (h)
        h.members.push(f);
      parts.append(f.el);
    }
    list.append(parts);
    ordered = sorted;
    for (const h of headings)
      label(h);
  }
  let ordered = findings;

  /* --- what is shown stands in the address, so that it can be sent and kept */
  function keep() {
    const p = new URLSearchParams();
    for (const b of boxes)
      if (b.checked)
        p.append(b.dataset.facet, b.value);
    if (search.value)
      p.set('q', search.value);
    if (sort.value !== 'level')
      p.set('sort', sort.value);
    if (group.value)
      p.set('group', group.value);
    try {
      history.replaceState(null, '', '#?' + p);
    } catch (e) { /* some browsers refuse it for files */ }
  }

  function restore() {
    const p = new URLSearchParams(location.hash.slice(2));
    for (const b of boxes)
      b.checked = p.getAll(b.dataset.facet).includes(b.value);
    search.value = p.get('q') || '';
    sort.value = p.get('sort') in orders ? p.get('sort') : 'level';
    group.value = p.get('group') || '';
    if (group.selectedIndex < 0)
      group.value = '';
    arrange();
    apply();
  }

  function check(facet, values) {
    for (const b of boxes)
      if (b.dataset.facet === facet)
        b.checked = values.includes(b.value);
  }

  function reset() {
    for (const b of boxes)
      b.checked = false;
    search.value = '';
    apply();
    keep();
  }

  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => { apply(); keep(); }, findings.length > 500 ? 120 : 0);
  });
  for (const b of boxes)
    b.addEventListener('change', () => { apply(); keep(); });
  for (const s of [sort, group])
    s.addEventListener('change', () => { arrange(); keep(); });
  one('#reset').addEventListener('click', reset);
  for (const p of all('.pick'))
    p.addEventListener('click', () => {
      check('technique', p.dataset.technique ? [p.dataset.technique] : []);
      check('level', p.dataset.level ? [p.dataset.level] : []);
      check('verdict', []);
      check('rule', []);
      check('file', []);
      check('status', p.dataset.status ? [p.dataset.status] : []);
      search.value = '';
      apply();
      keep();
      one('#findings').scrollIntoView();
    });

  /* --- moving between findings */
  const visible = () => ordered.filter(f => !f.el.hidden);
  const title = f => f.el.firstElementChild;

  function move(by) {
    const list = visible();
    if (!list.length)
      return;
    const here = document.activeElement && document.activeElement.closest('.f');
    const at = list.findIndex(f => f.el === here);
    const next = at < 0 ? (by > 0 ? 0 : list.length - 1)
      : Math.min(list.length - 1, Math.max(0, at + by));
    title(list[next]).focus({ preventScroll: true });
    list[next].el.scrollIntoView({ block: 'nearest' });
  }

  function toggleAll() {
    const list = visible().slice(0, 200);
    const open = list.some(f => !f.el.open);
    for (const f of list)
      f.el.open = open;
  }

  const help = one('#help');
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    '/': () => { one('.filters').open = true; search.focus(); search.select(); },
    e: toggleAll,
    '?': () => help.showModal(),
  };
  document.addEventListener('keydown', ev => {
    if (ev.ctrlKey || ev.metaKey || ev.altKey || help.open ||
        !(ev.target instanceof Element))
      return;
    const typing = ev.target.matches('input:not([type="checkbox"]), select, textarea');
    if (ev.key === 'Escape' && ev.target === search) {
      search.value = '';
      apply();
      keep();
      search.blur();
      return;
    }
    if (typing)
      return;
    const onTitle = ev.target.matches('.f > summary');
    let act = keys[ev.key];
    if (onTitle && ev.key === 'ArrowDown')
      act = keys.j;
    if (onTitle && ev.key === 'ArrowUp')
      act = keys.k;
    if (act) {
      ev.preventDefault();
      act();
    }
  });
  one('#help-button').addEventListener('click', () => help.showModal());
  one('#help-close').addEventListener('click', () => help.close());
  one('#all').addEventListener('click', toggleAll);

  /* --- evidence: a step shows its place */
  document.addEventListener('click', ev => {
    const step = ev.target.closest('.step[data-shows]');
    if (step) {
      const f = step.closest('.f');
      for (const s of all('.step', f))
        s.setAttribute('aria-pressed', String(s === step));
      for (const x of all('.excerpt', f))
        x.classList.toggle('on', x.dataset.step === step.dataset.shows);
    }
    const copy = ev.target.closest('.copy');
    if (copy)
      copyText(one('code, pre', copy.parentElement), copy);
  });

  async function copyText(from, button) {
    const text = from.textContent;
    let ok = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch (e) {
      getSelection().selectAllChildren(from);
      ok = document.execCommand('copy');
      getSelection().removeAllRanges();
    }
    const was = button.dataset.label ||= button.textContent;
    button.textContent = ok ? 'Copied' : 'Select and copy by hand';
    setTimeout(() => { button.textContent = was; }, 1600);
  }

  /* --- places that open an editor */
  const editor = one('#editor');
  const at = (root, file) => encodeURI(file.startsWith('/') ? file : root.replace(/\/$/, '') + '/' + file)
    .replace(/[?#&]/g, encodeURIComponent);
  const editors = {
    vscode: (p, l, c) => `vscode://file${p}:${l}:${c}`,
    idea: (p, l, c) => `idea://open?file=${p}&line=${l}&column=${c}`,
    subl: (p, l, c) => `subl://open?url=file://${p}&line=${l}&column=${c}`,
    emacs: (p, l, c) => `emacs://open?url=file://${p}&line=${l}&column=${c}`,
  };

  function link(el) {
    const text = el.dataset.place ||= el.textContent;
    const place = placeOf(text), make = editors[editor.value];
    if (!make || !place.line) {
      el.textContent = text;
      return;
    }
    const a = document.createElement('a');
    a.href = make(at(list.dataset.root, place.file), place.line, place.column || 1);
    a.textContent = text;
    a.title = 'Open in ' + editor.selectedOptions[0].textContent;
    el.replaceChildren(a);
  }
  const linkAll = f => { for (const el of all('.where', f)) link(el); };
  list.addEventListener('toggle', ev => {
    if (!ev.target.matches('.f') || !ev.target.open)
      return;
    linkAll(ev.target);
    if (!one('.permalink', ev.target)) {           /* a long page leaves it to us */
      const a = document.createElement('a');
      a.className = 'permalink';
      a.href = '#' + ev.target.id;
      a.textContent = 'Link';
      all('.why', ev.target).pop().append(' · ', a);
    }
  }, true);
  try {
    editor.value = localStorage.getItem('sundew-editor') || '';
  } catch (e) { /* no storage: none */ }
  if (editor.selectedIndex < 0)
    editor.value = '';
  editor.addEventListener('change', () => {
    try {
      localStorage.setItem('sundew-editor', editor.value);
    } catch (e) { /* for this visit only */ }
    for (const f of findings)
      if (f.el.open)
        linkAll(f.el);
  });

  /* --- links to one finding or rule */
  function goToHash() {
    if (location.hash.startsWith('#?')) {
      restore();
      return;
    }
    const el = location.hash &&
      document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!el || !el.matches('details'))
      return;
    if (el.hidden) {
      for (const b of boxes)
        b.checked = false;
      search.value = '';
      apply();
    }
    el.open = true;
    el.scrollIntoView();
    el.firstElementChild.focus({ preventScroll: true });
  }
  addEventListener('hashchange', goToHash);

  /* --- light and dark */
  const theme = one('#theme');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches;
  const nameTheme = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
  try {
    const kept = localStorage.getItem('sundew-theme');
    if (kept === 'light' || kept === 'dark')
      root.dataset.theme = kept;
  } catch (e) { /* no storage: the system's choice */ }
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    try {
      localStorage.setItem('sundew-theme', root.dataset.theme);
    } catch (e) { /* for this visit only */ }
    nameTheme();
  });
  dark.addEventListener('change', nameTheme);
  nameTheme();

  /* --- paper has no buttons: open what is shown */
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = visible().slice(0, 300).filter(f => !f.el.open);
    for (const f of opened)
      f.el.open = true;
  });
  addEventListener('afterprint', () => {
    for (const f of opened)
      f.el.open = false;
  });

  /* --- begin with what counts */
  if (matchMedia('(max-width: 62rem)').matches)
    one('.filters').open = false;
  if (findings.some(f => f.status === 'new') && findings.some(f => f.status !== 'new'))
    check('status', ['new']);
  apply();
  goToHash();
})();
