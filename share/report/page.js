/* The report page: filters, search, keys, steps, copying. Everything it shows
 * is already in the page as text; nothing here makes markup. */
(() => {
  'use strict';
  const one = (s, from = document) => from.querySelector(s);
  const all = (s, from = document) => Array.from(from.querySelectorAll(s));
  const root = document.documentElement;
  root.classList.add('js');

  const findings = all('.f').map(el => ({
    el,
    text: null,
    technique: el.dataset.technique,
    level: el.dataset.level,
    verdict: el.dataset.verdict,
    status: el.dataset.status,
  }));
  const boxes = all('input[data-facet]');
  const search = one('#search');
  const count = one('#count');
  const nothing = one('#nothing');

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
  }

  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(apply, findings.length > 500 ? 120 : 0);
  });
  for (const b of boxes)
    b.addEventListener('change', apply);
  one('#reset').addEventListener('click', reset);
  for (const p of all('.pick'))
    p.addEventListener('click', () => {
      check('technique', p.dataset.technique ? [p.dataset.technique] : []);
      check('level', p.dataset.level ? [p.dataset.level] : []);
      check('verdict', []);
      check('status', p.dataset.status ? [p.dataset.status] : []);
      search.value = '';
      apply();
      one('#findings').scrollIntoView();
    });

  /* --- moving between findings */
  const visible = () => findings.filter(f => !f.el.hidden);
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

  /* --- links to one finding or rule */
  function goToHash() {
    const el = location.hash &&
      document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!el || !el.matches('details'))
      return;
    if (el.hidden)
      reset();
    el.open = true;
    el.scrollIntoView();
    el.firstElementChild.focus({ preventScroll: true });
  }
  addEventListener('hashchange', goToHash);

  /* --- light and dark */
  const theme = one('#theme');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches;
  const label = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
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
    label();
  });
  dark.addEventListener('change', label);
  label();

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
